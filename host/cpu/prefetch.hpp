// Prefetches memory that will be read soon into the second-level cache; the first is full of data in use.
#pragma once

#include <algorithm>
#include <cstdint>

#include "core/integer_math.hpp"
#include "host/cpu/streaming.hpp"
#include "host/cpu/strided_loop.hpp"

namespace relayout::native {

/// Prefetches, while [row, row + bytes) is read or written, the bytes a page further on; `left` bytes remain
/// from `row` to the end. The processor's own prefetching stops at the end of a page, and would leave the
/// memory idle during the computation.
inline void ask_ahead(const void* row, std::int64_t bytes, std::int64_t left) noexcept {
  constexpr std::int64_t kAheadBytes = 4096;
  const std::int64_t end = std::min(kAheadBytes + bytes, left);
  for (std::int64_t at = kAheadBytes; at < end; at += kLineBytes)
    __builtin_prefetch(static_cast<const char*>(row) + at, 0, 2);
}

/// How many rows of `bytes` bytes further on one is asked for, where the processor's own prefetching begins
/// anew with each row.
constexpr std::int64_t rows_ahead(std::int64_t bytes) {
  constexpr std::int64_t kAheadBytes = 2048;
  return divide_up(kAheadBytes, bytes);
}

/// Prefetches the lines of [row, row + bytes).
inline void ask_for(const char* row, std::int64_t bytes) noexcept {
  for (std::int64_t at = 0; at < bytes; at += kLineBytes) __builtin_prefetch(row + at, 0, 2);
  __builtin_prefetch(row + bytes - 1, 0, 2);
}

/// Prefetches the rows along one axis of a box, one row at a time.
class RowPrefetch {
 public:
  /// The rows have `bytes` bytes and begin at first plus the offsets a (in bytes) of the loop.
  RowPrefetch(const char* first, const StridedLoop& rows, std::int64_t bytes)
      : first_(first), cursor_(rows, 0), left_(rows.total()), bytes_(bytes) {}

  std::int64_t rows() const { return left_; }
  void ask() {
    if (left_-- <= 0) return;
    ask_for(first_ + cursor_.a(), bytes_);
    cursor_.next();
  }

 private:
  const char* first_;
  Cursor cursor_;
  std::int64_t left_, bytes_;
};

}  // namespace relayout::native
