#include "host/cpu/elementwise/elementwise_rows.hpp"

namespace relayout::native {

ElementwiseRow elementwise_row(Operation operation, const ElementwiseParams& p) {
  if (p.compute == ComputeClass::i32 || p.compute == ComputeClass::i64)
    return integer_row(operation, p.compute, is_unsigned(p.common));
  if (p.rounding != Rounding::nearest_even) {
    if (const ElementwiseRow row = directed_row(operation, p.compute)) return row;
  }
  if (const ElementwiseRow row = arithmetic_row(operation, p.compute)) return row;
  if (p.compute == ComputeClass::f32) {
    if (const ElementwiseRow row = vector_function_row(operation, p.common)) return row;
  }
  return function_row(operation, p.compute);
}

}  // namespace relayout::native
