#include "host/plan/copy/merged_axes.hpp"

#include "host/plan/checked_math.hpp"

namespace relayout::plan {

std::vector<ViewAxis> merged_axes(const TensorView& view) {
  std::vector<ViewAxis> axes;
  axes.reserve(view.shape().size());
  for (std::size_t k = 0; k < view.shape().size(); ++k) {
    const ViewAxis axis{view.shape()[k], view.strides()[k]};
    if (axis.extent == 1) continue;
    std::int64_t joined = 0;
    if (!axes.empty() && multiply(axis.extent, axis.stride, joined) && axes.back().stride == joined) {
      axes.back() = {axes.back().extent * axis.extent, axis.stride};
    } else {
      axes.push_back(axis);
    }
  }
  return axes;
}

}  // namespace relayout::plan
