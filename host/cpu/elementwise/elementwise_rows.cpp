#include "host/cpu/elementwise/elementwise_rows.hpp"

#include <algorithm>

#include "core/operation_kind.hpp"
#include "host/cpu/processor.hpp"

namespace relayout::native {
namespace {

/// f16 to f16 or bf16 to bf16, rounded to nearest, or compared.
bool is_on_halves(const ElementwiseParams& p) {
  const bool computed = p.out_type == p.common && p.rounding == Rounding::nearest_even &&
                        half_row(p.step[0].operation, p.common) != nullptr;
  return (computed || is_compared(p)) &&
         std::all_of(p.tensor, p.tensor + p.tensors, [&](const TensorOperand& tensor) {
           return tensor.reading == Reading::value && tensor.type == p.common;
         });
}

}  // namespace

bool is_compared(const ElementwiseParams& p) {
  if (p.steps == 0 || p.out_type != DType::bool_ || p.common == DType::bool_ || p.convert || p.out_coded)
    return false;
  const Operation last = p.step[p.steps - 1].operation;
  const OperationKind kind = kind_of(last);
  return last != Operation::isclose &&
         (kind == OperationKind::relational || kind == OperationKind::predicate);
}

bool is_short(const ElementwiseParams& p) {
  if (p.steps != 1 || p.convert || p.out_coded) return false;
  if (p.common == DType::f16 || p.common == DType::bf16) return is_on_halves(p);
  if (p.compute != ComputeClass::i32) return false;
  const std::size_t bytes = size_of(p.common);
  return bytes <= 2 && std::all_of(p.tensor, p.tensor + p.tensors, [&](const TensorOperand& tensor) {
           return tensor.reading == Reading::as_bool
                      ? bytes == 1
                      : tensor.reading == Reading::value && tensor.type == p.common;
         });
}

bool takes_any_byte(const ElementwiseParams& p) {
  return p.common == DType::bool_ && bool_row(p.step[0].operation) != nullptr &&
         std::all_of(p.tensor, p.tensor + p.tensors,
                     [](const TensorOperand& tensor) { return size_of(tensor.type) == 1; });
}

ElementwiseRow elementwise_row(Operation operation, const ElementwiseParams& p) {
  if (is_short(p)) {
    if (p.compute == ComputeClass::f32) return half_row(operation, p.common);
    return takes_any_byte(p) ? bool_row(operation) : short_integer_row(operation, p.common);
  }
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
