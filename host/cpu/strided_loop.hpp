// Nested loops that carry two offsets along: for every row of a box, its place in the input and in the
// output.
#pragma once

#include <cstdint>

#include "core/integer_math.hpp"
#include "relayout/tensor_view.hpp"

namespace relayout::native {

/// The last axis is the innermost.
struct StridedLoop {
  int rank = 0;
  std::int64_t counts[kMaxRank], a_steps[kMaxRank], b_steps[kMaxRank];

  void push(std::int64_t count, std::int64_t a_step, std::int64_t b_step) {
    counts[rank] = count;
    a_steps[rank] = a_step;
    b_steps[rank] = b_step;
    ++rank;
  }
  /// An axis that is walked in boxes of `side` elements, the last of which may be short.
  void push_boxes(std::int64_t extent, std::int64_t side, std::int64_t a_stride, std::int64_t b_stride) {
    push(divide_up(extent, side), side * a_stride, side * b_stride);
  }
  std::int64_t total() const {
    std::int64_t product = 1;
    for (int axis = 0; axis < rank; ++axis) product *= counts[axis];
    return product;
  }
};

/// A position in a StridedLoop; moving on costs no division.
class Cursor {
 public:
  Cursor(const StridedLoop& loop, std::int64_t linear) : loop_(loop) {
    for (int axis = loop.rank; axis-- > 0;) {
      // A loop without iterations has a cursor, too, which nobody moves.
      const std::int64_t count = loop.counts[axis] > 0 ? loop.counts[axis] : 1;
      index_[axis] = linear % count;
      linear /= count;
      a_ += index_[axis] * loop.a_steps[axis];
      b_ += index_[axis] * loop.b_steps[axis];
    }
  }
  void next() {
    for (int axis = loop_.rank; axis-- > 0;) {
      a_ += loop_.a_steps[axis];
      b_ += loop_.b_steps[axis];
      if (++index_[axis] < loop_.counts[axis]) return;
      a_ -= loop_.counts[axis] * loop_.a_steps[axis];
      b_ -= loop_.counts[axis] * loop_.b_steps[axis];
      index_[axis] = 0;
    }
  }
  /// Moves on along the innermost axis, by at least one and at most left().
  void skip(std::int64_t count) {
    const int axis = loop_.rank - 1;
    index_[axis] += count - 1;
    a_ += (count - 1) * loop_.a_steps[axis];
    b_ += (count - 1) * loop_.b_steps[axis];
    next();
  }
  /// From here to the end of the innermost axis.
  std::int64_t left() const { return loop_.counts[loop_.rank - 1] - index_[loop_.rank - 1]; }
  std::int64_t index(int axis) const { return index_[axis]; }
  std::int64_t a() const { return a_; }
  std::int64_t b() const { return b_; }

 private:
  const StridedLoop& loop_;
  std::int64_t index_[kMaxRank];
  std::int64_t a_ = 0, b_ = 0;
};

}  // namespace relayout::native
