#include "host/plan/elementwise/elementwise_tables.hpp"

#include <algorithm>
#include <array>
#include <cstdint>
#include <cstdlib>
#include <numeric>

#include "core/integer_math.hpp"

namespace relayout::plan {
namespace {

/// Positions of a block; and where an operand lies across the rows, of which a block then takes more. On an
/// H200 neither matters by more than 3 % between half and twice as many.
constexpr std::int64_t kPositions = 256, kPositionsAcross = 128;
/// Elements of a block: where there are fewer, the tables take as long as the elements; but small problems
/// are to fill the device, so blocks are smaller until there are so many.
constexpr std::int64_t kMostElements = 8192, kLeastElements = 1024, kManyBlocks = 2048;
constexpr std::int64_t kMaxRows = 128;
/// An axis is divided where the whole axes behind it are less than this part of the positions.
constexpr std::int64_t kLeastFilled = 2;

/// The tensor with most elements of those that are fastest across the output's rows; -1: there is none.
int tensor_across(const ElementwiseParams& p) {
  int across = -1;
  std::int64_t most = 0;
  for (int t = 0; t < p.tensors; ++t) {
    const std::int64_t step = std::abs(p.tensor[t].strides[p.rank - 1]);
    std::int64_t elements = 1, least = step;
    for (int axis = 0; axis < p.rank; ++axis) {
      const std::int64_t stride = std::abs(p.tensor[t].strides[axis]);
      if (stride == 0) continue;
      elements *= p.extents[axis];
      least = std::min(least, stride);
    }
    if (step == 0 || least == step || elements * p.tensor[t].bytes <= most) continue;
    most = elements * p.tensor[t].bytes;
    across = t;
  }
  return across;
}

/// Calls visit(list) for everything that has a number for each axis: the extents first, then the strides.
template <class Visit>
void for_each_list(ElementwiseParams& p, Visit&& visit) {
  visit(p.extents);
  visit(p.out_strides);
  for (int t = 0; t < p.tensors; ++t) visit(p.tensor[t].strides);
}

/// Makes two axes of one: chunks of at most so many elements, as alike as can be, and the elements of one.
void divide_axis(ElementwiseParams& p, int axis, std::int64_t most) {
  for_each_list(
      p, [&](std::int64_t* list) { std::copy_backward(list + axis, list + p.rank, list + p.rank + 1); });
  ++p.rank;
  const std::int64_t extent = p.extents[axis], chunks = divide_up(extent, most),
                     chunk = divide_up(extent, chunks);
  p.divided_extent = static_cast<std::uint32_t>(extent);
  p.chunk = static_cast<std::uint32_t>(chunk);
  p.extents[axis] = divide_up(extent, chunk);
  p.extents[axis + 1] = chunk;
  p.out_strides[axis] *= chunk;
  for (int t = 0; t < p.tensors; ++t) p.tensor[t].strides[axis] *= chunk;
}

/// The axes of the rows, [0, count), in the order in which `tensor` lies, repeated ones slowest.
void sort_row_axes(ElementwiseParams& p, int count, int tensor) {
  std::array<int, kMaxRank> from;
  const auto end = from.begin() + count;
  std::iota(from.begin(), end, 0);
  const auto step = [&](int axis) {
    const auto stride = static_cast<std::uint64_t>(std::abs(p.tensor[tensor].strides[axis]));
    return stride - 1;  // the greatest where it is repeated
  };
  std::sort(from.begin(), end, [&](int a, int b) { return step(a) != step(b) ? step(a) > step(b) : a < b; });
  const auto chunk = std::find(from.begin(), end, p.chunk_axis);
  if (chunk != end) p.chunk_axis = static_cast<std::int32_t>(chunk - from.begin());
  for_each_list(p, [&](std::int64_t* list) {
    std::array<std::int64_t, kMaxRank> old;
    std::copy_n(list, count, old.begin());
    std::transform(from.begin(), end, list, [&](int axis) { return old[static_cast<std::size_t>(axis)]; });
  });
}

}  // namespace

const char* obstacle_to_tables(const ElementwiseParams& p) {
  if (!p.fits_32_bits) return "offsets need 64 bits";
  if (p.aligned && p.out_strides[p.rank - 1] == 1) return "all rows lie in aligned vectors";
  return nullptr;
}

void cut_table_blocks(ElementwiseParams& p) {
  const int across = tensor_across(p);
  const std::int64_t most = across < 0 ? kPositions : kPositionsAcross;
  std::int64_t positions = 1;
  int first = p.rank;  // axis of the positions
  while (first > 0 && positions * p.extents[first - 1] <= most) positions *= p.extents[--first];
  p.chunk_axis = -1;
  p.chunk = p.divided_extent = static_cast<std::uint32_t>(positions);
  p.chunk_positions = 1;
  if (first > 0 && positions * kLeastFilled < most && p.rank < kMaxRank) {
    divide_axis(p, first - 1, most / positions);
    p.chunk_axis = first - 1;
    p.chunk_positions = static_cast<std::uint32_t>(positions);
    positions *= p.extents[first];
  }
  p.whole_chunks = p.divided_extent % p.chunk == 0;
  p.position_axes = p.rank - first;
  p.block_positions = static_cast<std::int32_t>(positions);
  p.position_divisor = make_divisor(static_cast<std::uint32_t>(positions));
  p.adjacent_tensor = -1;
  if (across >= 0 && first > 0) {
    sort_row_axes(p, first, across);
    if (p.tensor[across].strides[first - 1] == 1) p.adjacent_tensor = across;
  }
  for (int t = 0; t < p.tensors; ++t) {
    TensorOperand& tensor = p.tensor[t];
    const bool repeated =
        std::all_of(tensor.strides, tensor.strides + first, [](std::int64_t stride) { return stride == 0; });
    tensor.access = repeated ? Access::repeated : Access::strided;
  }
  std::int64_t rows = 1;
  for (int axis = 0; axis < first; ++axis) rows *= p.extents[axis];
  p.rows = static_cast<std::uint32_t>(rows);
  const std::int64_t elements = std::clamp(p.elements / kManyBlocks, kLeastElements, kMostElements);
  const std::int64_t most_rows = std::min({divide_up(elements, positions), kMaxRows, rows});
  p.block_rows = static_cast<std::int32_t>(round_up<std::int64_t>(most_rows, p.width));
  p.blocks = divide_up<std::int64_t>(rows, p.block_rows);
  for (int axis = 0; axis < p.rank; ++axis)
    p.divisors[axis] = make_divisor(static_cast<std::uint32_t>(p.extents[axis]));
}

}  // namespace relayout::plan
