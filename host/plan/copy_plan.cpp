#include "host/plan/copy_plan.hpp"

#include <cstdlib>

namespace relayout::plan {
namespace {

/// Below this a tile's lanes are mostly idle, and the gather's scattered reads cost less.
constexpr std::int64_t kShortestTileAxis = 8;

}  // namespace

CopyPlan choose_copy(const LoopNest& nest) {
  CopyPlan plan;
  if (nest.rank() == 0) return plan;
  const Dims& in = nest.strides[1];
  const int last = nest.rank() - 1;
  plan.in_axis = last;
  for (int axis = last - 1; axis >= 0; --axis) {
    const std::int64_t stride = std::abs(in[axis]), best = std::abs(in[plan.in_axis]);
    // A repeated axis (stride 0) needs no reads of its own: it is never the one to run along.
    if (stride != 0 && (stride < best || best == 0)) plan.in_axis = axis;
  }
  if (plan.in_axis != last && nest.extents[plan.in_axis] >= kShortestTileAxis &&
      nest.extents[last] >= kShortestTileAxis && in[last] != 0) {
    plan.kernel = CopyKernel::tile;
  }
  return plan;
}

}  // namespace relayout::plan
