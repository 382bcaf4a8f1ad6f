// The arithmetic of the element-wise operations, a row at a time.
#pragma once

#include <cstdint>

#include "core/bytes.hpp"
#include "core/elementwise_params.hpp"

namespace relayout::native {

/// Bytes of a computed number.
constexpr std::int64_t bytes_of(ComputeClass compute) {
  return compute == ComputeClass::i32 || compute == ComputeClass::f32 ? 4 : 8;
}
/// Whether one operation is computed on elements of 8 or 16 bits as they are: on integers of one type, on
/// bools, or an operation of few instructions on f16 or bf16, to elements as long, or compared to bools.
bool is_short(const ElementwiseParams& params);
/// Whether an operation that is_short() takes any byte but 0 for true.
bool takes_any_byte(const ElementwiseParams& params);
inline std::int64_t number_bytes(const ElementwiseParams& params) {
  return is_short(params) ? bytes_of(params.common) : bytes_of(params.compute);
}

/// r[i] = operation(a[i], b[i], c[i]) for i in [0, count), numbers of number_bytes(params); operands that
/// the operation does not have are not read. r may be any of the operands, but may not overlap them
/// otherwise. true is 1. Bits above the common type's own may come out wrong (round_row).
using ElementwiseRow = void (*)(const void* a, const void* b, const void* c, void* r, std::int64_t count,
                                const ElementwiseParams& params);

/// Whether the last operation compares numbers of which the output has the bools: equal, less, isnan and so
/// on.
bool is_compared(const ElementwiseParams& params);
/// The row of an operation that is_compared(). Its results are the output's bools instead of numbers: a byte
/// of 0 or 1 each. r is none of the operands.
ElementwiseRow comparison_row(Operation operation, const ElementwiseParams& params);

/// For params.compute, params.common and params.rounding.
ElementwiseRow elementwise_row(Operation operation, const ElementwiseParams& params);

/// The parts of that: null for an operation that they do not have.
ElementwiseRow integer_row(Operation operation, ComputeClass compute, bool is_unsigned);
/// On numbers of common's size.
ElementwiseRow short_integer_row(Operation operation, DType common);
ElementwiseRow arithmetic_row(Operation operation, ComputeClass compute);
/// On bytes, of which any but 0 is true.
ElementwiseRow bool_row(Operation operation);
/// On elements of f16 or bf16; and of these, those on elements of bf16 that are computed in f32.
ElementwiseRow half_row(Operation operation, DType common);
ElementwiseRow bf16_row(Operation operation);
ElementwiseRow function_row(Operation operation, ComputeClass compute);
/// Functions of f32 numbers of the common type f32, f16 or bf16, and of f64: in vectors, where this processor
/// and the C library have these.
namespace avx2 {
ElementwiseRow vector_row(Operation operation, ComputeClass compute, DType common);
}
namespace avx512 {
ElementwiseRow vector_row(Operation operation, ComputeClass compute, DType common);
}
/// With params.rounding, any.
ElementwiseRow directed_row(Operation operation, ComputeClass compute);

}  // namespace relayout::native
