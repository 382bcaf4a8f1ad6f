// Operations without a tensor among their operands, as fills are: one result for all elements of the output.
#pragma once

#include "core/elementwise_params.hpp"

namespace relayout::native {

/// The result is computed once, and written everywhere.
void constant_elementwise(const ElementwiseParams& params);

}  // namespace relayout::native
