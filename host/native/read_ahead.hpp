// Asks for what is read next while an output is written past the caches: a burst of such stores by itself
// leaves the memory's other direction idle.
#pragma once

#include <algorithm>
#include <cstdint>

#include "host/native/streaming.hpp"

namespace relayout::native {

class ReadAhead {
 public:
  /// Up to kMost stretches of memory.
  void add(const char* from, std::int64_t bytes) { stretches_[count_++] = {from, bytes}; }

  /// stream_row, and meanwhile the stretches into the first-level cache, each at its own pace.
  void stream(char* out, const char* in, std::int64_t bytes) const {
    const std::int64_t head = std::min(bytes, bytes_to_line(out));
    if (head != 0) stream_row(out, in, head);
    std::int64_t at = head;
    std::int64_t asked[kMost] = {};
    for (; at + kLineBytes <= bytes; at += kLineBytes) {
      stream_lines(out + at, in + at, kLineBytes);
      for (int i = 0; i < count_; ++i) {
        const Stretch& stretch = stretches_[i];
        // Both in units of bytes * bytes, so that nothing is divided.
        for (; asked[i] * bytes < (at + kLineBytes) * stretch.bytes; asked[i] += kLineBytes)
          __builtin_prefetch(stretch.from + asked[i]);
      }
    }
    if (at < bytes) stream_row(out + at, in + at, bytes - at);
  }

 private:
  static constexpr int kMost = 3;
  struct Stretch {
    const char* from;
    std::int64_t bytes;
  };
  Stretch stretches_[kMost];
  int count_ = 0;
};

}  // namespace relayout::native
