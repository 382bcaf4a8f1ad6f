// The communicator of a group whose ranks are processes of their own: the caller's, of NCCL or RCCL, whose
// functions have the same names. The library is opened when the program runs, so that building needs neither.
#pragma once

#include <atomic>
#include <cstddef>
#include <deque>
#include <functional>
#include <limits>
#include <memory>
#include <string>
#include <vector>

#include "platform/backend.hpp"

namespace relayout {

class Communicator {
 public:
  /// The library of this name and the caller's ncclComm_t. Error{unsupported} where the library or one of its
  /// functions is missing, {vendor} for a communicator that it does not take.
  Communicator(const std::string& library, void* communicator);
  Communicator(const Communicator&) = delete;
  Communicator& operator=(const Communicator&) = delete;
  ~Communicator();

  int ranks() const noexcept { return ranks_; }
  int rank() const noexcept { return rank_; }

  /// Bytes from this rank or to it. Two ranks name their messages for each other in the same order.
  struct Message {
    int peer = 0;
    const void* source = nullptr;  // of a message to the peer; null: it comes from there
    void* destination = nullptr;
    std::size_t bytes = 0;
  };
  /// Queues the messages on the vendor's stream, all at the same time. Error{vendor}, {timeout}.
  void exchange(const std::vector<Message>& messages, void* stream) const;
  /// Queues: `all` gets `bytes` from each rank, by ranks; device memory. Error{vendor}, {timeout}.
  void all_gather(const void* own, void* all, std::size_t bytes, void* stream) const;
  /// Error{vendor} once the library has found an error in what was queued before: a rank that is gone, say.
  /// Error{timeout} once a wait was given up, {invalid_argument} after end().
  void check() const;
  /// Something was queued in part, so that the ranks do not agree any more: Error{vendor} from every later
  /// check().
  void fail() noexcept;
  /// The caller ends the communicator: nothing more is asked of it.
  void end() noexcept { state_ = State::ended; }

  /// Whether the library has windows, and tells where those of other ranks are mapped.
  bool has_windows() const noexcept;
  /// A window of an allocation of each rank, of one size on all; collective. It is given back with the last
  /// copy of the pointer, which this communicator outlives. Null where this one has none on any rank, by its
  /// settings or for want of links. Error{vendor}, {timeout}.
  std::shared_ptr<void> register_window(const Allocation& own) const;
  /// Where kernels of this rank reach the first byte of another rank's allocation; null: they do not.
  char* in_window(void* window, int peer) const;

  /// Seconds that a wait for other ranks lasts at most.
  double time_limit() const noexcept { return time_limit_; }
  void set_time_limit(double seconds) noexcept { time_limit_ = seconds; }
  /// Waits on the host until is_done() says so, and looks at the library's errors meanwhile. Error{vendor},
  /// and give_up() at the limit.
  void wait(const std::function<bool()>& is_done, const char* what) const;
  /// Error{timeout}, now and from every later check(): what is queued still waits for the other ranks.
  [[noreturn]] void give_up(const char* what) const;

 private:
  struct Library;
  enum class State { usable, failed, half_queued, given_up, ended };
  void check_result(int result, const char* function) const;
  int ask_for_error() const;
  void give_back(void* window) const noexcept;

  std::shared_ptr<const Library> library_;
  void* communicator_;
  int ranks_ = 0, rank_ = 0;
  std::atomic<double> time_limit_{std::numeric_limits<double>::infinity()};
  mutable std::atomic<State> state_{State::usable};
  mutable std::deque<void*> windows_;  // where the library writes them, also after a wait that was given up
};

/// The name by which a back end's library is opened: what the environment variable RELAYOUT_NCCL_LIBRARY
/// says, else libnccl.so.2 or librccl.so.1; empty: the back end has none.
std::string communicator_library(const char* backend);

}  // namespace relayout
