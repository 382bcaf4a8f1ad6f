// From a loop nest and addresses to finished parameters of an element-wise launch.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "core/elementwise_params.hpp"
#include "host/plan/loop_nest.hpp"

#include <relayout/device.hpp>

namespace relayout::plan {

/// Sets the extents and strides. The nest has elements; operand 0 is the output, the others are the tensors.
void set_nest(const LoopNest& nest, ElementwiseParams& params);

/// Sets the addresses of the nest's first elements, from those of the output and of each tensor.
void set_memory(const LoopNest& nest, const std::vector<const void*>& tensors, void* out,
                ElementwiseParams& params);

/// Cuts rows into vectors and sets the kernel, for kernels on devices. All else must be set.
void set_kernel(const DeviceProperties& device, ElementwiseParams& params);

/// set_memory() for parameters that set_kernel() has seen with other addresses, which lie_alike(); not of
/// codes, whose tensors it numbers anew.
void set_memory_anew(const LoopNest& nest, const std::vector<const void*>& tensors, void* out,
                     ElementwiseParams& params);

/// Whether two addresses are as far behind the last multiple of what kernels are chosen by.
inline bool lie_alike(const void* a, const void* b) {
  // A vector has 32 bytes at most: two elements of 16.
  constexpr std::uintptr_t kMultiple = 128;
  return (reinterpret_cast<std::uintptr_t>(a) ^ reinterpret_cast<std::uintptr_t>(b)) % kMultiple == 0;
}

/// What set_kernel chose and why: "Kernel typed: 12 vectors of 4 elements, 3 a row. Not transposed: ...".
/// `params` are those before set_kernel.
std::string explain_kernel(const DeviceProperties& device, const ElementwiseParams& params);

}  // namespace relayout::plan
