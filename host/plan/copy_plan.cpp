#include "host/plan/copy_plan.hpp"

#include <cstdlib>

namespace relayout::plan {

CopyPlan choose_copy(const LoopNest& nest, const TileTarget& target) {
  CopyPlan plan;
  if (nest.rank() == 0) return plan;
  plan.tile = choose_tile(nest, target);
  if (plan.tile.valid) plan.kernel = CopyKernel::tile;
  return plan;
}

int fastest_input_axis(const LoopNest& nest) {
  const Dims& in = nest.strides[1];
  int fastest = nest.rank() - 1;
  for (int axis = nest.rank() - 2; axis >= 0; --axis) {
    const std::int64_t stride = std::abs(in[axis]), best = std::abs(in[fastest]);
    if (stride != 0 && (stride < best || best == 0)) fastest = axis;
  }
  return fastest;
}

}  // namespace relayout::plan
