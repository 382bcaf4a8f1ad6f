// Functions of f32 numbers that are computed in f64, of which f32 needs only half the digits: short
// polynomials do, and no pair of numbers. The result is rounded once, to f32.
#pragma once

#include "host/cpu/elementwise/double_pairs.hpp"
#include "host/cpu/elementwise/elementwise_rows.hpp"
#include "host/cpu/elementwise/exponential_functions.hpp"
#include "host/cpu/elementwise/quarter_turns.hpp"

#if defined(RELAYOUT_X86)

namespace relayout::native::RELAYOUT_VECTORS {

/// The exponential of r between -0.35 and 0.35; the first term that is left out is below 2^-32 of it.
RELAYOUT_VECTOR inline Doubles short_exponential(Doubles r) {
  constexpr double kFactors[] = {1.0,       1.0,       1.0 / 2,    1.0 / 6,    1.0 / 24,
                                 1.0 / 120, 1.0 / 720, 1.0 / 5040, 1.0 / 40320};
  return series_of(kFactors, r);
}
/// Beyond these limits the result is 0 or infinite in f32.
RELAYOUT_VECTOR inline Doubles single_exp_of(Doubles x) {
  constexpr double kLog2 = 0x1.62e42fefa39efp-1;
  const Doubles near = between(-120, 120, x), exponent = whole_of(near * all(1 / kLog2));
  return short_exponential(fnma(exponent, all(kLog2), near)) * power_of_2(exponent);
}
RELAYOUT_VECTOR inline Doubles single_exp2_of(Doubles x) {
  const Doubles near = between(-180, 180, x), exponent = whole_of(near);
  return short_exponential((near - exponent) * all(0x1.62e42fefa39efp-1)) * power_of_2(exponent);
}

/// exp(x) - 1, which loses no digits next to 0.
RELAYOUT_VECTOR inline Doubles short_growth(Doubles x) {
  constexpr double kLog2 = 0x1.62e42fefa39efp-1;
  constexpr double kFactors[] = {1.0,       1.0 / 2,   1.0 / 6,    1.0 / 24,
                                 1.0 / 120, 1.0 / 720, 1.0 / 5040, 1.0 / 40320};
  const Doubles near = between(-120, 120, x), exponent = whole_of(near * all(1 / kLog2));
  const Doubles r = fnma(exponent, all(kLog2), near), power = power_of_2(exponent);
  return fma(power, r * series_of(kFactors, r), power - all(1));
}
RELAYOUT_VECTOR inline Doubles single_expm1_of(Doubles x) { return unless_zero(x, short_growth(x)); }
RELAYOUT_VECTOR inline Doubles single_tanh_of(Doubles x) {
  const Doubles growth = short_growth(all(2) * magnitude(x));
  return with_sign(growth / (growth + all(2)), x);
}
RELAYOUT_VECTOR inline Doubles single_sinh_of(Doubles x) {
  const Doubles growth = short_growth(magnitude(x));
  return with_sign(all(0.5) * (growth + growth / (growth + all(1))), x);
}
RELAYOUT_VECTOR inline Doubles single_cosh_of(Doubles x) {
  const Doubles power = single_exp_of(magnitude(x));
  return all(0.5) * (power + all(1) / power);
}

/// The sine and the cosine of r between -0.8 and 0.8, by the polynomials of glibc's sinf and cosf.
RELAYOUT_VECTOR inline Doubles short_sine(Doubles r) {
  constexpr double kFactors[] = {-0x1.555545995a603p-3, 0x1.1107605230bc4p-7, -0x1.994eb3774cf24p-13};
  const Doubles square = r * r;
  return fma(r * square, series_of(kFactors, square), r);
}
RELAYOUT_VECTOR inline Doubles short_cosine(Doubles r) {
  constexpr double kFactors[] = {1.0, -0x1.ffffffd0c621cp-2, 0x1.55553e1068f19p-5, -0x1.6c087e89a359dp-10,
                                 0x1.99343027bf8c3p-16};
  return series_of(kFactors, r * r);
}
RELAYOUT_VECTOR inline Doubles single_sin_of(Doubles x) {
  const QuarterTurns turns(x);
  const Doubles is_odd = of_bits(up<63>(turns.quarters)), sign = of_bits(up<62>(turns.quarters));
  return unless_zero(x, flipped(if_signed(is_odd, short_cosine(turns.rest), short_sine(turns.rest)), sign));
}
RELAYOUT_VECTOR inline Doubles single_cos_of(Doubles x) {
  const QuarterTurns turns(x);
  const Doubles is_odd = of_bits(up<63>(turns.quarters));
  const Doubles sign = of_bits(up<62>(sum(turns.quarters, all_wholes(1))));
  return flipped(if_signed(is_odd, short_sine(turns.rest), short_cosine(turns.rest)), sign);
}
RELAYOUT_VECTOR inline Doubles single_tan_of(Doubles x) {
  const QuarterTurns turns(x);
  const Doubles is_odd = of_bits(up<63>(turns.quarters));
  const Doubles sine = short_sine(turns.rest), cosine = short_cosine(turns.rest);
  const Doubles ratio = if_signed(is_odd, cosine, sine) / if_signed(is_odd, sine, cosine);
  return unless_zero(x, flipped(ratio, is_odd));
}

template <Doubles (*kFunction)(Doubles)>
RELAYOUT_VECTOR inline Floats of_singles(Floats x) {
  return floats_of(kFunction(first_half(x)), kFunction(second_half(x)));
}
/// An ElementwiseRow of a function of f64 on f32 numbers. A row's last numbers are computed in a whole
/// vector, too.
template <Doubles (*kFunction)(Doubles)>
RELAYOUT_VECTOR void row_of_singles(const void* a, const void*, const void*, void* r, std::int64_t count,
                                    const ElementwiseParams&) {
  const auto* const x = static_cast<const float*>(a);
  auto* const result = static_cast<float*>(r);
  std::int64_t i = 0;
  for (; i + kFloats <= count; i += kFloats) store(of_singles<kFunction>(load(x + i)), result + i);
  if (i == count) return;
  float last[kFloats] = {};
  const std::size_t bytes = static_cast<std::size_t>(count - i) * sizeof(float);
  std::memcpy(last, x + i, bytes);
  store(of_singles<kFunction>(load(last)), last);
  std::memcpy(result + i, last, bytes);
}

/// Null for another operation.
inline ElementwiseRow single_row(Operation operation) {
  switch (operation) {
    case Operation::exp:
      return row_of_singles<single_exp_of>;
    case Operation::exp2:
      return row_of_singles<single_exp2_of>;
    case Operation::expm1:
      return row_of_singles<single_expm1_of>;
    case Operation::sinh:
      return row_of_singles<single_sinh_of>;
    case Operation::cosh:
      return row_of_singles<single_cosh_of>;
    case Operation::tanh:
      return row_of_singles<single_tanh_of>;
    case Operation::sin:
      return row_of_singles<single_sin_of>;
    case Operation::cos:
      return row_of_singles<single_cos_of>;
    case Operation::tan:
      return row_of_singles<single_tan_of>;
    default:
      return nullptr;
  }
}

}  // namespace relayout::native::RELAYOUT_VECTORS
#endif
