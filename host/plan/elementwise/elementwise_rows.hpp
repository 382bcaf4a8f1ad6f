// How the element-wise kernels cut a loop nest: each row of the output into aligned vectors.
#pragma once

#include "core/elementwise_params.hpp"

namespace relayout {

/// Rows that are too short for vectors, of an output without gaps, joined to rows of the axis before:
/// operands that do not join as well are Access::periodic_row. For kernels on devices, before cut_rows.
void join_short_rows(ElementwiseParams& params);

/// Sets what of the parameters depends on where the memory is: width, row_vectors, vectors, divisors, and how
/// operands are accessed. All else is set.
void cut_rows(ElementwiseParams& params);

}  // namespace relayout
