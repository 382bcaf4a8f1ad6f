// The kernels for one operation on two operands of known types: what is in their way, and which of them takes
// it.
#pragma once

#include <cstdint>

#include "core/elementwise_params.hpp"

#include <relayout/device.hpp>

namespace relayout::plan {

/// Null: one of these kernels has an instance for the operation and its types, and strips reach its tensors.
const char* obstacle_to_typed(const ElementwiseParams& params);
/// The same of the kernel for an operand that lies across the output's rows, where a typed kernel takes it.
const char* obstacle_to_transposed(const DeviceProperties& device, const ElementwiseParams& params);

/// Chooses among the others by where the tensors lie.
ElementwiseKernel typed_kernel(const ElementwiseParams& params);

/// Whether rows lie in aligned vectors, which end with one or are long.
bool has_vectors_in_rows(const ElementwiseParams& params);
/// Whether the output has so many bytes.
bool has_bytes(const ElementwiseParams& params, std::int64_t bytes);

/// The tensor that is an operand of the first operation; below 0: a constant, or there is no such operand.
inline int tensor_of_operand(const ElementwiseParams& p, int operand) {
  return operand < p.step[0].operands ? p.argument[operand].tensor : -1;
}

/// The kernels of two operands: of these, in their order, are their tensors 0 and 1.
constexpr bool has_operands_placed(ElementwiseKernel kernel) {
  return kernel <= ElementwiseKernel::transposed;
}

/// Kernels of two operands need them as tensors 0 and 1, and constants as tensors without memory; others have
/// nothing to place.
void place_operands(ElementwiseParams& params);

}  // namespace relayout::plan
