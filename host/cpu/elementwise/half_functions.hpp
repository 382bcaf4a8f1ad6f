// Functions of f16 numbers, and gelu of bf16, computed in f32, of whose digits they need half: short
// polynomials do, and no call of a library. All f16 numbers are normal in f32, and so are the results before
// they are rounded.
#pragma once

#include "host/cpu/elementwise/elementwise_rows.hpp"
#include "host/cpu/elementwise/vector_words.hpp"

#if defined(RELAYOUT_X86)

namespace relayout::native::RELAYOUT_VECTORS {

/// x as exponent + rest, in powers of 2. Beyond 60 the powers, and products of two of them, are 0 or infinite
/// in f16, and none is in f32.
struct HalfExponent {
  Floats exponent, rest;

  RELAYOUT_VECTOR explicit HalfExponent(Floats x, float most = 60) {
    const Floats near = at_least(all_floats(-most), at_most(all_floats(most), x));
    exponent = whole_of(near);
    rest = near - exponent;
  }
};
/// 2^x to 2^-18 of itself: a minimax polynomial between -1/2 and 1/2.
RELAYOUT_VECTOR inline Floats half_power(const HalfExponent& e) {
  constexpr float kFactors[] = {0x1.ffffe8p-1F, 0x1.62e0dcp-1F, 0x1.ec06dap-3F, 0x1.ca1440p-5F,
                                0x1.3997d4p-7F};
  return times_power(series_of(kFactors, e.rest), e.exponent);
}
RELAYOUT_VECTOR inline Floats half_exp2_of(Floats x) { return half_power(HalfExponent(x)); }
RELAYOUT_VECTOR inline Floats half_exp_of(Floats x) { return half_exp2_of(x * all_floats(1 / kLog2)); }
/// exp(x) - 1, which loses no digits next to 0.
RELAYOUT_VECTOR inline Floats half_growth(Floats x) {
  constexpr float kFactors[] = {0x1.62e42ep-1F, 0x1.ebfa4ep-3F, 0x1.c6b26ep-5F, 0x1.3cbe58p-7F,
                                0x1.5d87dcp-10F};
  const HalfExponent e(x * all_floats(1 / kLog2));
  const Floats power = times_power(all_floats(1), e.exponent);
  return fma(power, e.rest * series_of(kFactors, e.rest), power - all_floats(1));
}
RELAYOUT_VECTOR inline Floats half_expm1_of(Floats x) { return unless_zero(x, half_growth(x)); }
RELAYOUT_VECTOR inline Floats half_tanh_of(Floats x) {
  const Floats growth = half_growth(magnitude(x + x));
  return with_sign(growth / (growth + all_floats(2)), x);
}
RELAYOUT_VECTOR inline Floats half_sinh_of(Floats x) {
  const Floats growth = half_growth(magnitude(x));
  return with_sign(all_floats(0.5) * (growth + growth / (growth + all_floats(1))), x);
}
RELAYOUT_VECTOR inline Floats half_cosh_of(Floats x) {
  const Floats power = half_exp_of(magnitude(x));
  return all_floats(0.5) * (power + all_floats(1) / power);
}

/// max(x, 0) less |x| times the normal distribution's tail from a = |x| on, which is exp(-a^2 / 2) * t * P(1
/// - 8 * t) with t = 1 / (a + 4), as in error_functions.hpp: a minimax polynomial to 2^-18. The root of the
/// exponential is normal where the tail of bf16 is subnormal. From kFar on there is none.
RELAYOUT_VECTOR inline Floats half_gelu_of(Floats x) {
  constexpr float kFactors[] = {0x1.82b4fap-1F, -0x1.373d52p-1F, 0x1.8c542ap-2F, -0x1.7e3928p-3F,
                                0x1.f49a46p-5F, -0x1.be8a58p-8F, -0x1.3857aap-8F};
  constexpr float kFar = 13.9F, kMostExponent = 70;
  const Floats zero = all_floats(0), one = all_floats(1), a = at_most(all_floats(kFar), magnitude(x));
  const Floats t = one / (a + all_floats(4)), q = one - all_floats(8) * t;
  const Floats root = half_power(HalfExponent(all_floats(-0.25F / kLog2) * (a * a), kMostExponent));
  const Floats part = a * t * series_of(kFactors, q) * root * root;
  return if_less(x, zero, if_less(x, all_floats(-kFar), x * zero, -part), x - part);
}

/// log2(1 + r) / r to 2^-19 of itself, for r between -1/4 and 1/2: a minimax polynomial.
RELAYOUT_VECTOR inline Floats half_log2_slope(Floats r) {
  constexpr float kFactors[] = {0x1.71548cp+0F, -0x1.7151e0p-1F, 0x1.ec2940p-2F, -0x1.724018p-2F,
                                0x1.317060p-2F, -0x1.f09730p-3F, 0x1.e9e528p-4F};
  return series_of(kFactors, r);
}
RELAYOUT_VECTOR inline Floats half_log2_of(Floats x) {
  Floats exponent;
  const Floats rest = fraction_of(x, exponent) - all_floats(1);
  return if_has_logarithm(x, fma(rest, half_log2_slope(rest), exponent));
}
RELAYOUT_VECTOR inline Floats half_log_of(Floats x) { return half_log2_of(x) * all_floats(kLog2); }
/// Where 1 + x lies next to 1 it has lost digits of x.
RELAYOUT_VECTOR inline Floats half_log1p_of(Floats x) {
  const Floats above = x + all_floats(1);
  Floats exponent;
  const Floats fraction = fraction_of(above, exponent);
  const Floats rest = if_equal(exponent, all_floats(0), x, fraction - all_floats(1));
  const Floats result = fma(rest, half_log2_slope(rest), exponent) * all_floats(kLog2);
  return unless_zero(x, if_has_logarithm(above, result));
}

RELAYOUT_VECTOR inline Floats if_odd(Floats whole, Floats chosen, Floats other) {
  const Floats odd = whole - all_floats(2) * whole_of(whole * all_floats(0.5));
  return if_equal(odd, all_floats(0), other, chosen);
}
/// sin(turns * pi + rest) to 2^-20 of itself, for whole turns and a rest between -pi / 2 and pi / 2: a
/// minimax polynomial of its square.
RELAYOUT_VECTOR inline Floats half_sine(Floats turns, Floats rest) {
  constexpr float kFactors[] = {0x1.ffffe0p-1F, -0x1.554f6ep-3F, 0x1.105bcep-7F, -0x1.839c74p-13F};
  const Floats sine = rest * series_of(kFactors, rest * rest);
  return if_odd(turns, all_floats(0) - sine, sine);
}
/// x - turns * pi. No f16 number is nearer than 2^-17 to a multiple of pi / 2; 177.5 is nearest.
RELAYOUT_VECTOR inline Floats less_turns(Floats x, Floats turns) {
  constexpr float kHigh = 0x1.921fb6p+1F, kLow = -0x1.777a5cp-24F;
  return fma(turns, all_floats(-kLow), fma(turns, all_floats(-kHigh), x));
}
RELAYOUT_VECTOR inline Floats half_sin_of(Floats x) {
  const Floats turns = whole_of(x * all_floats(1 / kPi));
  return unless_zero(x, half_sine(turns, less_turns(x, turns)));
}
/// With half a turn more or less, a sine: it is exact where the cosine is next to 0.
RELAYOUT_VECTOR inline Floats half_cos_of(Floats x) {
  const Floats turns = whole_of(fma(x, all_floats(1 / kPi), all_floats(-0.5)));
  const Floats rest = less_turns(x, turns + all_floats(0.5));
  return half_sine(turns, all_floats(0) - rest);
}
/// Between -pi / 4 and pi / 4 a minimax polynomial, to 2^-22 of itself.
RELAYOUT_VECTOR inline Floats half_tan_of(Floats x) {
  constexpr float kFactors[] = {0x1.fffff8p-1F, 0x1.555c7ap-2F, 0x1.100ac4p-3F,
                                0x1.d523a4p-5F, 0x1.94ce92p-7F, 0x1.5022a2p-6F};
  const Floats quarters = whole_of(x * all_floats(kQuartersPerRadian));
  const Floats rest = less_turns(x, quarters * all_floats(0.5));
  const Floats tangent = rest * series_of(kFactors, rest * rest);
  return unless_zero(x, if_odd(quarters, all_floats(-1) / tangent, tangent));
}

/// Null for another operation.
inline ElementwiseRow half_row(Operation operation) {
  switch (operation) {
    case Operation::exp:
      return row_of_floats<half_exp_of>;
    case Operation::exp2:
      return row_of_floats<half_exp2_of>;
    case Operation::expm1:
      return row_of_floats<half_expm1_of>;
    case Operation::sinh:
      return row_of_floats<half_sinh_of>;
    case Operation::cosh:
      return row_of_floats<half_cosh_of>;
    case Operation::tanh:
      return row_of_floats<half_tanh_of>;
    case Operation::gelu:
      return row_of_floats<half_gelu_of>;
    case Operation::log:
      return row_of_floats<half_log_of>;
    case Operation::log2:
      return row_of_floats<half_log2_of>;
    case Operation::log1p:
      return row_of_floats<half_log1p_of>;
    case Operation::sin:
      return row_of_floats<half_sin_of>;
    case Operation::cos:
      return row_of_floats<half_cos_of>;
    case Operation::tan:
      return row_of_floats<half_tan_of>;
    default:
      return nullptr;
  }
}

}  // namespace relayout::native::RELAYOUT_VECTORS
#endif
