// The oracle of operations on 8-bit codes: code q stands for scale * (q - zero). Every step in f32 is rounded
// once, in the order of the formulas.
#pragma once

#include <cmath>
#include <cstdint>
#include <vector>

#include "host/reference/arithmetic.hpp"

namespace relayout::reference {

/// Codes and zero points of u8 are 0..255, those of i8 -128..127.
struct QuantizedNumber {
  int code;
  float scale;
  int zero;
};

/// f32((code - zero) * scale), as bits.
inline std::uint64_t dequantize(const QuantizedNumber& number) {
  return to_float_bits(odd_product(number.code - number.zero, number.scale), DType::f32,
                       Rounding::nearest_even, false);
}

/// The 8 bits of the code clamp(rne(f32(x / scale)) + zero) of an f32 x, given as bits; NaN gives the zero
/// point.
inline std::uint64_t quantize(std::uint64_t x, float scale, int zero, bool is_unsigned) {
  const DType codes = is_unsigned ? DType::u8 : DType::i8;
  const long double units = rounded(DType::f32, odd_quotient(exact_value(DType::f32, x), scale));
  if (std::isnan(units)) return to_integer_bits(zero, codes, true);
  const long double whole = std::isinf(units) ? units : round_to_whole(units, Rounding::nearest_even);
  return to_integer_bits(whole + zero, codes, true);
}

/// The 8 bits of the result's code. Relational and logical operations and predicates give the bits of a bool,
/// for which the scale and the zero point of the result mean nothing.
inline std::uint64_t quantized(Operation operation, const std::vector<QuantizedNumber>& operands,
                               float out_scale, int out_zero, bool is_unsigned,
                               const IsCloseTolerance& tolerance = {}) {
  std::uint64_t bits[3] = {};
  for (std::size_t i = 0; i < operands.size(); ++i) {
    bits[i] = dequantize(operands[i]);
    const bool to_bool = is_logical(operation) || (operation == Operation::where && i == 0);
    if (to_bool) bits[i] = truth(DType::f32, bits[i]);
  }
  const std::uint64_t result = apply(operation, DType::f32, bits[0], bits[1], bits[2], tolerance);
  if (result_type(operation, DType::f32) == DType::bool_) return result;
  return quantize(result, out_scale, out_zero, is_unsigned);
}

}  // namespace relayout::reference
