#include "timing.hpp"

#include <algorithm>
#include <chrono>
#include <cstring>
#include <thread>

#include <relayout/graph.hpp>

namespace example {
namespace {

using relayout::DeviceKind;
using relayout::StagePlace;

double median(std::vector<double> values) {
  std::sort(values.begin(), values.end());
  const std::size_t middle = values.size() / 2;
  return values.size() % 2 == 1 ? values[middle] : 0.5 * (values[middle - 1] + values[middle]);
}

double seconds_of(const std::function<void()>& work) {
  const auto start = std::chrono::steady_clock::now();
  work();
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
}

/// Times work by the stream's own clock, which is the time between two events on a GPU. Streams of other
/// devices finish each call before it returns, so there the host's finer clock is used.
class StreamClock {
 public:
  explicit StreamClock(const relayout::Stream& stream)
      : stream_(stream), start_(stream.device()), stop_(stream.device()) {}

  double seconds(const std::function<void()>& work) {
    if (stream_.device().kind() != DeviceKind::gpu) return seconds_of(work);
    start_.record(stream_);
    work();
    stop_.record(stream_);
    stop_.synchronize();
    return static_cast<double>(stop_.milliseconds_since(start_)) * 1e-3;
  }

 private:
  relayout::Stream stream_;
  relayout::Event start_, stop_;
};

double median_of(int repeat, const std::function<double()>& measure) {
  measure();
  std::vector<double> times(static_cast<std::size_t>(repeat));
  for (double& time : times) time = measure();
  return median(times);
}

/// One memcpy per processor. The better of this and a single memcpy is the machine's rate: starting threads
/// costs more than a small copy.
void copy_in_parallel(char* target, const char* source, std::size_t bytes) {
  const std::size_t workers = std::max(1u, std::thread::hardware_concurrency());
  const std::size_t share = (bytes + workers - 1) / workers;
  std::vector<std::thread> threads;
  for (std::size_t begin = share; begin < bytes; begin += share) {
    threads.emplace_back(
        [=] { std::memcpy(target + begin, source + begin, std::min(share, bytes - begin)); });
  }
  std::memcpy(target, source, std::min(share, bytes));
  for (std::thread& thread : threads) thread.join();
}

double host_copy_seconds(std::size_t bytes, int repeat) {
  std::vector<char> source(bytes, 1), target(bytes, 2);
  const double single = median_of(
      repeat, [&] { return seconds_of([&] { std::memcpy(target.data(), source.data(), bytes); }); });
  const double parallel = median_of(
      repeat, [&] { return seconds_of([&] { copy_in_parallel(target.data(), source.data(), bytes); }); });
  return std::min(single, parallel);
}

std::vector<StageTime> time_alone(const relayout::Stream& stream, const relayout::Conv1dOverlap& overlap,
                                  int repeat, CopyRates& rates) {
  StreamClock clock(stream);
  const double host = median_of(repeat, [&] { return seconds_of([&] { overlap.run_host_work(); }); });
  const double copies = median_of(repeat, [&] { return clock.seconds([&] { overlap.run_copies(); }); });
  std::vector<StageTime> alone;
  const auto add = [&](const char* name, StagePlace place, std::int64_t bytes, double seconds) {
    alone.push_back({name, place, true, bytes, seconds, rates.bytes_per_second(place, bytes)});
  };
  if (overlap.host_bytes() > 0) add("alone: the host's work", StagePlace::host, overlap.host_bytes(), host);
  add("alone: the copies", StagePlace::transfer, overlap.link_bytes(), copies);
  return alone;
}

}  // namespace

const char* PathTimes::name() const { return path ? path->name() : "depthwise"; }

double PathTimes::to_operand() const {
  double sum = 0;
  for (const StageTime& stage : stages) sum += stage.of_operand ? stage.seconds : 0;
  return sum;
}

double PathTimes::to_operand(StagePlace place) const {
  double sum = 0;
  for (const StageTime& stage : stages) sum += stage.of_operand && stage.place == place ? stage.seconds : 0;
  return sum;
}

double PathTimes::overlap_share() const {
  double slowest = 0;
  for (const StageTime& stage : alone) slowest = std::max(slowest, stage.seconds);
  return to_operand() > 0 ? slowest / to_operand() : 0;
}

double CopyRates::bytes_per_second(StagePlace place, std::int64_t bytes) {
  if (bytes <= 0) return 0;
  const bool one_memory = stream_.device().kind() != DeviceKind::gpu;
  if (place == StagePlace::device && one_memory) place = StagePlace::host;
  const std::int64_t moved = place == StagePlace::transfer ? bytes : std::max<std::int64_t>(bytes / 2, 1);
  const std::size_t copied = static_cast<std::size_t>(std::min<std::int64_t>(moved, std::int64_t{1} << 28));
  const auto [entry, is_new] = known_.try_emplace({place, copied}, 0.0);
  if (is_new) entry->second = measure(place, copied);
  return entry->second;
}

double CopyRates::measure(StagePlace place, std::size_t copied) const {
  const relayout::Device& device = stream_.device();
  const double moved = static_cast<double>(copied) * (place == StagePlace::transfer ? 1 : 2);
  if (place == StagePlace::host) return moved / host_copy_seconds(copied, repeat_);
  const relayout::Buffer target(device, copied);
  StreamClock clock(stream_);
  const auto rate_from = [&](const void* source) {
    const auto copy = [&] { stream_.copy(target.data(), source, copied); };
    return moved / median_of(repeat_, [&] { return clock.seconds(copy); });
  };
  if (place == StagePlace::transfer) {
    const relayout::PinnedBuffer source(device, copied);
    std::memset(source.data(), 1, copied);
    return rate_from(source.data());
  }
  const relayout::Buffer source(device, copied);
  stream_.fill(source.data(), 1, copied);
  return rate_from(source.data());
}

double time_in_graph(const relayout::Stream& stream, const std::vector<relayout::Stage>& stages,
                     const relayout::TensorView& y, int repeat) {
  const int calls = stream.device().kind() == DeviceKind::gpu ? 20 : 1;
  const relayout::Graph graph(stream, [&] {
    for (int i = 0; i < calls; ++i) {
      for (const relayout::Stage& stage : stages) {
        if (stage.of_operand && stage.place == StagePlace::device) stage.run();
      }
      stages.back().run();
    }
  });
  stream.fill(y.data(), 0xFF, static_cast<std::size_t>(y.elements()) * relayout::size_of(y.dtype()));
  StreamClock clock(stream);
  return median_of(repeat, [&] { return clock.seconds([&] { graph.launch(stream); }); }) / calls;
}

PathTimes time_stages(const relayout::Stream& stream, const std::vector<relayout::Stage>& stages,
                      const relayout::Conv1dOverlap* overlap, int repeat, CopyRates& rates) {
  const auto run = [&] {
    for (const relayout::Stage& stage : stages) stage.run();
    stream.synchronize();
  };
  run();
  StreamClock clock(stream);
  std::vector<std::vector<double>> times(stages.size());
  std::vector<double> whole;
  for (int i = 0; i < repeat; ++i) {
    for (std::size_t s = 0; s < stages.size(); ++s) {
      times[s].push_back(stages[s].place == StagePlace::host ? seconds_of(stages[s].run)
                                                             : clock.seconds(stages[s].run));
    }
    whole.push_back(seconds_of(run));
  }
  PathTimes result;
  result.end_to_end = median(whole);
  if (overlap != nullptr) result.alone = time_alone(stream, *overlap, repeat, rates);
  for (std::size_t s = 0; s < stages.size(); ++s) {
    result.stages.push_back({stages[s].name, stages[s].place, stages[s].of_operand, stages[s].bytes,
                             median(times[s]), rates.bytes_per_second(stages[s].place, stages[s].bytes)});
  }
  return result;
}

}  // namespace example
