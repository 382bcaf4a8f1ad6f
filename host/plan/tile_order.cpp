#include "host/plan/tile_order.hpp"

#include <algorithm>
#include <cstdlib>

namespace relayout::plan {

bool TileOrder::in_run(int axis) const noexcept {
  return std::find(axes.begin(), axes.begin() + run, axis) != axes.begin() + run;
}

AxisOrder sorted_by(const Dims& strides) {
  AxisOrder order{};
  const int rank = static_cast<int>(strides.size());
  for (int k = 0; k < rank; ++k) order[k] = static_cast<std::int8_t>(rank - 1 - k);
  const auto key = [&](int axis) { return strides[axis] == 0 ? INT64_MAX : std::abs(strides[axis]); };
  std::stable_sort(order.begin(), order.begin() + rank, [&](int a, int b) { return key(a) < key(b); });
  return order;
}

bool order_axes(const AxisOrder& order, const Dims& strides, const Dims& nest_extents,
                const TileExtents& extent, const TileExtents& step, int end, TileOrder& result) {
  result = TileOrder{};
  bool gapless = true, in_run = true;
  for (std::size_t k = 0; k < nest_extents.size(); ++k) {
    const int axis = order[k];
    const bool follows = gapless && strides[axis] == result.gapless_elements;
    gapless = follows && step[axis] == nest_extents[axis];
    if (extent[axis] == 1) continue;
    if (result.count == kMostTileAxes) return false;
    if (follows) result.gapless_elements *= extent[axis];
    in_run = in_run && follows && axis != end;
    if (in_run) {
      result.run_elements *= extent[axis];
      ++result.run;
    }
    result.axes[result.count++] = static_cast<std::int8_t>(axis);
  }
  return result.run > 0;
}

}  // namespace relayout::plan
