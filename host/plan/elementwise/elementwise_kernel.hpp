// Which of the element-wise kernels takes a launch: the first of the list that can, from the fastest on. Each
// of the others says what is in its way.
#pragma once

#include "core/elementwise_params.hpp"

namespace relayout::plan {

/// Null: it could be taken, or is out of the question.
struct KernelChoice {
  ElementwiseKernel kernel = ElementwiseKernel::program;
  const char *not_code_rows = nullptr, *not_one_on_codes = nullptr, *not_transposed = nullptr,
             *not_typed = nullptr, *not_mixed = nullptr, *not_chain = nullptr, *not_tables = nullptr,
             *not_vectors = nullptr;
};

/// Cuts the rows as the kernel wants them and chooses it. All else is set.
KernelChoice choose_kernel(ElementwiseParams& params);

/// Sets the kernel. Those of two operands want them as tensors 0 and 1, constants being tensors without
/// memory.
void place_operands(const KernelChoice& choice, ElementwiseParams& params);

}  // namespace relayout::plan
