// How long calls on a stream take: by events on a GPU, by the host's clock elsewhere.
#pragma once

#include <cstddef>
#include <functional>
#include <memory>
#include <vector>

#include <optional>
#include <relayout/relayout.hpp>

namespace relayout::bench {

/// Calls that do the same work, each on operands of its own. Samples go through them again and again.
struct CallSeries {
  std::vector<std::function<void()>> calls;
  std::size_t count = 1;  // calls in a sample
  /// The call with which the next sample begins. Series on the same operands share it, so none begins with
  /// data that another one left in a cache.
  std::shared_ptr<std::size_t> next = std::make_shared<std::size_t>(0);
  /// On a GPU a sample is one launch of a graph of `count` calls, which go through all operands.
  bool in_graph = false;
  /// On a GPU, too, the host's clock is read, when the work of the stream is done.
  bool by_host = false;

 private:
  friend class StreamTimer;
  double queue_seconds_ = 0;  // how long the host takes to queue one sample
  std::optional<Graph> graph_;
  void run(std::size_t count);
};

/// On a GPU a sample is many calls between two events, queued one by one or as a graph. While the host queues
/// them, a copy in front of the first event keeps the stream busy. So the calls run one right after the other
/// however long queueing takes, and the only part of a launch that counts is the device's own gap between two
/// kernels. On other devices every call has finished when it returns, so the host's clock is read; also where
/// the host itself works in a call.
class StreamTimer {
 public:
  explicit StreamTimer(const Stream& stream);

  /// Runs every call once without counting it, and sets how many calls a sample has: as many as take about
  /// `sample_seconds`.
  void warm_up(CallSeries& series, double sample_seconds) const;
  /// Seconds per call.
  double sample(CallSeries& series) const;

 private:
  void keep_busy(double seconds) const;
  bool by_events(const CallSeries& series) const;
  double host_seconds(CallSeries& series, std::size_t count) const;
  double gpu_seconds(CallSeries& series, std::size_t count) const;
  void record(CallSeries& series) const;

  Stream stream_;
  Buffer busy_;
  double busy_copy_seconds_ = 0;
};

}  // namespace relayout::bench
