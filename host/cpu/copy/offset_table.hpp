// Where the elements of small boxes lie: the innermost axes of a box as a table of offsets, so that an
// element costs one look-up however short the axes are.
#pragma once

#include <algorithm>
#include <cstdint>

#include "host/cpu/strided_loop.hpp"

namespace relayout::native {

/// Some elements of a box: they lie at first + offsets[0, count). Passed by value, and copied with all else
/// that a loop needs into its variables: bytes that are written may be anything's that lies in memory, which
/// would be read again for every element.
struct OffsetPiece {
  std::int64_t first;
  const std::int64_t* offsets;
  std::int64_t count;
};

/// Elements are counted in C order of the box.
class OffsetTable {
 public:
  /// For boxes of these sides over an operand of these strides; what was prepared for the same sides is kept.
  void prepare(int rank, const std::int64_t* sides, const std::int64_t* strides) {
    if (rank == rank_ && std::equal(sides, sides + rank, sides_)) return;
    rank_ = rank;
    std::copy_n(sides, rank, sides_);
    count_ = 1;
    offsets_[0] = 0;
    int axis = rank - 1;
    for (; axis >= 0 && count_ * sides[axis] <= kMax; --axis) add(sides[axis], strides[axis]);
    inner_ = count_;
    // The next axis is cut: the table holds as many of its indices as find room.
    split_ = steps_ = left_ = 1;
    split_step_ = 0;
    if (axis >= 0) {
      split_ = std::max<std::int64_t>(1, kMax / count_);
      steps_ = divide_up(sides[axis], split_);
      left_ = sides[axis] - (steps_ - 1) * split_;
      split_step_ = split_ * strides[axis];
      add(split_, strides[axis]);
      --axis;
    }
    outer_ = StridedLoop();
    for (int k = 0; k <= axis; ++k) outer_.push(sides[k], strides[k], 0);
  }

 private:
  static constexpr std::int64_t kMax = 1024;

  /// An axis outside those in the table.
  void add(std::int64_t side, std::int64_t stride) {
    for (std::int64_t index = 1; index < side; ++index) {
      for (std::int64_t i = 0; i < count_; ++i) offsets_[index * count_ + i] = offsets_[i] + index * stride;
    }
    count_ *= side;
  }

  int rank_ = -1;
  std::int64_t sides_[kMaxRank];
  std::int64_t offsets_[kMax];
  std::int64_t count_ = 0, inner_ = 0;
  std::int64_t split_ = 1, steps_ = 1, left_ = 1, split_step_ = 0;
  StridedLoop outer_;

  template <class Visit>
  friend void for_each_piece(const OffsetTable&, const OffsetTable&, const Visit&);
};

/// visit(where the elements of a piece lie in one operand, and in the other) for the pieces of a box, in
/// order. Both tables are for boxes of the same sides.
template <class Visit>
void for_each_piece(const OffsetTable& a, const OffsetTable& b, const Visit& visit) {
  Cursor in_a(a.outer_, 0), in_b(b.outer_, 0);
  for (std::int64_t i = a.outer_.total(); i-- > 0; in_a.next(), in_b.next()) {
    for (std::int64_t step = 0; step < a.steps_; ++step) {
      const std::int64_t count = a.inner_ * (step + 1 < a.steps_ ? a.split_ : a.left_);
      visit(OffsetPiece{in_a.a() + step * a.split_step_, a.offsets_, count},
            OffsetPiece{in_b.a() + step * b.split_step_, b.offsets_, count});
    }
  }
}

/// buffer[0, ...) = the box at `in`.
template <class T>
void gather_box(const OffsetTable& table, const T* in, T* buffer) {
  for_each_piece(table, table, [&](OffsetPiece piece, OffsetPiece) {
    const T* from = in + piece.first;
    T* to = buffer;
#pragma GCC unroll 8
    for (std::int64_t i = 0; i < piece.count; ++i) to[i] = from[piece.offsets[i]];
    buffer = to + piece.count;
  });
}

/// The box at `out` = buffer[0, ...).
template <class T>
void scatter_box(const OffsetTable& table, const T* buffer, T* out) {
  for_each_piece(table, table, [&](OffsetPiece piece, OffsetPiece) {
    T* to = out + piece.first;
    const T* from = buffer;
#pragma GCC unroll 8
    for (std::int64_t i = 0; i < piece.count; ++i) to[piece.offsets[i]] = from[i];
    buffer = from + piece.count;
  });
}

}  // namespace relayout::native
