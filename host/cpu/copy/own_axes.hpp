// Copies between shapes that no loop nest has in common: both sides are walked side by side, run by run.
#pragma once

#include <algorithm>
#include <cstdint>

#include "core/copy_params.hpp"
#include "host/cpu/parallel.hpp"
#include "host/cpu/strided_loop.hpp"

namespace relayout::native {

/// A position among an operand's own axes, in C order.
class OwnAxes {
 public:
  OwnAxes(int rank, const std::int64_t* extents, const std::int64_t* strides, std::int64_t number)
      : extent_(extents[rank - 1]),
        step_(strides[rank - 1]),
        index_(number % extent_),
        outer_(outer_loop(rank, extents, strides)),
        cursor_(outer_, number / extent_) {}
  OwnAxes(const OwnAxes&) = delete;
  OwnAxes& operator=(const OwnAxes&) = delete;

  std::int64_t offset() const { return cursor_.a() + index_ * step_; }
  std::int64_t step() const { return step_; }
  /// Elements from here to the end of the innermost axis.
  std::int64_t left() const { return extent_ - index_; }
  /// The axes outside it; offsets in elements are the loop's a().
  const StridedLoop& rows() const { return outer_; }
  /// From the begin of a row: how many rows, this one included, lie pitch() elements apart; 0 elsewhere.
  std::int64_t rows_left() const { return index_ == 0 && outer_.rank > 0 ? cursor_.left() : 0; }
  std::int64_t pitch() const { return outer_.a_steps[outer_.rank - 1]; }
  /// Moves on by `rows` rows, at most rows_left().
  void advance_rows(std::int64_t rows) { cursor_.skip(rows); }
  /// Moves on by `elements`, at most left().
  void advance(std::int64_t elements) {
    index_ += elements;
    if (index_ < extent_) return;
    index_ = 0;
    cursor_.next();
  }

 private:
  static StridedLoop outer_loop(int rank, const std::int64_t* extents, const std::int64_t* strides) {
    StridedLoop loop;
    for (int axis = 0; axis + 1 < rank; ++axis) loop.push(extents[axis], strides[axis], 0);
    return loop;
  }
  std::int64_t extent_, step_, index_;
  StridedLoop outer_;
  Cursor cursor_;
};

/// A run of elements along one axis on both sides: where it begins and how far apart its elements lie.
struct CommonRun {
  std::int64_t in, in_step, out, out_step, count;
};

/// visit(CommonRun) for all elements, on several threads at once.
template <class Visit>
void for_each_common_run(const CopyParams& p, const Visit& visit) {
  parallel_ranges(p.elements, p.elements, [&](std::int64_t begin, std::int64_t end) {
    OwnAxes in(p.in_rank, p.in_extents, p.in_strides, begin), out(p.rank, p.extents, p.out_strides, begin);
    for (std::int64_t at = begin; at < end;) {
      const std::int64_t count = std::min({end - at, in.left(), out.left()});
      visit(CommonRun{in.offset(), in.step(), out.offset(), out.step(), count});
      in.advance(count);
      out.advance(count);
      at += count;
    }
  });
}

}  // namespace relayout::native
