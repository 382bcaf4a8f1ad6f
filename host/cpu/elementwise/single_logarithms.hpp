// log and log1p of f32 numbers, in f32: x is 2^exponent * (1 + f), where 1 + f lies between 3 / 4 and 3 / 2.
// By the polynomial of fdlibm (e_logf.c). log is off by less than a unit, log1p by less than 2.4.
#pragma once

#include "host/cpu/elementwise/elementwise_rows.hpp"
#include "host/cpu/elementwise/vector_words.hpp"

#if defined(RELAYOUT_X86)

namespace relayout::native::RELAYOUT_VECTORS {

/// exponent * log(2) + log(1 + f).
RELAYOUT_VECTOR inline Floats single_log_of_parts(Floats exponent, Floats f) {
  constexpr float kHigh = 0x1.62e3p-1F, kLow = 0x1.2fefa2p-17F;  // log(2); the first product is exact
  constexpr float kFactors[] = {0.66666662693F, 0.40000972152F, 0.28498786688F, 0.24279078841F};
  const Floats s = f / (all_floats(2) + f), square = s * s, half = all_floats(0.5) * (f * f);
  const Floats rest = half + square * series_of(kFactors, square);
  const Floats tail = fma(s, rest, exponent * all_floats(kLow));
  return fma(exponent, all_floats(kHigh), f - (half - tail));
}
RELAYOUT_VECTOR inline Floats single_log_of(Floats x) {
  constexpr float kLeastNormal = 0x1p-126F, kDigits = 24;
  const Floats least = all_floats(kLeastNormal), zero = all_floats(0);
  const Floats scale = if_less(x, least, all_floats(kDigits), zero);
  Floats exponent;
  const Floats fraction = fraction_of(if_less(x, least, x * all_floats(0x1p24F), x), exponent);
  return if_has_logarithm(x, single_log_of_parts(exponent - scale, fraction - all_floats(1)));
}
/// log(1 + x). The sum is rounded, for at most 1.5 units of the result; where the exponent is 0, the fraction
/// is x itself.
RELAYOUT_VECTOR inline Floats single_log1p_of(Floats x) {
  const Floats moved = all_floats(1) + x;
  Floats exponent;
  const Floats fraction = fraction_of(moved, exponent);
  const Floats f = if_equal(exponent, all_floats(0), x, fraction - all_floats(1));
  return unless_zero(x, if_has_logarithm(moved, single_log_of_parts(exponent, f)));
}

/// Null for another operation.
inline ElementwiseRow single_logarithm_row(Operation operation) {
  switch (operation) {
    case Operation::log:
      return row_of_floats<single_log_of>;
    case Operation::log1p:
      return row_of_floats<single_log1p_of>;
    default:
      return nullptr;
  }
}

}  // namespace relayout::native::RELAYOUT_VECTORS
#endif
