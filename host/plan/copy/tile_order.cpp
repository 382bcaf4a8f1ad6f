#include "host/plan/copy/tile_order.hpp"

#include <cstdlib>

namespace relayout::plan {

AxisOrder sorted_by(const Dims& strides) {
  AxisOrder order{};
  const auto key = [&](int axis) {
    const auto stride = strides[static_cast<std::size_t>(axis)];
    return stride == 0 ? INT64_MAX : std::abs(stride);
  };
  // By insertion: a few axes, mostly sorted, and no memory of its own.
  const int rank = static_cast<int>(strides.size());
  for (int k = 0; k < rank; ++k) {
    const int axis = rank - 1 - k;
    int place = k;
    for (; place > 0 && key(order[place - 1]) > key(axis); --place) order[place] = order[place - 1];
    order[place] = static_cast<std::int8_t>(axis);
  }
  return order;
}

bool order_axes(const AxisOrder& order, const Dims& strides, const Dims& nest_extents,
                const TileExtents& extent, const TileExtents& step, TileOrder& result) {
  result = TileOrder{};
  bool gapless = true, in_run = true;
  for (std::size_t k = 0; k < nest_extents.size(); ++k) {
    const int axis = order[k];
    const bool follows = gapless && strides[axis] == result.gapless_elements;
    gapless = follows && step[axis] == nest_extents[axis];
    if (extent[axis] == 1) continue;
    if (result.count == kMaxTileAxes) return false;
    if (follows) result.gapless_elements *= extent[axis];
    in_run = in_run && follows;
    if (in_run) {
      result.run_elements *= extent[axis];
      result.run_axes |= std::uint32_t{1} << axis;
      ++result.run;
    }
    result.axes[result.count++] = static_cast<std::int8_t>(axis);
  }
  return result.run > 0;
}

TileOrder ended_at(const TileOrder& order, int axis, const TileExtents& extent) {
  if (!order.in_run(axis)) return order;
  TileOrder result = order;
  result.run = 0;
  result.run_axes = 0;
  result.run_elements = 1;
  for (; order.axes[result.run] != axis; ++result.run) {
    const int inner = order.axes[result.run];
    result.run_axes |= std::uint32_t{1} << inner;
    result.run_elements *= extent[inner];
  }
  return result;
}

}  // namespace relayout::plan
