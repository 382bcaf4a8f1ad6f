#include "host/cpu/copy/box_nest.hpp"

#include <cstdlib>

#include "core/bytes.hpp"
#include "host/cpu/copy/row_moves.hpp"

namespace relayout::native {
namespace {

/// Short axes of the input are joined up to so many bytes, where rows of the output have at least so many.
constexpr std::int64_t kJoinedBytes = 64, kLeastJoinedRow = 32;
/// Where short rows of the input follow each other, a box has this part of the elements: the processor reads
/// ahead by itself, but not for as long as a whole box is converted and written.
constexpr std::int64_t kFollowingParts = 4;
/// Shorter strided rows are gathered by a table.
constexpr std::int64_t kLeastStridedRow = 8;
/// Where rows have as many elements as this, the next box is asked for.
constexpr std::int64_t kMostFollowing = 64;
/// Shorter rows cost more than the memory that they wait for.
constexpr std::int64_t kLeastRowApart = 128;

}  // namespace

bool is_streamed(const CopyParams& p) {
  return p.out_strides[p.rank - 1] == 1 && p.elements * bytes_of(p.out_type) > kStreamedBytes;
}

bool is_in_order(const CopyParams& p) {
  std::int64_t inner = 0;
  for (int axis = p.rank; axis-- > 0;) {
    if (p.extents[axis] == 1) continue;
    if (std::abs(p.in_strides[axis]) < inner) return false;
    inner = std::abs(p.in_strides[axis]);
  }
  return true;
}

BoxNest::BoxNest(const CopyParams& params, bool has_cast)
    : p(params),
      last(params.rank - 1),
      in_bytes(bytes_of(params.in_type)),
      out_bytes(bytes_of(params.out_type)),
      converts(has_cast),
      streamed(is_streamed(params)) {
  const bool short_step = is_short_step(p.in_strides[last]);
  join_short_axes();
  const bool aligned = rows_are_aligned();
  const std::int64_t run = aligned ? aligned_run() : kOddRunBytes;
  const auto box_of = [&](std::int64_t bytes) {
    return choose_box(p, run / out_bytes, kBoxRuns * std::max<std::int64_t>(run, 256) / bytes);
  };
  box = box_of(out_bytes);
  to_f16 = plane_conversion();
  const std::int64_t bytes = converts && to_f16 == nullptr ? in_bytes + out_bytes : out_bytes;
  if (bytes != out_bytes) box = box_of(bytes);
  rows_follow = rows_follow_each_other();
  rows_in_rows = (p.in_strides[last] == 1 && p.extents[last] > 1) ||
                 ((box.in_axis == last || short_step) && box.sides[last] >= kLeastStridedRow) ||
                 has_narrow_planes();
  rows_apart = rows_lie_apart();
  direct = rows_in_rows && !converts && !streamed && p.out_strides[last] == 1;
  if (rows_follow && !direct) box = box_of(kFollowingParts * bytes);
  unaligned = streamed && !aligned && box.sides[last] < p.extents[last];
  int order[kMaxRank];
  for (int axis = 0; axis < p.rank; ++axis) order[axis] = axis;
  // The next box is the one that continues the input of this box.
  std::stable_sort(order, order + p.rank,
                   [this](int a, int b) { return std::abs(p.in_strides[a]) > std::abs(p.in_strides[b]); });
  for (int i = 0; i < p.rank; ++i) {
    const int axis = order[i];
    const std::int64_t side = box.sides[axis];
    place[axis] = i;
    boxes.push_boxes(p.extents[axis], side, p.in_strides[axis], p.out_strides[axis]);
  }
}

bool BoxNest::rows_are_aligned() const {
  bool aligned = bytes_to_line(p.out) == 0;
  for (int axis = 0; axis < last; ++axis) aligned &= p.out_strides[axis] * out_bytes % kLineBytes == 0;
  return aligned;
}

std::int64_t BoxNest::aligned_run() const {
  // Lines a page apart share a set of the first-level cache, so a box writes to fewer such rows. Lines
  // that go past the caches do not meet there.
  constexpr std::int64_t kPage = 4096, kPagedRunBytes = 256;
  const std::int64_t apart = p.out_strides[AxisChain(p, p.in_strides).fastest()] * out_bytes;
  return std::max(apart % kPage == 0 && !streamed ? kPagedRunBytes : kRunBytes, kRunElements * out_bytes);
}

/// Planes in which the input has no line for a square, but the output has long rows: as of images with 5 to
/// 15 bytes a pixel. What lies between two elements of a row is a part of a line, so that all rows of a box
/// are read from the first-level cache.
bool BoxNest::has_narrow_planes() const {
  return box.in_axis != last && plane_of(box.sides).rows * in_bytes < kSquareBytes &&
         std::abs(p.in_strides[last]) * in_bytes <= kLineBytes && box.sides[last] >= kLeastRow;
}

bool BoxNest::rows_follow_each_other() const {
  if (p.extents[last] >= kMostFollowing || !is_in_order(p)) return false;
  int outer = last;
  while (outer-- > 0) {
    if (p.extents[outer] == 1) continue;
    const std::int64_t gap = std::abs(p.in_strides[outer]) - p.extents[last] * std::abs(p.in_strides[last]);
    return gap * in_bytes < kLineBytes;
  }
  return false;
}

bool BoxNest::rows_lie_apart() const {
  const std::int64_t row = p.extents[last] * in_bytes;
  if (p.in_strides[last] != 1 || row < kLeastRowApart) return false;
  for (int axis = 0; axis < last; ++axis) {
    if (p.extents[axis] > 1 && std::abs(p.in_strides[axis]) * in_bytes < row + kLineBytes) return false;
  }
  return true;
}

TransposeBlock BoxNest::plane_conversion() const {
  if (p.in_type != DType::f32 || p.out_type != DType::f16 || p.generic_cast) return nullptr;
  const bool planes = box.in_axis != last && p.in_strides[box.in_axis] == 1;
  if (!planes || plane_of(box.sides).rows < kLeastRow || box.sides[last] < kLeastRow) return nullptr;
  return transpose_block_to_f16();
}

/// Puts the axes along which the input is contiguous side by side, in its order, just before those of the
/// output's rows, where the fastest of them alone is too short for planes.
void BoxNest::join_short_axes() {
  // As few of the output's fastest axes as make rows that are long enough: they stay whole.
  const std::int64_t least = streamed ? kOddRunBytes : kLeastJoinedRow;
  int first = last;
  std::int64_t row = p.extents[last];
  while (row * out_bytes < least && first > 0 && p.out_strides[first - 1] == row) row *= p.extents[--first];
  if (row * out_bytes < least) return;
  int chain[kMaxRank], count = 0;
  std::int64_t run = 1;
  for (int axis = 0; axis < first && run * in_bytes < kJoinedBytes; ++axis) {
    if (p.in_strides[axis] != run || p.extents[axis] == 1) continue;
    chain[count++] = axis;
    run *= p.extents[axis];
    axis = -1;
  }
  if (count < 2 || run * in_bytes < kSquareBytes) return;
  const CopyParams nest = p;
  int to = 0;
  const auto put = [&](int axis) {
    p.extents[to] = nest.extents[axis];
    p.in_strides[to] = nest.in_strides[axis];
    p.out_strides[to++] = nest.out_strides[axis];
  };
  for (int axis = 0; axis < first; ++axis) {
    if (std::find(chain, chain + count, axis) == chain + count) put(axis);
  }
  while (count > 0) put(chain[--count]);
  for (int axis = first; axis <= last; ++axis) put(axis);
}

}  // namespace relayout::native
