// A copy's nest, cut into boxes: what is known of it before any element moves, and without the elements'
// types.
#pragma once

#include <algorithm>
#include <cstdint>

#include "host/cpu/copy/copy_box.hpp"
#include "host/cpu/copy/micro_transpose.hpp"
#include "host/cpu/streaming.hpp"
#include "host/cpu/strided_loop.hpp"

namespace relayout::native {

/// Bytes of the runs that a box writes. Two lines are enough where every row begins with a line, but a box of
/// wide elements reads as many rows as one of f32. Elsewhere the ends of a run are parts of lines, which cost
/// more than whole ones, so runs are longer.
constexpr std::int64_t kRunBytes = 128, kRunElements = 32, kOddRunBytes = 512;
/// The most runs of a box, so that it nearly fits into the first-level cache.
constexpr std::int64_t kBoxRuns = 64;
/// Rows of fewer elements than this are gathered and scattered by a table: a call for each would take longer.
constexpr std::int64_t kLeastRow = 16;

/// Whether the output goes past the caches.
bool is_streamed(const CopyParams& params);
/// Whether axes are in the order of the input's strides, too.
bool is_in_order(const CopyParams& params);

/// A plane of the two operands' fastest axes. Axes just before the input's that continue it in memory belong
/// to it.
struct Plane {
  std::int64_t rows;
  int first_axis;  // of those that are the plane's rows
};

struct BoxNest {
  BoxNest(const CopyParams& params, bool converts);

  CopyParams p;
  int last;  // the output's fastest axis
  std::int64_t in_bytes, out_bytes;
  bool converts, streamed;
  CopyBox box;
  bool unaligned = false;     // the ends of boxes follow lines of memory, which begin anywhere in a row
  bool rows_in_rows = false;  // rows of the output are rows of the input, of any stride
  bool rows_follow = false;   // rows of the input are short, and follow each other within a line
  bool rows_apart = false;    // rows of the input are long, and do not follow each other within a line
  bool direct = false;        // nothing is converted or transposed, so that a box needs no buffer
  /// What converts planes while it transposes them, straight from f32 in memory, so that a box needs no room
  /// for its input; or null.
  TransposeBlock to_f16 = nullptr;
  int place[kMaxRank];  // of each axis among those of `boxes`
  StridedLoop boxes;

  /// The extents of the box at the cursor: boxes at the ends are shorter. Where the ends of boxes follow
  /// lines of memory, a box is read up to a line further along the output's axis.
  void set_sides(const Cursor& cursor, std::int64_t* sides) const {
    for (int axis = 0; axis < p.rank; ++axis) {
      const std::int64_t side =
          box.sides[axis] +
          (unaligned && axis == last ? std::max<std::int64_t>(1, kLineBytes / out_bytes) : 0);
      sides[axis] = std::min(side, p.extents[axis] - cursor.index(place[axis]) * box.sides[axis]);
    }
  }
  /// Whether the elements of a box lie one behind the other in an operand, in the order of the nest.
  bool is_one_run(const std::int64_t* sides, const std::int64_t* strides) const {
    std::int64_t run = 1;
    for (int axis = last; axis >= 0; run *= sides[axis--]) {
      if (sides[axis] != 1 && strides[axis] != run) return false;
    }
    return true;
  }
  Plane plane_of(const std::int64_t* sides) const {
    Plane plane{sides[box.in_axis], box.in_axis};
    while (plane.first_axis > 0 &&
           p.in_strides[plane.first_axis - 1] == plane.rows * p.in_strides[box.in_axis])
      plane.rows *= sides[--plane.first_axis];
    return plane;
  }

 private:
  bool rows_are_aligned() const;
  std::int64_t aligned_run() const;
  bool has_narrow_planes() const;
  bool rows_follow_each_other() const;
  bool rows_lie_apart() const;
  TransposeBlock plane_conversion() const;
  void join_short_axes();
};

}  // namespace relayout::native
