// A library with those functions of NCCL and RCCL that relayout and its Python package open, for ranks that
// are processes of one machine, several on one GPU, too: every message is a file in a folder, whose name is
// the unique id. Nothing waits here for other ranks: calls are in progress until a question for errors finds
// their messages. A GPU's stream is waited for.
#include <dlfcn.h>

#include <cstddef>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <iterator>
#include <map>
#include <string>
#include <vector>

namespace {

constexpr int kSuccess = 0, kSystemError = 2, kInvalidUsage = 5, kInProgress = 7, kUint8 = 1;
constexpr std::size_t kIdBytes = 128;

/// The few functions of CUDA's driver that copy memory of a GPU; none without a driver.
struct Driver {
  int (*attribute)(void*, int, unsigned long long) = nullptr;
  int (*synchronize)(void*) = nullptr;
  int (*to_host)(void*, unsigned long long, std::size_t) = nullptr;
  int (*to_device)(unsigned long long, const void*, std::size_t) = nullptr;
  int (*wait)() = nullptr;

  Driver() {
    void* const library = dlopen("libcuda.so.1", RTLD_NOW);
    if (library == nullptr) return;
    find(library, "cuPointerGetAttribute", attribute);
    find(library, "cuStreamSynchronize", synchronize);
    find(library, "cuMemcpyDtoH_v2", to_host);
    find(library, "cuMemcpyHtoD_v2", to_device);
    find(library, "cuCtxSynchronize", wait);
  }
  template <class Function>
  static void find(void* library, const char* name, Function& function) {
    void* const symbol = dlsym(library, name);
    std::memcpy(&function, &symbol, sizeof symbol);
  }
  bool owns(const void* memory) const {
    constexpr int kMemoryType = 2, kDevice = 2;
    unsigned type = 0;
    return attribute != nullptr && attribute(&type, kMemoryType, number(memory)) == 0 && type == kDevice;
  }
  static unsigned long long number(const void* memory) {
    return reinterpret_cast<unsigned long long>(memory);
  }
};

const Driver& driver() {
  static const Driver found;
  return found;
}

std::vector<char> read_memory(const void* memory, std::size_t bytes) {
  std::vector<char> read(bytes);
  if (!driver().owns(memory)) {
    std::memcpy(read.data(), memory, bytes);
  } else if (driver().to_host(read.data(), Driver::number(memory), bytes) != 0) {
    read.clear();
  }
  return read;
}

bool write_memory(void* memory, const std::vector<char>& bytes) {
  // A copy of a few bytes to a GPU may be under way still when the call is over.
  if (driver().owns(memory))
    return driver().to_device(Driver::number(memory), bytes.data(), bytes.size()) == 0 &&
           driver().wait() == 0;
  std::memcpy(memory, bytes.data(), bytes.size());
  return true;
}

struct UniqueId {
  char bytes[kIdBytes];
};

struct Call {
  int peer;
  const void* source;
  void* destination;
  std::size_t bytes;
};

struct Communicator {
  std::string folder;
  int ranks, rank;
  std::map<int, int> sent, received;  // messages to and from each rank
  std::vector<Call> awaited;
  bool failed = false;

