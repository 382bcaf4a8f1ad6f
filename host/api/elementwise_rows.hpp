// How the element-wise kernels cut a loop nest: each row of the output into aligned vectors.
#pragma once

#include "kernels/elementwise_params.hpp"

namespace relayout {

/// Sets what of the parameters depends on where the output is: width, row_vectors, vectors, divisors. All
/// else is set, but for the data of tensors, which does not count.
void cut_rows(ElementwiseParams& params);

}  // namespace relayout
