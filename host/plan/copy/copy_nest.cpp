#include "host/plan/copy/copy_nest.hpp"

#include <algorithm>
#include <cstdlib>

#include "host/plan/copy/merged_axes.hpp"

namespace relayout::plan {
namespace {

LoopNest empty_nest(std::size_t operands) {
  LoopNest nest;
  nest.strides.resize(operands);
  nest.offsets.assign(operands, 0);
  return nest;
}

/// What is left of an axis after its `extent` innermost indices.
void take_from(std::vector<ViewAxis>& axes, std::int64_t extent) {
  ViewAxis& axis = axes.back();
  if (axis.extent == extent) return axes.pop_back();
  axis.extent /= extent;
  axis.stride *= extent;  // fits: two such steps or more lie within the axis
}

}  // namespace

LoopNest common_nest(const TensorView& out, const TensorView& in) {
  LoopNest nest = empty_nest(2);
  if (out.elements() == 0) {
    nest.extents = {0};
    nest.strides.assign(2, {0});
    return nest;
  }
  std::vector<ViewAxis> outs = merged_axes(out), ins = merged_axes(in);
  const std::size_t most = outs.size() + ins.size();
  nest.extents.reserve(most);
  for (Dims& strides : nest.strides) strides.reserve(most);
  // From the innermost axes on; both always have as many elements left.
  while (!outs.empty()) {
    const ViewAxis to = outs.back(), from = ins.back();
    const std::int64_t extent = std::min(to.extent, from.extent);
    if (to.extent % extent != 0 || from.extent % extent != 0) return LoopNest();
    nest.extents.push_back(extent);
    nest.strides[0].push_back(to.stride);
    nest.strides[1].push_back(from.stride);
    take_from(outs, extent);
    take_from(ins, extent);
  }
  std::reverse(nest.extents.begin(), nest.extents.end());
  for (Dims& strides : nest.strides) std::reverse(strides.begin(), strides.end());
  LoopNest normal = normalise(nest);
  return normal.rank() <= kMaxRank ? normal : LoopNest();
}

LoopNest own_nest(const TensorView& view) {
  LoopNest nest = empty_nest(1);
  for (const ViewAxis& axis : merged_axes(view)) {
    nest.extents.push_back(axis.extent);
    nest.strides[0].push_back(axis.stride);
  }
  return nest;
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