  std::string name(int from, int to, int number) const {
    return folder + "/" + std::to_string(from) + "." + std::to_string(to) + "." + std::to_string(number);
  }
  void send(const Call& call) {
    const std::string path = name(rank, call.peer, sent[call.peer]++);
    const std::vector<char> bytes = read_memory(call.source, call.bytes);
    std::ofstream(path + ".part", std::ios::binary)
        .write(bytes.data(), static_cast<std::streamsize>(bytes.size()));
    if (std::rename((path + ".part").c_str(), path.c_str()) != 0) failed = true;
  }
  bool receive(const Call& call) {
    const std::string path = name(call.peer, rank, received[call.peer]);
    std::ifstream file(path, std::ios::binary);
    if (!file) return false;
    const std::vector<char> bytes{std::istreambuf_iterator<char>(file), {}};
    failed = failed || bytes.size() != call.bytes;
    failed = failed || !write_memory(call.destination, bytes);
    ++received[call.peer];
    return std::remove(path.c_str()) == 0;
  }
  int take_all() {
    std::vector<Call> still;
    std::map<int, bool> is_behind;  // messages of a rank are taken in their order
    for (const Call& call : awaited)
      if (is_behind[call.peer] || !receive(call)) {
        is_behind[call.peer] = true;
        still.push_back(call);
      }
    awaited = still;
    return failed ? kSystemError : awaited.empty() ? kSuccess : kInProgress;
  }
  int queue(const std::vector<Call>& calls, void* stream) {
    const Call& first = calls.front();
    if (driver().owns(first.source != nullptr ? first.source : first.destination) &&
        driver().synchronize(stream) != 0)
      failed = true;
    for (const Call& call : calls)
      if (call.source != nullptr) send(call);
    for (const Call& call : calls)
      if (call.source == nullptr) awaited.push_back(call);
    return take_all();
  }
};

thread_local std::vector<Call> group;
thread_local Communicator* grouped = nullptr;
thread_local void* grouped_stream = nullptr;

Communicator& own(void* communicator) { return *static_cast<Communicator*>(communicator); }

int add(const Call& call, int type, void* communicator, void* stream) {
  if (type != kUint8) return kInvalidUsage;
  group.push_back(call);
  grouped = &own(communicator);
  grouped_stream = stream;
  return kSuccess;
}

}  // namespace

extern "C" {

const char* ncclGetErrorString(int) { return "a message is lost, or has another size"; }

int ncclGetUniqueId(UniqueId* id) {
  const char* const temporary = std::getenv("TMPDIR");
  const std::string pattern = std::string(temporary != nullptr ? temporary : "/tmp") + "/file_nccl.XXXXXX";
  if (pattern.size() >= kIdBytes) return kSystemError;
  std::memset(id->bytes, 0, kIdBytes);
  std::memcpy(id->bytes, pattern.c_str(), pattern.size());
  return mkdtemp(id->bytes) != nullptr ? kSuccess : kSystemError;
}

int ncclCommInitRank(void** communicator, int ranks, UniqueId id, int rank) {
  *communicator = new Communicator{id.bytes, ranks, rank, {}, {}, {}};
  return kSuccess;
}

int ncclCommDestroy(void* communicator) {
  delete static_cast<Communicator*>(communicator);
  return kSuccess;
}

int ncclCommAbort(void* communicator) { return ncclCommDestroy(communicator); }

int ncclCommCount(void* communicator, int* count) {
  *count = own(communicator).ranks;
  return kSuccess;
}

int ncclCommUserRank(void* communicator, int* rank) {
  *rank = own(communicator).rank;
  return kSuccess;
}

int ncclCommGetAsyncError(void* communicator, int* error) {
  *error = own(communicator).take_all();
  return kSuccess;
}

int ncclGroupStart() { return kSuccess; }

int ncclSend(const void* source, std::size_t count, int type, int peer, void* communicator, void* stream) {
  return add({peer, source, nullptr, count}, type, communicator, stream);
}

int ncclRecv(void* destination, std::size_t count, int type, int peer, void* communicator, void* stream) {
  return add({peer, nullptr, destination, count}, type, communicator, stream);
}

int ncclGroupEnd() {
  const std::vector<Call> calls = std::move(group);
  group.clear();
  return calls.empty() ? kSuccess : grouped->queue(calls, grouped_stream);
}

int ncclAllGather(const void* source, void* destination, std::size_t count, int type, void* communicator,
                  void* stream) {
  if (type != kUint8) return kInvalidUsage;
  std::vector<Call> calls;
  for (int rank = 0; rank < own(communicator).ranks; ++rank) {
    calls.push_back({rank, source, nullptr, count});
    calls.push_back(
        {rank, nullptr, static_cast<char*>(destination) + static_cast<std::size_t>(rank) * count, count});
  }
  return own(communicator).queue(calls, stream);
}
}
