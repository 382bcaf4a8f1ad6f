// What a group keeps.
#pragma once

#include <cstddef>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <type_traits>
#include <vector>

#include "host/redistribute/run_watch.hpp"
#include "host/redistribute/signals.hpp"
#include "platform/communicator.hpp"
#include "relayout/buffer.hpp"
#include "relayout/group.hpp"

namespace relayout {

/// Memory that every rank has registered, mapped here. A rank's own is where it is.
struct SharedMemory {
  struct Part {
    char* memory = nullptr;  // null: of a rank that has none
    std::size_t bytes = 0;
    std::shared_ptr<void> mapping;  // of an allocation, or the window of all
  };
  std::vector<Part> parts;             // by ranks
  std::string reason;                  // why a rank cannot use it; empty: all can
  const char* window_begin = nullptr;  // of this rank's allocation in a window
};

struct Group::State {
  std::vector<int> local_ranks;
  /// For each local rank: the caller's stream, and one for what runs beside it.
  std::vector<Stream> streams, sides;
  /// For each local rank two streams of half its device (half_streams.hpp).
  struct Halves {
    std::vector<Stream> links, inners;  // for what crosses a link, and for what stays
  };
  std::vector<std::vector<bool>> reaches;  // [from][to]
  /// Null: all ranks are this process's.
  std::unique_ptr<Communicator> communicator;
  /// What a rank tells the others (agreement.hpp), and what all of them say: on the device and, pinned, here,
  /// where copies that were given up may still write.
  static constexpr std::size_t kMaxToldBytes = 512;
  Buffer told;
  PinnedBuffer told_here;
  /// Where there is a communicator: how the ranks' streams wait for each other.
  std::unique_ptr<Signals> signals;
  /// Outputs and workspaces that the ranks share, in the order of their registration.
  mutable std::vector<SharedMemory> shared_outputs, shared_workspaces;
  /// Where there is a communicator: one of the runs that were queued last, and the event at its end.
  mutable RunWatch watch;
  std::optional<Event> watched;

  /// Made when the first plan needs them, which a group of one device never does.
  const Halves& halves() const;
  int ranks() const noexcept { return static_cast<int>(reaches.size()); }
  /// Where a rank stands among the local ones; -1: it is another process's.
  int local(int rank) const noexcept;

  /// Before and after a plan or a run is queued, where there is a communicator: Error{vendor}, {timeout} for
  /// what was queued before.
  void check_earlier() const;
  void watch_run() const;
  /// Queues what other ranks rely on. Where it throws, they wait for what does not come: the group has
  /// failed.
  template <class Work>
  void or_fail(const Work& work) const {
    try {
      work();
    } catch (...) {
      fail();
      throw;
    }
  }
  /// Waits for a stream of a local rank, with the communicator's limit where there is one.
  void wait_for(const Stream& stream, const char* what) const;
  /// What every rank tells, by ranks, after a wait for all of them; at most kMaxToldBytes each.
  template <class Told>
  std::vector<Told> told_by_all(const Told& own, const char* what) const {
    static_assert(sizeof(Told) <= kMaxToldBytes && std::is_trivially_copyable_v<Told>);
    std::vector<Told> all(reaches.size());
    exchange_told(&own, all.data(), sizeof own, what);
    return all;
  }

 private:
  void fail() const noexcept;
  mutable std::once_flag halves_made_;
  mutable Halves halves_;
  /// What relies on the communicator. After its errors no stream waits for ranks that do not come.
  template <class Work>
  void or_stop(const Work& work) const {
    try {
      work();
    } catch (...) {
      signals->stop();
      throw;
    }
  }
  void exchange_told(const void* own, void* all, std::size_t bytes, const char* what) const;
};

}  // namespace relayout
