#include "host/cpu/elementwise/elementwise_rows.hpp"

#include <algorithm>

#include "host/cpu/processor.hpp"

namespace relayout::native {
namespace {

/// bf16 to bf16, rounded to nearest.
bool is_on_bf16(const ElementwiseParams& p) {
  return p.out_type == DType::bf16 && p.rounding == Rounding::nearest_even &&
         std::all_of(p.tensor, p.tensor + p.tensors,
                     [](const TensorOperand& tensor) {
                       return tensor.reading == Reading::value && tensor.type == DType::bf16;
                     }) &&
         bf16_row(p.step[0].operation) != nullptr;
}

}  // namespace

bool is_short(const ElementwiseParams& p) {
  if (p.steps != 1 || p.convert || p.out_coded) return false;
  if (p.common == DType::bf16) return is_on_bf16(p);
  if (p.compute != ComputeClass::i32) return false;
  const std::size_t bytes = size_of(p.common);
  if (bytes > 2 || size_of(p.out_type) != bytes) return false;
  return std::all_of(p.tensor, p.tensor + p.tensors, [&](const TensorOperand& tensor) {
    return tensor.reading == Reading::as_bool ? bytes == 1
                                              : tensor.reading == Reading::value && tensor.type == p.common;
  });
}

ElementwiseRow elementwise_row(Operation operation, const ElementwiseParams& p) {
  if (is_short(p))
    return p.common == DType::bf16 ? bf16_row(operation) : short_integer_row(operation, p.common);
  if (p.compute == ComputeClass::i32 || p.compute == ComputeClass::i64)
    return integer_row(operation, p.compute, is_unsigned(p.common));
  if (p.rounding != Rounding::nearest_even) {
    if (const ElementwiseRow row = directed_row(operation, p.compute)) return row;
  }
  if (const ElementwiseRow row = arithmetic_row(operation, p.compute)) return row;
#if defined(RELAYOUT_X86)
  if (const ElementwiseRow row = avx512::vector_row(operation, p.compute, p.common)) return row;
  if (const ElementwiseRow row = avx2::vector_row(operation, p.compute, p.common)) return row;
#endif
  return function_row(operation, p.compute);
}

}  // namespace relayout::native
