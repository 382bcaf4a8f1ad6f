#include "host/plan/copy/copy_nest.hpp"

#include <algorithm>
#include <cstdlib>

namespace relayout::plan {
namespace {

/// What is left of one view's axes, the fewest in C order, while they are taken from the innermost on.
struct ViewAxes {
  Dims extents, strides;

  explicit ViewAxes(const TensorView& view) : extents(view.shape()), strides(view.strides()) {
    merge_axes(extents, &strides, 1);
  }
  /// The `extent` innermost indices.
  void take(std::int64_t extent) {
    if (extents.back() == extent) {
      extents.pop_back();
      strides.pop_back();
      return;
    }
    extents.back() /= extent;
    strides.back() *= extent;  // fits: two such steps or more lie within the axis
  }
};

}  // namespace

LoopNest common_nest(const TensorView& out, const TensorView& in) {
  LoopNest nest;
  nest.strides.resize(2);
  nest.offsets.assign(2, 0);
  if (out.elements() == 0) {
    nest.extents = {0};
    nest.strides.assign(2, {0});
    return nest;
  }
  ViewAxes outs(out), ins(in);
  const std::size_t most = outs.extents.size() + ins.extents.size();
  nest.extents.reserve(most);
  for (Dims& strides : nest.strides) strides.reserve(most);
  // From the innermost axes on; both always have as many elements left.
  while (!outs.extents.empty()) {
    const std::int64_t to = outs.extents.back(), from = ins.extents.back(), extent = std::min(to, from);
    if (to % extent != 0 || from % extent != 0) return LoopNest();
    nest.extents.push_back(extent);
    nest.strides[0].push_back(outs.strides.back());
    nest.strides[1].push_back(ins.strides.back());
    outs.take(extent);
    ins.take(extent);
  }
  std::reverse(nest.extents.begin(), nest.extents.end());
  for (Dims& strides : nest.strides) std::reverse(strides.begin(), strides.end());
  LoopNest normal = normalise(nest);
  return normal.rank() <= kMaxRank ? normal : LoopNest();
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
