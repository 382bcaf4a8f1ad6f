// Chooses the element-wise kernel of a launch: the first of the list, from the fastest on, that can take it.
// The kernels before it say what is in their way.
#pragma once

#include "core/elementwise_params.hpp"

#include <relayout/device.hpp>

namespace relayout::plan {

/// The kernel, and why others were not taken; null where one could be taken, or is out of the question.
struct KernelChoice {
  ElementwiseKernel kernel = ElementwiseKernel::program;
  const char *not_code_rows = nullptr, *not_one_on_codes = nullptr, *not_transposed = nullptr,
             *not_typed = nullptr, *not_mixed = nullptr, *not_chain = nullptr, *not_strips = nullptr,
             *not_vectors = nullptr;
};

/// Cuts the rows as the kernel wants them and chooses it. All else is set.
KernelChoice choose_kernel(const DeviceProperties& device, ElementwiseParams& params);

}  // namespace relayout::plan
