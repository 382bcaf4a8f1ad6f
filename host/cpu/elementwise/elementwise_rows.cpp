#include "host/cpu/elementwise/elementwise_rows.hpp"

#include <algorithm>

namespace relayout::native {

bool is_short(const ElementwiseParams& p) {
  if (p.compute != ComputeClass::i32 || p.steps != 1 || p.convert || p.out_coded) return false;
  if (kind_of(p.step[0].operation) == OperationKind::shift)
    return false;  // vectors of these shift by one number
  const std::size_t bytes = size_of(p.common);
  if (bytes > 2 || size_of(p.out_type) != bytes) return false;
  return std::all_of(p.tensor, p.tensor + p.tensors, [&](const TensorOperand& tensor) {
    return tensor.reading == Reading::as_bool ? bytes == 1
                                              : tensor.reading == Reading::value && tensor.type == p.common;
  });
}

ElementwiseRow elementwise_row(Operation operation, const ElementwiseParams& p) {
  if (is_short(p)) return short_integer_row(operation, p.common);
  if (p.compute == ComputeClass::i32 || p.compute == ComputeClass::i64)
    return integer_row(operation, p.compute, is_unsigned(p.common));
  if (p.rounding != Rounding::nearest_even) {
    if (const ElementwiseRow row = directed_row(operation, p.compute)) return row;
  }
  if (const ElementwiseRow row = arithmetic_row(operation, p.compute)) return row;
  if (p.compute == ComputeClass::f32) {
    if (const ElementwiseRow row = vector_function_row(operation, p.common)) return row;
  }
  if (p.compute == ComputeClass::f64) {
    if (const ElementwiseRow row = exponential_row(operation)) return row;
    if (const ElementwiseRow row = sine_row(operation)) return row;
  }
  return function_row(operation, p.compute);
}

}  // namespace relayout::native
