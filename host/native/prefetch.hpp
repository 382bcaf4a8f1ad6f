// Asks for memory that will be read soon: rows along one axis of a box, one row at a time.
#pragma once

#include <cstdint>

#include "host/native/streaming.hpp"
#include "host/native/strided_loop.hpp"

namespace relayout::native {

class RowPrefetch {
 public:
  /// Rows of `bytes` from first + the offsets a (in bytes) of the loop.
  RowPrefetch(const char* first, const StridedLoop& rows, std::int64_t bytes)
      : first_(first), cursor_(rows, 0), left_(rows.total()), bytes_(bytes) {}

  std::int64_t rows() const { return left_; }
  void ask() {
    if (left_-- <= 0) return;
    const char* const row = first_ + cursor_.a();
    // Into the second level: the first is full of the box at work.
    for (std::int64_t at = 0; at < bytes_; at += kLineBytes) __builtin_prefetch(row + at, 0, 2);
    __builtin_prefetch(row + bytes_ - 1, 0, 2);
    cursor_.next();
  }

 private:
  const char* first_;
  Cursor cursor_;
  std::int64_t left_, bytes_;
};

}  // namespace relayout::native
