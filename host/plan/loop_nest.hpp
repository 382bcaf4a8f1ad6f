// LoopNest: extents and, for each operand, an offset that is linear in the index. The one form of every
// operation.
#pragma once

#include <cstdint>
#include <vector>

#include "relayout/tensor_view.hpp"

namespace relayout::plan {

/// Element (i0, .., i_{r-1}) of operand p is at base p + offsets[p] + sum(i_k * strides[p][k]), in elements.
/// Operand 0 is the output. Axis rank-1 is the innermost loop.
struct LoopNest {
  Dims extents;
  std::vector<Dims> strides;          // [operand][axis]
  std::vector<std::int64_t> offsets;  // [operand]

  int rank() const noexcept { return static_cast<int>(extents.size()); }
  int operands() const noexcept { return static_cast<int>(strides.size()); }
  std::int64_t elements() const noexcept;
};

/// The least and the greatest offset of an operand's elements from its base, in elements.
struct OffsetRange {
  std::int64_t least = 0, greatest = 0;
};
OffsetRange offset_range(const LoopNest& nest, int operand);

/// The nest over views of one shape; operand 0 is the output. Throws Error{shape} naming both shapes.
LoopNest make_nest(const TensorView& out, const std::vector<TensorView>& inputs);

/// The same set of (output address, input addresses) tuples with the fewest axes: extent-1 axes dropped, axes
/// with a negative output stride flipped, axes sorted by output stride (then by the inputs'), neighbours
/// merged where every operand allows. A nest without elements becomes one axis of extent 0.
LoopNest normalise(const LoopNest& nest);

/// Drops axes of extent 1 and merges neighbours where every operand allows, in the order that they have.
void merge_axes(Dims& extents, Dims* strides, int operands);

/// The nest of one view with the fewest axes in C order; none for a single element.
LoopNest own_nest(const TensorView& view);

/// Whether two different indices may hit one address: axes sorted by |stride|, each must reach past all
/// smaller ones. Conservative: some exotic injective layouts are refused.
bool may_self_overlap(const TensorView& view);

}  // namespace relayout::plan
