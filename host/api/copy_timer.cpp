#include "host/api/copy_timer.hpp"

#include <algorithm>
#include <chrono>
#include <functional>
#include <limits>

#include "relayout/error.hpp"
#include "relayout/graph.hpp"

namespace relayout {
namespace {

constexpr int kRounds = 5;
/// A sample on a GPU has as many runs as take so long, but at most kMaxRuns.
constexpr double kSampleSeconds = 5e-4, kMaxRuns = 50;
constexpr int kRecordings = 20;

/// Runs of one plan that are timed together, one after another without the host's part in between.
class Sample {
 public:
  Sample(const Stream& stream, const std::function<void()>& run) : stream_(stream), work_(run) {
    run();
    stream.synchronize();
    if (stream.device().kind() != DeviceKind::gpu) return;
    const double wanted = kSampleSeconds / std::max(by_events(), 1e-9);
    runs_ = static_cast<int>(std::clamp(wanted, 1.0, kMaxRuns));
    work_ = [run, runs = runs_] {
      for (int i = 0; i < runs; ++i) run();
    };
    record();
  }

  /// The time of one run.
  double seconds() const {
    return (stream_.device().kind() == DeviceKind::gpu ? by_events() : by_clock()) / runs_;
  }

 private:
  /// Makes the runs a graph. Another thread that waits for the whole device, as the first launch of a kernel
  /// may, spoils what is recorded on the same device: then it is recorded anew, or stays as it is in the end.
  void record() {
    for (int attempt = 0; attempt < kRecordings; ++attempt) {
      try {
        const Graph graph(stream_, work_);
        work_ = [graph, stream = stream_] { graph.launch(stream); };
        return;
      } catch (const Error& error) {
        if (error.code() != ErrorCode::launch && error.code() != ErrorCode::vendor) throw;
      }
    }
  }

  /// Seconds between two events. The same work before the first keeps the device busy until all is queued.
  double by_events() const {
    Event start(stream_.device()), stop(stream_.device());
    work_();
    start.record(stream_);
    work_();
    stop.record(stream_);
    stop.synchronize();
    return static_cast<double>(stop.milliseconds_since(start)) * 1e-3;
  }

  double by_clock() const {
    const auto start = std::chrono::steady_clock::now();
    work_();
    stream_.synchronize();
    return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  }

  Stream stream_;
  std::function<void()> work_;
  int runs_ = 1;
};

}  // namespace

std::vector<double> seconds_of(const Stream& stream, const std::vector<CopyPlan>& plans, const void* in,
                               void* out) {
  stream.synchronize();
  const Stream own(stream.device());
  std::vector<Sample> samples;
  for (const CopyPlan& plan : plans) samples.emplace_back(own, [=] { plan.run(own, in, out); });
  std::vector<double> seconds(plans.size(), std::numeric_limits<double>::infinity());
  // The plans take turns: whatever slows the device down for a while slows all of them.
  for (int round = 0; round < kRounds; ++round)
    for (std::size_t i = 0; i < samples.size(); ++i) seconds[i] = std::min(seconds[i], samples[i].seconds());
  return seconds;
}

}  // namespace relayout
