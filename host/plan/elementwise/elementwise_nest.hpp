// From a loop nest and addresses to finished parameters of an element-wise launch.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "core/elementwise_params.hpp"
#include "host/plan/loop_nest.hpp"

namespace relayout::plan {

/// The extents and strides. The nest has elements; operand 0 is the output, the others the tensors.
void set_nest(const LoopNest& nest, ElementwiseParams& params);

/// Where the memory is, one address for the output and for each tensor, to the nest's first elements.
void set_memory(const LoopNest& nest, const std::vector<const void*>& tensors, void* out,
                ElementwiseParams& params);

/// For kernels on devices: rows cut into vectors, and the kernel. All else is set.
void set_kernel(ElementwiseParams& params);

/// What set_kernel chose and why: "Kernel typed: 12 vectors of 4 elements, 3 a row. Not transposed: ...".
/// `params`: before set_kernel.
std::string explain_kernel(const ElementwiseParams& params);

}  // namespace relayout::plan
