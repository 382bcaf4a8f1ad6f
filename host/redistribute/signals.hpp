// How the streams of ranks that are processes wait for each other: by signals, which kernels write into the
// memory of other ranks (core/signal_params.hpp).
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "core/signal_params.hpp"
#include "platform/backend.hpp"
#include "relayout/buffer.hpp"
#include "relayout/stream.hpp"

namespace relayout {

/// The memory that another process has named, mapped here until the last copy of the pointer is gone. Error.
std::shared_ptr<char> map_shared(const Device& device, const SharedMemoryName& name);

/// Which ranks a stream tells that it has come so far, and of which it waits for the same; bit r: rank r.
struct RankSignals {
  std::uint64_t tell = 0, await = 0;
};

class Signals {
 public:
  /// Those of one rank among so many.
  Signals(const Device& device, int rank, int ranks);
  Signals(const Signals&) = delete;
  Signals& operator=(const Signals&) = delete;
  ~Signals();

  /// What other processes need to map this rank's memory. False: it has no name.
  bool share(SharedMemoryName& name) const;
  /// Reaches the memory of all ranks by their names, of which the first one that has none is the last.
  void map(const std::vector<SharedMemoryName>& names);
  bool is_mapped() const noexcept { return is_mapped_; }
  /// Why it is not reached; empty: it is, once it is mapped.
  const std::string& reason() const noexcept { return reason_; }

  /// Queues: tells, and then waits, at most so many seconds. Signals between two ranks are in the order of
  /// their streams.
  void exchange(const Stream& stream, const RankSignals& ranks, double limit) const;
  /// Whether a wait was given up at its limit.
  bool timed_out() const noexcept { return outcome() == SignalParams::kTimedOut; }
  /// Whether stop() has ended all waits.
  bool is_stopped() const noexcept { return outcome() == SignalParams::kStopped; }
  /// Ends all waits, now and later.
  void stop() const noexcept;

 private:
  std::uint32_t outcome() const noexcept;

  Device device_;
  int rank_, ranks_;
  PinnedBuffer outcome_;                         // on the host, where the device writes and reads it
  std::vector<std::shared_ptr<char>> mappings_;  // of the other ranks' memory
  SignalParams params_;
  std::string reason_;
  bool is_mapped_ = false;
};

}  // namespace relayout
