#include "bench/stream_timer.hpp"

#include <algorithm>
#include <chrono>
#include <cmath>

namespace relayout::bench {
namespace {

constexpr std::size_t kBusyBytes = std::size_t{64} << 20;
// A stream takes about a thousand launches before queueing waits for it.
constexpr std::size_t kMaxCalls = 100, kMaxBusyCopies = 256;

double seconds_of(const std::function<void()>& work) {
  const auto start = std::chrono::steady_clock::now();
  work();
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
}

}  // namespace

void CallSeries::run(std::size_t count) {
  for (std::size_t i = 0; i < count; ++i) {
    calls[*next]();
    *next = (*next + 1) % calls.size();
  }
}

StreamTimer::StreamTimer(const Stream& stream) : stream_(stream) {
  if (stream.device().kind() != DeviceKind::gpu) return;
  busy_ = Buffer(stream.device(), 2 * kBusyBytes);
  keep_busy(0);
  constexpr int kCopies = 8;
  Event start(stream.device()), stop(stream.device());
  start.record(stream_);
  for (int i = 0; i < kCopies; ++i) keep_busy(0);
  stop.record(stream_);
  stop.synchronize();
  busy_copy_seconds_ = static_cast<double>(stop.milliseconds_since(start)) * 1e-3 / kCopies;
}

void StreamTimer::keep_busy(double seconds) const {
  std::size_t copies = 1;
  if (busy_copy_seconds_ > 0)
    copies += std::min(kMaxBusyCopies, static_cast<std::size_t>(seconds / busy_copy_seconds_));
  char* const memory = static_cast<char*>(busy_.data());
  for (std::size_t i = 0; i < copies; ++i) stream_.copy(memory, memory + kBusyBytes, kBusyBytes);
}

double StreamTimer::gpu_seconds(CallSeries& series, std::size_t count) const {
  Event start(stream_.device()), stop(stream_.device());
  keep_busy(2 * series.queue_seconds_);
  start.record(stream_);
  if (series.graph_)
    series.graph_->launch(stream_);
  else
    series.run(count);
  stop.record(stream_);
  stop.synchronize();
  return static_cast<double>(stop.milliseconds_since(start)) * 1e-3;
}

bool StreamTimer::by_events(const CallSeries& series) const {
  return stream_.device().kind() == DeviceKind::gpu && !series.by_host;
}

double StreamTimer::host_seconds(CallSeries& series, std::size_t count) const {
  return seconds_of([&] {
    series.run(count);
    stream_.synchronize();
  });
}

void StreamTimer::warm_up(CallSeries& series, double sample_seconds) const {
  const bool gpu = by_events(series);
  series.run(series.calls.size());
  stream_.synchronize();
  const std::size_t trial = gpu ? 4 : 1;
  const double each =
      (gpu ? gpu_seconds(series, trial) : host_seconds(series, trial)) / static_cast<double>(trial);
  const double wanted = std::ceil(sample_seconds / std::max(each, 1e-9));
  series.count = static_cast<std::size_t>(std::clamp(wanted, 1.0, static_cast<double>(kMaxCalls)));
  if (!gpu) return;
  if (series.in_graph) return record(series);
  series.queue_seconds_ = seconds_of([&] { series.run(series.count); });
  stream_.synchronize();
}

void StreamTimer::record(CallSeries& series) const {
  series.count = std::max(series.count, series.calls.size());
  series.graph_.emplace(stream_, [recorded = series]() mutable { recorded.run(recorded.count); });
  series.graph_->launch(stream_);  // the first launch brings the graph to the device
  stream_.synchronize();
  series.queue_seconds_ = seconds_of([&] { series.graph_->launch(stream_); });
  stream_.synchronize();
}

double StreamTimer::sample(CallSeries& series) const {
  const double seconds =
      by_events(series) ? gpu_seconds(series, series.count) : host_seconds(series, series.count);
  return seconds / static_cast<double>(series.count);
}

}  // namespace relayout::bench
