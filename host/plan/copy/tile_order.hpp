// The axes of a nest, and of a tile, in the order in which an operand lies in memory.
#pragma once

#include <array>
#include <cstdint>

#include "host/plan/copy/tile_plan.hpp"

namespace relayout::plan {

/// All axes of a nest.
using AxisOrder = std::array<std::int8_t, kMaxRank>;

/// Whether `vector` elements, a power of two, divide this many.
inline bool whole_vectors(std::int64_t elements, std::int64_t vector) {
  return (elements & (vector - 1)) == 0;
}

/// Axes by stride, the smallest first; repeated axes (stride 0) last.
AxisOrder sorted_by(const Dims& strides);

/// The axes of a tile in the order of an operand with these strides. `nest_extents`: of the whole nest. False
/// without a run, or with too many axes.
bool order_axes(const AxisOrder& order, const Dims& strides, const Dims& nest_extents,
                const TileExtents& extent, const TileExtents& step, TileOrder& result);

/// The same order with a run that ends in front of `axis`, which may leave none.
TileOrder ended_at(const TileOrder& order, int axis, const TileExtents& extent);

}  // namespace relayout::plan
