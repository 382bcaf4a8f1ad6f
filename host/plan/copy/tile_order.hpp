// The order in which an operand walks the axes of a tile, and how far it goes before it has to jump.
#pragma once

#include <array>
#include <cstdint>

#include "relayout/tensor_view.hpp"

namespace relayout::plan {

constexpr int kMaxTileAxes = 6;

/// The tile's axes, an operand's fastest first. The first `run` of them follow each other in memory without a
/// gap: `run_elements` in a row.
struct TileOrder {
  std::array<std::int8_t, kMaxTileAxes> axes{};
  int count = 0, run = 0;
  std::uint32_t run_axes = 0;  // of the nest: a bit for each that the run goes along
  std::int64_t run_elements = 1;
  /// Elements that follow each other without a gap, those of the rest included.
  std::int64_t gapless_elements = 1;

  bool in_run(int axis) const noexcept { return (run_axes >> axis & 1) != 0; }
};

/// All axes of a nest.
using AxisOrder = std::array<std::int8_t, kMaxRank>;
/// Extents of a tile, or the steps from tile to tile, along the axes of a nest.
using TileExtents = std::array<std::int32_t, kMaxRank>;

/// Axes by stride, the smallest first; repeated axes (stride 0) last.
AxisOrder sorted_by(const Dims& strides);

/// The axes of a tile in the order of an operand with these strides. `nest_extents`: of the whole nest. False
/// without a run, or with too many axes.
bool order_axes(const AxisOrder& order, const Dims& strides, const Dims& nest_extents,
                const TileExtents& extent, const TileExtents& step, TileOrder& result);

/// The same order with a run that ends in front of `axis`, which may leave none.
TileOrder ended_at(const TileOrder& order, int axis, const TileExtents& extent);

}  // namespace relayout::plan
