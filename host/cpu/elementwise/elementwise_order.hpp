// The order in which an element-wise operation walks its nest.
#pragma once

#include <optional>

#include "core/elementwise_params.hpp"

namespace relayout::native {

/// The same operation with the axes in the order of an operand, where fewer rows begin than in the output's.
std::optional<ElementwiseParams> in_better_order(const ElementwiseParams& params);

}  // namespace relayout::native
