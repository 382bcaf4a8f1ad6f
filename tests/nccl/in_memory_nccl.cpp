#include "tests/nccl/in_memory_nccl.hpp"

#include <atomic>
#include <condition_variable>
#include <cstddef>
#include <cstring>
#include <deque>
#include <map>
#include <mutex>
#include <utility>
#include <vector>

namespace {

constexpr int kSuccess = 0, kInvalidUsage = 5, kRemoteError = 6, kInProgress = 7, kUint8 = 1;
using Bytes = std::vector<char>;

struct World;

struct Communicator;

struct Call {
  Communicator* communicator;
  int peer;  // -1: the ranks of a gather
  const void* source;
  void* destination;
  std::size_t bytes;
  std::size_t gather;       // its number
  void** window = nullptr;  // what is written when a window is there
  void* made = nullptr;
};

struct Communicator {
  World* world = nullptr;
  int rank = 0;
  bool blocks = true, fails_once = false;
  std::size_t gathers = 0;
  std::vector<Call> awaited;  // what has to come before the last call is done
};

struct WindowPart {
  char* memory;
  std::size_t bytes;
};
struct Window {
  World* world;
  std::vector<WindowPart> parts;  // by ranks
};

struct World {
  int ranks = 0;
  std::deque<Communicator> communicators;
  std::mutex mutex;
  std::condition_variable changed;
  std::map<std::pair<int, int>, std::deque<Bytes>> mail;  // from, to
  std::map<std::size_t, std::map<int, Bytes>> gathers;    // by their number
  bool is_broken = false;
  std::atomic<InMemoryWindows> windows{in_memory_windows_work};
  int open_windows = 0;
  std::deque<Window> all_windows;
};

thread_local std::vector<Call> group;

Bytes bytes_at(const void* memory, std::size_t count) {
  const auto* const begin = static_cast<const char*>(memory);
  return Bytes(begin, begin + count);
}

/// Takes what a call waits for, where it is there; the world is locked. kInProgress: it is not.
int take(const Call& call) {
  World& world = *call.communicator->world;
  if (call.peer < 0) {
    const std::map<int, Bytes>& given = world.gathers[call.gather];
    if (static_cast<int>(given.size()) < world.ranks) return kInProgress;
    for (const auto& [rank, bytes] : given)
      std::memcpy(static_cast<char*>(call.destination) + static_cast<std::size_t>(rank) * call.bytes,
                  bytes.data(), call.bytes);
    if (call.window != nullptr) *call.window = call.made;
    return kSuccess;
  }
  std::deque<Bytes>& box = world.mail[{call.peer, call.communicator->rank}];
  if (box.empty()) return kInProgress;
  const Bytes message = std::move(box.front());
  box.pop_front();
  if (message.size() != call.bytes) return kInvalidUsage;
  std::memcpy(call.destination, message.data(), call.bytes);
  return kSuccess;
}

/// What the communicator waits for, as far as it has come; the world is locked.
int take_all(Communicator& own) {
  std::vector<Call> still;
  int result = kSuccess;
  for (const Call& call : own.awaited) {
    const int taken = take(call);
    if (taken == kInProgress) still.push_back(call);
    if (taken == kInvalidUsage) result = taken;
  }
  own.awaited = std::move(still);
  if (result != kSuccess || own.awaited.empty()) return result;
  return own.world->is_broken ? kRemoteError : kInProgress;
}

int finish(Communicator& own, std::unique_lock<std::mutex>& lock) {
  own.world->changed.notify_all();
  int result = kInProgress;
  own.world->changed.wait(lock, [&] { return (result = take_all(own)) != kInProgress || !own.blocks; });
  return result;
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

void* in_memory_communicator(void* world, int rank, int blocks) {
  auto& own = *static_cast<World*>(world);
  const std::lock_guard<std::mutex> lock(own.mutex);
  own.communicators.push_back({&own, rank, blocks != 0, false, 0, {}});
  return &own.communicators.back();
}

void in_memory_end(void* world) { delete static_cast<World*>(world); }

void in_memory_set_windows(void* communicator, InMemoryWindows windows) {
  static_cast<Communicator*>(communicator)->world->windows = windows;
}

int in_memory_open_windows(void* world) { return static_cast<World*>(world)->open_windows; }

void in_memory_fail_once(void* communicator) { static_cast<Communicator*>(communicator)->fails_once = true; }

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
  auto& own = *static_cast<Communicator*>(communicator);
  const std::lock_guard<std::mutex> lock(own.world->mutex);
  *error = take_all(own);
  if (*error == kSuccess && own.world->is_broken) *error = kRemoteError;
  return kSuccess;
}

int ncclGroupStart() { return kSuccess; }

int ncclSend(const void* source, std::size_t count, int type, int peer, void* communicator, void*) {
  return queue({static_cast<Communicator*>(communicator), peer, source, nullptr, count, 0}, type);
}

int ncclRecv(void* destination, std::size_t count, int type, int peer, void* communicator, void*) {
  return queue({static_cast<Communicator*>(communicator), peer, nullptr, destination, count, 0}, type);
}

int ncclGroupEnd() {
  const std::vector<Call> calls = std::move(group);
  group.clear();
  if (calls.empty()) return kSuccess;
  Communicator& own = *calls.front().communicator;
  if (std::exchange(own.fails_once, false)) return kInvalidUsage;
  std::unique_lock<std::mutex> lock(own.world->mutex);
  for (const Call& call : calls) {
    if (call.source == nullptr) {
      own.awaited.push_back(call);
    } else {
      own.world->mail[{own.rank, call.peer}].push_back(bytes_at(call.source, call.bytes));
    }
  }
  return finish(own, lock);
}

int ncclAllGather(const void* source, void* destination, std::size_t count, int type, void* communicator,
                  void*) {
  if (type != kUint8) return kInvalidUsage;
  auto& own = *static_cast<Communicator*>(communicator);
  std::unique_lock<std::mutex> lock(own.world->mutex);
  own.world->gathers[own.gathers][own.rank] = bytes_at(source, count);
  own.awaited.push_back({&own, -1, nullptr, destination, count, own.gathers++});
  return finish(own, lock);
}

#if RELAYOUT_NCCL_WINDOWS
int ncclCommWindowRegister(void* communicator, void* memory, std::size_t bytes, void** window, int) {
  auto& own = *static_cast<Communicator*>(communicator);
  World& world = *own.world;
  *window = nullptr;
  if (memory == nullptr || bytes == 0 || world.windows == in_memory_windows_fail) return kInvalidUsage;
  if (world.windows == in_memory_windows_none) return kSuccess;
  std::unique_lock<std::mutex> lock(world.mutex);
  Window& made = world.all_windows.emplace_back();
  made = {&world, std::vector<WindowPart>(static_cast<std::size_t>(world.ranks))};
  ++world.open_windows;
  const WindowPart part{static_cast<char*>(memory), bytes};
  world.gathers[own.gathers][own.rank] = bytes_at(&part, sizeof part);
  own.awaited.push_back({&own, -1, nullptr, made.parts.data(), sizeof part, own.gathers++, window, &made});
  return finish(own, lock);
}

int ncclCommWindowDeregister(void* communicator, void*) {
  World& world = *static_cast<Communicator*>(communicator)->world;
  const std::lock_guard<std::mutex> lock(world.mutex);
  --world.open_windows;
  return kSuccess;
}

/// Parts of different sizes are a fault that NCCL does not see.
int ncclGetPeerDevicePointer(void* window, std::size_t offset, int peer, void** memory) {
  const Window& asked = *static_cast<Window*>(window);
  const WindowPart& part = asked.parts[static_cast<std::size_t>(peer)];
  *memory = nullptr;
  if (offset >= part.bytes || part.bytes != asked.parts.front().bytes) return kInvalidUsage;
  if (asked.world->windows != in_memory_windows_far) *memory = part.memory + offset;
  return kSuccess;
}
#endif
}
