#include "platform/communicator.hpp"

#include <dlfcn.h>

#include <chrono>
#include <cstdlib>
#include <cstring>
#include <sstream>
#include <thread>

#include "platform/communicator_functions.hpp"
#include "relayout/error.hpp"

namespace relayout {
namespace {

constexpr int kSuccess = CommunicatorFunctions::kSuccess, kInProgress = CommunicatorFunctions::kInProgress,
              kUint8 = CommunicatorFunctions::kUint8;

/// Waits are looked at again and again: at once in the time that a rank is usually late, later now and then.
void pause(std::chrono::steady_clock::duration waited) {
  if (waited < std::chrono::milliseconds(2)) {
    std::this_thread::yield();
  } else {
    std::this_thread::sleep_for(std::chrono::microseconds(200));
  }
}

}  // namespace

struct Communicator::Library : CommunicatorFunctions {
  void* handle;

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
      find_windows();
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

  void find_windows() {
    void* const found[] = {dlsym(handle, "ncclCommWindowRegister"), dlsym(handle, "ncclCommWindowDeregister"),
                           dlsym(handle, "ncclGetPeerDevicePointer")};
    if (found[0] == nullptr || found[1] == nullptr || found[2] == nullptr) return;
    std::memcpy(&register_window, &found[0], sizeof found[0]);
    std::memcpy(&deregister_window, &found[1], sizeof found[1]);
    std::memcpy(&peer_pointer, &found[2], sizeof found[2]);
  }

  void check(int result, const char* function) const {
    if (result == kSuccess) return;
    throw Error(ErrorCode::vendor, std::string(function) + " failed: " + error_text(result));
  }
};

Communicator::Communicator(const std::string& library, void* communicator)
    : library_(std::make_shared<const Library>(library)), communicator_(communicator) {
  if (communicator == nullptr) throw Error(ErrorCode::null_pointer, "the communicator is null");
  check();  // also waits for one that does not block, and is still being made
  library_->check(library_->count(communicator, &ranks_), "ncclCommCount");
  library_->check(library_->user_rank(communicator, &rank_), "ncclCommUserRank");
}

Communicator::~Communicator() = default;

void Communicator::exchange(const std::vector<Message>& messages, void* stream) const {
  library_->check(library_->group_start(), "ncclGroupStart");
  int failed = kSuccess;
  for (const Message& message : messages) {
    if (failed != kSuccess && failed != kInProgress) break;
    failed = message.source != nullptr
                 ? library_->send(message.source, message.bytes, kUint8, message.peer, communicator_, stream)
                 : library_->receive(message.destination, message.bytes, kUint8, message.peer, communicator_,
                                     stream);
  }
  const int ended = library_->group_end();  // also after a failure: the group is the thread's
  if (failed != kInProgress) check_result(failed, "ncclSend or ncclRecv");
  check_result(ended, "ncclGroupEnd");
}

void Communicator::all_gather(const void* own, void* all, std::size_t bytes, void* stream) const {
  check_result(library_->all_gather(own, all, bytes, kUint8, communicator_, stream), "ncclAllGather");
}

/// A communicator that does not block has perhaps not queued the call yet, and takes no other before it has.
void Communicator::check_result(int result, const char* function) const {
  if (result != kSuccess && result != kInProgress && state_ == State::usable) state_ = State::failed;
  if (result != kInProgress) return library_->check(result, function);
  wait([&] { return ask_for_error() != kInProgress; }, "its connections to them");
  check();
}

int Communicator::ask_for_error() const {
  int found = kSuccess;
  library_->check(library_->async_error(communicator_, &found), "ncclCommGetAsyncError");
  if (found != kSuccess && found != kInProgress && state_ == State::usable) state_ = State::failed;
  return found;
}

void Communicator::check() const {
  if (state_ == State::ended)
    throw Error(ErrorCode::invalid_argument,
                "the group was closed (Group::close): it uses its communicator no more");
  if (state_ == State::given_up)
    throw Error(ErrorCode::timeout,
                "an earlier call of this group waited in vain for other ranks: end the communicator "
                "(ncclCommAbort), and make another group");
  const int found = ask_for_error();
  if (found == kInProgress) return check_result(found, "");
  library_->check(found, "the communicator, in what was queued before,");
  if (state_ == State::half_queued)
    throw Error(ErrorCode::vendor,
                "an earlier call of this group failed half way, so its ranks do not agree any more: end the "
                "communicator (ncclCommAbort), and make another group");
}

void Communicator::fail() noexcept {
  if (state_ != State::given_up && state_ != State::ended) state_ = State::half_queued;
}

void Communicator::wait(const std::function<bool()>& is_done, const char* what) const {
  using Clock = std::chrono::steady_clock;
  const Clock::time_point start = Clock::now();
  while (!is_done()) {
    const int found = ask_for_error();
    if (found != kInProgress) library_->check(found, "the communicator, while a rank waited for others,");
    const Clock::duration waited = Clock::now() - start;
    if (std::chrono::duration<double>(waited).count() > time_limit_) give_up(what);
    pause(waited);
  }
}

void Communicator::give_up(const char* what) const {
  state_ = State::given_up;
  std::ostringstream sentence;
  sentence << "rank " << rank_ << " waited for other ranks in vain, longer than the group's limit of "
           << time_limit_ << " s, for " << what << "; what is queued waits on: end the communicator "
           << "(ncclCommAbort) before memory is given back";
  throw Error(ErrorCode::timeout, sentence.str());
}

bool Communicator::has_windows() const noexcept { return library_->register_window != nullptr; }

std::shared_ptr<void> Communicator::register_window(const Allocation& own) const {
  constexpr int kNoFlags = 0;
  void*& window = windows_.emplace_back(nullptr);
  check_result(library_->register_window(communicator_, own.begin, own.bytes, &window, kNoFlags),
               "ncclCommWindowRegister");
  if (window == nullptr) return nullptr;
  return {window, [this](void* registered) { give_back(registered); }};
}

char* Communicator::in_window(void* window, int peer) const {
  void* memory = nullptr;
  library_->check(library_->peer_pointer(window, 0, peer, &memory), "ncclGetPeerDevicePointer");
  return static_cast<char*>(memory);
}

/// After an error its caller has perhaps ended the communicator, and its windows with it.
void Communicator::give_back(void* window) const noexcept {
  if (state_ == State::usable) (void)library_->deregister_window(communicator_, window);
}

std::string communicator_library(const char* backend) {
  if (const char* name = std::getenv("RELAYOUT_NCCL_LIBRARY")) return name;
  if (std::strcmp(backend, "cuda") == 0) return "libnccl.so.2";
  return std::strcmp(backend, "hip") == 0 ? "librccl.so.1" : "";
}

}  // namespace relayout
