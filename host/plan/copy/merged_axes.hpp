// The axes of one view by themselves, in C order, where no other operand keeps them apart.
#pragma once

#include <cstdint>
#include <vector>

#include "relayout/tensor_view.hpp"

namespace relayout::plan {

/// An axis of extent above 1.
struct ViewAxis {
  std::int64_t extent, stride;
};

/// The fewest axes with the same elements in the same order; none for a single element.
std::vector<ViewAxis> merged_axes(const TensorView& view);

}  // namespace relayout::plan
