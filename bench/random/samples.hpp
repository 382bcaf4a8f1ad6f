// Few samples of a series of calls, of which the median counts.
#pragma once

#include <algorithm>
#include <array>

#include "bench/stream_timer.hpp"

namespace relayout::bench::random {

constexpr std::size_t kSamples = 5;

/// Seconds per call.
struct Samples {
  double median = 0, fastest = 0, slowest = 0;
};

inline Samples take_samples(const StreamTimer& timer, CallSeries& series, double sample_seconds) {
  timer.warm_up(series, sample_seconds);
  std::array<double, kSamples> seconds;
  for (double& sample : seconds) sample = timer.sample(series);
  std::sort(seconds.begin(), seconds.end());
  return {seconds[kSamples / 2], seconds.front(), seconds.back()};
}

}  // namespace relayout::bench::random
