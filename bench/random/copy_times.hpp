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

  /// Of the fastest of the copies in bench/copy_baseline.hpp, bytes / 2 read and bytes / 2 written. Measures
  /// the powers of two on either side where they are not known; in between lies a straight line through the
  /// logarithms.
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
