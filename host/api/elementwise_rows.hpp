// How the element-wise kernels cut a loop nest: each row of the output into aligned vectors.
#pragma once

#include "kernels/elementwise_params.hpp"

namespace relayout {

/// Sets what of the parameters depends on where the memory is: width, row_vectors, vectors, divisors, and how
/// operands are accessed. All else is set.
void cut_rows(ElementwiseParams& params);

}  // namespace relayout
