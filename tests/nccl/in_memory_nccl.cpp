#include "tests/nccl/in_memory_nccl.hpp"

#include <condition_variable>
#include <cstddef>
#include <cstring>
#include <deque>
#include <map>
#include <mutex>
#include <utility>
#include <vector>

namespace {

constexpr int kSuccess = 0, kInvalidUsage = 5, kRemoteError = 6, kUint8 = 1;
using Bytes = std::vector<char>;

struct World;

struct Communicator {
  World* world = nullptr;
  int rank = 0;
  std::size_t gathers = 0;
};

struct World {
  int ranks = 0;
  std::deque<Communicator> communicators;
  std::mutex mutex;
  std::condition_variable changed;
  std::map<std::pair<int, int>, std::deque<Bytes>> mail;  // from, to
  std::map<std::size_t, std::map<int, Bytes>> gathers;    // by their number
  bool is_broken = false;
};

struct Call {
  Communicator* communicator;
  int peer;
  const void* source;
  void* destination;
  std::size_t bytes;
};

thread_local std::vector<Call> group;

Bytes bytes_at(const void* memory, std::size_t count) {
  const auto* const begin = static_cast<const char*>(memory);
  return Bytes(begin, begin + count);
}

int receive(const Call& call) {
  World& world = *call.communicator->world;
  std::unique_lock<std::mutex> lock(world.mutex);
  std::deque<Bytes>& box = world.mail[{call.peer, call.communicator->rank}];
  world.changed.wait(lock, [&] { return !box.empty() || world.is_broken; });
  if (box.empty()) return kRemoteError;
  const Bytes message = std::move(box.front());
  box.pop_front();
  if (message.size() != call.bytes) return kInvalidUsage;
  std::memcpy(call.destination, message.data(), call.bytes);
  return kSuccess;
}

int queue(const Call& call, int type) {
  const int ranks = call.communicator->world->ranks;
  if (type != kUint8 || call.peer < 0 || call.peer >= ranks || call.peer == call.communicator->rank)
    return kInvalidUsage;
  group.push_back(call);
  return kSuccess;
}

}  // namespace

extern "C" {

void* in_memory_world(int ranks) {
  auto* const world = new World;
  world->ranks = ranks;
  return world;
}

void* in_memory_communicator(void* world, int rank) {
  auto& own = *static_cast<World*>(world);
  const std::lock_guard<std::mutex> lock(own.mutex);
  own.communicators.push_back({&own, rank, 0});
  return &own.communicators.back();
}

void in_memory_end(void* world) { delete static_cast<World*>(world); }

void in_memory_leave(void* communicator) {
  World& world = *static_cast<Communicator*>(communicator)->world;
  const std::lock_guard<std::mutex> lock(world.mutex);
  world.is_broken = true;
  world.changed.notify_all();
}

const char* ncclGetErrorString(int result) {
  return result == kRemoteError ? "a rank is gone" : result == kInvalidUsage ? "invalid usage" : "no error";
}

int ncclCommCount(void* communicator, int* count) {
  *count = static_cast<Communicator*>(communicator)->world->ranks;
  return kSuccess;
}

int ncclCommUserRank(void* communicator, int* rank) {
  *rank = static_cast<Communicator*>(communicator)->rank;
  return kSuccess;
}

int ncclCommGetAsyncError(void* communicator, int* error) {
  World& world = *static_cast<Communicator*>(communicator)->world;
  const std::lock_guard<std::mutex> lock(world.mutex);
  *error = world.is_broken ? kRemoteError : kSuccess;
  return kSuccess;
}

int ncclGroupStart() { return kSuccess; }

int ncclSend(const void* source, std::size_t count, int type, int peer, void* communicator, void*) {
  return queue({static_cast<Communicator*>(communicator), peer, source, nullptr, count}, type);
}

int ncclRecv(void* destination, std::size_t count, int type, int peer, void* communicator, void*) {
  return queue({static_cast<Communicator*>(communicator), peer, nullptr, destination, count}, type);
}

int ncclGroupEnd() {
  const std::vector<Call> calls = std::move(group);
  group.clear();
  for (const Call& call : calls) {
    if (call.source == nullptr) continue;
    World& world = *call.communicator->world;
    const std::lock_guard<std::mutex> lock(world.mutex);
    world.mail[{call.communicator->rank, call.peer}].push_back(bytes_at(call.source, call.bytes));
    world.changed.notify_all();
  }
  int result = kSuccess;
  for (const Call& call : calls)
    if (call.source == nullptr && result == kSuccess) result = receive(call);
  return result;
}

int ncclAllGather(const void* source, void* destination, std::size_t count, int type, void* communicator,
                  void*) {
  if (type != kUint8) return kInvalidUsage;
  auto& own = *static_cast<Communicator*>(communicator);
  World& world = *own.world;
  std::unique_lock<std::mutex> lock(world.mutex);
  std::map<int, Bytes>& given = world.gathers[own.gathers++];
  given[own.rank] = bytes_at(source, count);
  world.changed.notify_all();
  const auto is_complete = [&] { return static_cast<int>(given.size()) == world.ranks; };
  world.changed.wait(lock, [&] { return is_complete() || world.is_broken; });
  if (!is_complete()) return kRemoteError;
  for (const auto& [rank, bytes] : given)
    std::memcpy(static_cast<char*>(destination) + static_cast<std::size_t>(rank) * count, bytes.data(),
                count);
  return kSuccess;
}
}
