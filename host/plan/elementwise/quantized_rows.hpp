// How the kernels of 8-bit codes cut a loop nest, and which of them takes it.
#pragma once

#include "core/quantized_params.hpp"

namespace relayout {

/// Sets kernel, width, row_vectors, vectors, divisors, and how tensors are accessed. All else is set.
void cut_rows(QuantizedParams& params);

}  // namespace relayout
