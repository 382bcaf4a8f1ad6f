// The order in which an element-wise operation walks its nest.
#pragma once

#include "core/elementwise_params.hpp"

namespace relayout::native {

/// The same operation with the axes in the output's order, or in that of an operand where fewer rows begin.
ElementwiseParams in_best_order(const ElementwiseParams& params);

}  // namespace relayout::native
