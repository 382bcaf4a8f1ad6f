// What a group keeps.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include "host/redistribute/run_watch.hpp"
#include "platform/communicator.hpp"
#include "relayout/buffer.hpp"
#include "relayout/group.hpp"

namespace relayout {

struct Group::State {
  std::vector<int> local_ranks;
  /// Of the local ranks: the caller's streams, and one more each, for what runs beside them.
  std::vector<Stream> streams, sides;
  std::vector<std::vector<bool>> reaches;  // [from][to]
  /// Null: all ranks are this process's.
  std::unique_ptr<Communicator> communicator;
  /// What a rank tells the others (agreement.hpp), and what all of them say: on the device and, pinned, here,
  /// where copies that were given up may still write.
  static constexpr std::size_t kAgreementWords = 7;
  Buffer agreement;
  PinnedBuffer agreement_here;
  /// Of a group with a communicator: one of the runs that were queued last, and where it ends.
  mutable RunWatch watch;
  std::optional<Event> watched;

  int ranks() const noexcept { return static_cast<int>(reaches.size()); }
  /// Where a rank stands among the local ones; -1: it is another process's.
  int local(int rank) const noexcept;

  /// Before and after a plan or a run is queued, where there is a communicator: Error{vendor}, {timeout} for
  /// what was queued before.
  void check_earlier() const;
  void watch_run() const;
  /// Waits for a stream of a local rank, with the communicator's limit where there is one.
  void wait_for(const Stream& stream, const char* what) const;
};

}  // namespace relayout
