#include "platform/communicator.hpp"

#include <dlfcn.h>

#include <cstdlib>
#include <cstring>

#include "relayout/error.hpp"

namespace relayout {
namespace {

// As nccl.h and rccl.h have them; both keep them stable.
constexpr int kSuccess = 0, kUint8 = 1;
using Comm = void*;
using VendorStream = void*;

}  // namespace

struct Communicator::Library {
  void* handle;
  const char* (*error_text)(int);
  int (*count)(Comm, int*);
  int (*user_rank)(Comm, int*);
  int (*async_error)(Comm, int*);
  int (*group_start)();
  int (*group_end)();
  int (*send)(const void*, std::size_t, int, int, Comm, VendorStream);
  int (*receive)(void*, std::size_t, int, int, Comm, VendorStream);
  int (*all_gather)(const void*, void*, std::size_t, int, Comm, VendorStream);

  explicit Library(const std::string& name) : handle(dlopen(name.c_str(), RTLD_NOW | RTLD_LOCAL)) {
    if (handle == nullptr) {
      const char* why = dlerror();
      throw Error(ErrorCode::unsupported, "a group of several processes needs " + name +
                                              ", which cannot be opened: " + (why != nullptr ? why : "") +
                                              "; RELAYOUT_NCCL_LIBRARY may name another file");
    }
    try {
      find(name, "ncclGetErrorString", error_text);
      find(name, "ncclCommCount", count);
      find(name, "ncclCommUserRank", user_rank);
      find(name, "ncclCommGetAsyncError", async_error);
      find(name, "ncclGroupStart", group_start);
      find(name, "ncclGroupEnd", group_end);
      find(name, "ncclSend", send);
      find(name, "ncclRecv", receive);
      find(name, "ncclAllGather", all_gather);
    } catch (...) {
      dlclose(handle);
      throw;
    }
  }
  Library(const Library&) = delete;
  Library& operator=(const Library&) = delete;
  ~Library() { dlclose(handle); }

  template <class Function>
  void find(const std::string& name, const char* function, Function& found) {
    void* const symbol = dlsym(handle, function);
    if (symbol == nullptr) throw Error(ErrorCode::unsupported, name + " has no function " + function);
    std::memcpy(&found, &symbol, sizeof symbol);
  }

  void check(int result, const char* function) const {
    if (result == kSuccess) return;
    throw Error(ErrorCode::vendor, std::string(function) + " failed: " + error_text(result));
  }
};

Communicator::Communicator(const std::string& library, void* communicator)
    : library_(std::make_shared<const Library>(library)), communicator_(communicator) {
  if (communicator == nullptr) throw Error(ErrorCode::null_pointer, "the communicator is null");
  library_->check(library_->count(communicator, &ranks_), "ncclCommCount");
  library_->check(library_->user_rank(communicator, &rank_), "ncclCommUserRank");
  check();
}

Communicator::~Communicator() = default;

void Communicator::exchange(const std::vector<Message>& messages, void* stream) const {
  library_->check(library_->group_start(), "ncclGroupStart");
  int failed = kSuccess;
  for (const Message& message : messages) {
    if (failed != kSuccess) break;
    failed = message.source != nullptr
                 ? library_->send(message.source, message.bytes, kUint8, message.peer, communicator_, stream)
                 : library_->receive(message.destination, message.bytes, kUint8, message.peer, communicator_,
                                     stream);
  }
  const int ended = library_->group_end();  // also after a failure: the group is the thread's
  library_->check(failed, "ncclSend or ncclRecv");
  library_->check(ended, "ncclGroupEnd");
}

void Communicator::all_gather(const void* own, void* all, std::size_t bytes, void* stream) const {
  library_->check(library_->all_gather(own, all, bytes, kUint8, communicator_, stream), "ncclAllGather");
}

void Communicator::check() const {
  int found = kSuccess;
  library_->check(library_->async_error(communicator_, &found), "ncclCommGetAsyncError");
  library_->check(found, "the communicator, in what was queued before,");
}

std::string communicator_library(const char* backend) {
  if (const char* name = std::getenv("RELAYOUT_NCCL_LIBRARY")) return name;
  if (std::strcmp(backend, "cuda") == 0) return "libnccl.so.2";
  return std::strcmp(backend, "hip") == 0 ? "librccl.so.1" : "";
}

}  // namespace relayout
