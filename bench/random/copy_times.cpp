#include "bench/random/copy_times.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include "bench/copy_baseline.hpp"
#include "bench/random/samples.hpp"

namespace relayout::bench::random {

double CopyTimes::seconds(std::int64_t bytes) {
  const double exponent = std::log2(static_cast<double>(std::max<std::int64_t>(bytes, 1)));
  const int below = static_cast<int>(std::floor(exponent));
  const double low = measured(below), high = measured(below + 1);
  return low * std::pow(high / low, exponent - below);
}

double CopyTimes::measured(int exponent) {
  const auto known = seconds_.find(exponent);
  if (known != seconds_.end()) return known->second;
  double best = std::numeric_limits<double>::infinity();
  for (Copier& copier : prepare_copiers(stream_, std::int64_t{1} << exponent)) {
    if (copier.name == kTriad) continue;
    CallSeries series;
    series.calls = copier.prepared.calls;
    series.in_graph = graphs_ && copier.prepared.in_graph;
    best = std::min(best, take_samples(timer_, series, sample_seconds_).median);
  }
  return seconds_[exponent] = best;
}

}  // namespace relayout::bench::random
