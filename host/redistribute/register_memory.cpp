// Memory that the ranks of several processes register, and how each process reaches that of the others: by
// the runtime's names of allocations where all have one, else by a window of the communicator.
#include <algorithm>
#include <cstdint>
#include <string>
#include <vector>

#include "host/redistribute/group.hpp"
#include "platform/backend.hpp"
#include "relayout/error.hpp"

namespace relayout {
namespace {

/// What a rank tells of its memory.
struct ToldMemory {
  std::uint64_t is_given = 0, bytes = 0, is_aligned = 0;
  std::uint64_t has_name = 0;
  SharedMemoryName name;
  // Without a name: the allocation that a window would hold, 0 bytes if none can, and the memory in it.
  std::uint64_t has_windows = 0, allocation_bytes = 0, offset = 0, is_in_another = 0;
  std::uint64_t has_signals = 0;
  SharedMemoryName signals;
};

std::string name_of(std::size_t rank) { return "rank " + std::to_string(rank); }

ToldMemory told_of(const Group::State& group, void* memory, std::size_t bytes, const Allocation& whole) {
  const Device& device = group.streams.front().device();
  ToldMemory own;
  own.is_given = bytes == 0 || memory != nullptr ? 1 : 0;
  own.bytes = bytes;
  own.is_aligned = bytes == 0 || reinterpret_cast<std::uintptr_t>(memory) % 64 == 0 ? 1 : 0;
  own.has_windows = group.communicator->has_windows() ? 1 : 0;
  own.has_signals = group.signals->share(own.signals) ? 1 : 0;
  if (own.is_given == 0) return own;
  own.has_name = bytes == 0 || device.backend().share_memory(device.index(), memory, own.name) ? 1 : 0;
  if (whole.bytes == 0) return own;
  own.offset = static_cast<std::uint64_t>(static_cast<const char*>(memory) - whole.begin);
  if (own.offset + bytes <= whole.bytes) own.allocation_bytes = whole.bytes;
  for (const auto* shared : {&group.shared_outputs, &group.shared_workspaces})
    for (const SharedMemory& other : *shared)
      if (other.window_begin == whole.begin) own.is_in_another = 1;
  return own;
}

/// With the first memory.
void map_signals(Signals& signals, const std::vector<ToldMemory>& all) {
  std::vector<SharedMemoryName> names;
  for (const ToldMemory& one : all) {
    if (one.has_signals == 0) break;
    names.push_back(one.signals);
  }
  signals.map(names);
}

/// Why the ranks register no window, the same on all of them: a rank that went into that call alone would
/// wait there for ever. Some versions take windows of different sizes and give wrong addresses.
std::string why_no_window(const std::vector<ToldMemory>& all) {
  for (std::size_t rank = 0; rank < all.size(); ++rank) {
    const ToldMemory& one = all[rank];
    if (one.has_windows == 0)
      return "the library of " + name_of(rank) + " has no windows that other ranks reach, as NCCL 2.29 has";
    if (one.allocation_bytes == 0)
      return name_of(rank) +
             " names nothing that a window can hold: memory in one allocation of ncclMemAlloc";
    if (one.allocation_bytes != all.front().allocation_bytes)
      return "the allocations of rank 0 and " + name_of(rank) + " have different sizes, and a window has one";
    if (one.is_in_another != 0)
      return "a window holds the allocation of " + name_of(rank) + " already: register it once, as a whole";
  }
  return {};
}

void map_by_name(const Device& device, const std::vector<ToldMemory>& all, SharedMemory& shared) {
  for (std::size_t rank = 0; rank < all.size() && shared.reason.empty(); ++rank) {
    SharedMemory::Part& part = shared.parts[rank];
    if (part.bytes == 0 || part.memory != nullptr) continue;
    try {
      const std::shared_ptr<char> mapped = map_shared(device, all[rank].name);
      part.memory = mapped.get();
      part.mapping = mapped;
    } catch (const Error& error) {
      shared.reason = "the memory that " + name_of(rank) + " registered is not reached: " + error.what();
    }
  }
}

void map_by_window(const Group::State& group, const std::vector<ToldMemory>& all, const Allocation& whole,
                   SharedMemory& shared) {
  try {
    const std::shared_ptr<void> window = group.communicator->register_window(whole);
    if (window == nullptr) {
      shared.reason = "what was registered has no names, and the communicator has no windows";
      return;
    }
    shared.window_begin = whole.begin;
    for (std::size_t rank = 0; rank < all.size(); ++rank) {
      SharedMemory::Part& part = shared.parts[rank];
      part.mapping = window;
      if (part.memory != nullptr) continue;
      char* const begin = group.communicator->in_window(window.get(), static_cast<int>(rank));
      if (begin == nullptr) {
        shared.reason = "the window of what " + name_of(rank) + " registered is not reached";
        return;
      }
      part.memory = begin + all[rank].offset;
    }
  } catch (const Error& error) {
    if (error.code() == ErrorCode::timeout) throw;
    shared.reason = std::string("what was registered has no window: ") + error.what();
  }
}

/// A rank that does not reach the others' memory tells so: what they plan with it must be the same.
void agree_on_reach(const Group::State& group, SharedMemory& shared) {
  const auto all = group.told_by_all(std::uint64_t{shared.reason.empty() ? 1u : 0u},
                                     "whether they reach what was registered");
  for (std::size_t rank = 0; rank < all.size() && shared.reason.empty(); ++rank)
    if (all[rank] == 0) shared.reason = name_of(rank) + " does not reach what the others registered";
}

/// Collective. role: "output" or "workspace", which lies on a boundary of 64 bytes.
SharedMemory shared_by_all(const Group::State& group, const std::string& role, void* memory,
                           std::size_t bytes) {
  const Device& device = group.streams.front().device();
  const Allocation whole =
      memory != nullptr ? device.backend().allocation_for_window(device.index(), memory) : Allocation{};
  const std::vector<ToldMemory> all =
      group.told_by_all(told_of(group, memory, bytes, whole), "the memory that they register");

  SharedMemory shared;
  for (std::size_t rank = 0; rank < all.size(); ++rank) {
    if (all[rank].is_given == 0)
      throw Error(ErrorCode::null_pointer, name_of(rank) + " registers a null pointer as its " + role);
    if (role == "workspace" && all[rank].is_aligned == 0)
      throw Error(ErrorCode::invalid_argument,
                  name_of(rank) + " registers a workspace that does not begin on a multiple of 64 bytes");
    const bool is_own = group.local(static_cast<int>(rank)) >= 0;
    shared.parts.push_back({is_own ? static_cast<char*>(memory) : nullptr, all[rank].bytes, nullptr});
  }
  const auto unnamed =
      std::find_if(all.begin(), all.end(), [](const ToldMemory& one) { return one.has_name == 0; });
  if (unnamed == all.end()) {
    map_by_name(device, all, shared);
  } else if (const std::string why = why_no_window(all); !why.empty()) {
    shared.reason = "the " + role + " that " + name_of(static_cast<std::size_t>(unnamed - all.begin())) +
                    " registered cannot be shared with other processes by its name, and " + why;
  } else {
    map_by_window(group, all, whole, shared);
  }
  if (!group.signals->is_mapped()) map_signals(*group.signals, all);
  if (shared.reason.empty()) shared.reason = group.signals->reason();
  agree_on_reach(group, shared);
  return shared;
}

}  // namespace

void Group::register_output(void* memory, std::size_t bytes) const {
  if (state_->communicator == nullptr) return;
  state_->shared_outputs.push_back(shared_by_all(*state_, "output", memory, bytes));
}

void Group::register_workspace(void* memory, std::size_t bytes) const {
  if (state_->communicator == nullptr) return;
  state_->shared_workspaces.push_back(shared_by_all(*state_, "workspace", memory, bytes));
}

}  // namespace relayout
