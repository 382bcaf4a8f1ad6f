// out = alpha * in + beta * out over any loop nest, for elements of floating types.
#pragma once

#include "core/copy_params.hpp"

namespace relayout::native {

/// The product with alpha is rounded to fp32, or to double where an operand is f64. The sum is fused with the
/// product with beta, and the result is rounded to out's type. With a beta of 0, `out` is not read.
void scaled_copy(const CopyParams& params);

}  // namespace relayout::native
