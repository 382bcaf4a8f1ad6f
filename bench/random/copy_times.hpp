// How long a copy of as many bytes takes: measured once for each power of two, and in between interpolated.
#pragma once

#include <cstdint>
#include <map>

#include "bench/stream_timer.hpp"

namespace relayout::bench::random {

class CopyTimes {
 public:
  CopyTimes(const Stream& stream, double sample_seconds, bool graphs)
      : stream_(stream), timer_(stream), sample_seconds_(sample_seconds), graphs_(graphs) {}

  /// The time of the fastest copy in bench/copy_baseline.hpp that reads bytes / 2 and writes bytes / 2. It
  /// measures the powers of two on either side where they are not known, and takes the straight line through
  /// their logarithms in between.
  double seconds(std::int64_t bytes);

 private:
  double measured(int exponent);

  Stream stream_;
  StreamTimer timer_;
  double sample_seconds_;
  bool graphs_;
  std::map<int, double> seconds_;  // by the exponent
};

}  // namespace relayout::bench::random
