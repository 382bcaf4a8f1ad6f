// Functions of f32 numbers that are computed in f64, of which f32 needs only half the digits: short
// polynomials do, and no pair of numbers. The result is rounded once, to f32.
#pragma once

#include "host/cpu/elementwise/double_pairs.hpp"
#include "host/cpu/elementwise/elementwise_rows.hpp"
#include "host/cpu/elementwise/exponential_functions.hpp"
#include "host/cpu/elementwise/quarter_turns.hpp"
#include "host/cpu/elementwise/sine_functions.hpp"

#if defined(RELAYOUT_X86)

namespace relayout::native::RELAYOUT_VECTORS {

/// (exp(r) - 1) / r for r between -0.35 and 0.35; the first term that is left out is below 2^-32 of exp(r).
RELAYOUT_VECTOR inline Doubles short_slope(Doubles r) {
  constexpr double kFactors[] = {1.0,       1.0 / 2,   1.0 / 6,    1.0 / 24,
                                 1.0 / 120, 1.0 / 720, 1.0 / 5040, 1.0 / 40320};
  return series_of(kFactors, r);
}
RELAYOUT_VECTOR inline Doubles short_exponential(Doubles r) { return fma(short_slope(r), r, all(1)); }

/// x as exponent * log(2) + r. Numbers beyond 120, whose exponential is 0 or infinite in f32, count as 120.
struct ShortExponent {
  Doubles exponent, r;

  RELAYOUT_VECTOR explicit ShortExponent(Doubles x) {
    const Doubles near = between(-120, 120, x);
    exponent = whole_of(near * all(1 / kLog2));
    r = fnma(exponent, all(kLog2), near);
  }
};
RELAYOUT_VECTOR inline Doubles single_exp_of(Doubles x) {
  const ShortExponent e(x);
  return short_exponential(e.r) * power_of_2(e.exponent);
}
RELAYOUT_VECTOR inline Doubles single_exp2_of(Doubles x) {
  const Doubles near = between(-180, 180, x), exponent = whole_of(near);
  return short_exponential((near - exponent) * all(kLog2)) * power_of_2(exponent);
}

/// exp(x) - 1, which loses no digits next to 0.
RELAYOUT_VECTOR inline Doubles short_growth(Doubles x) {
  const ShortExponent e(x);
  const Doubles power = power_of_2(e.exponent);
  return fma(power, e.r * short_slope(e.r), power - all(1));
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
  const Doubles sine = by_quarter(turns.quarters, short_cosine(turns.rest), short_sine(turns.rest));
  return unless_zero(x, turned<1>(sine, turns.quarters));
}
RELAYOUT_VECTOR inline Doubles single_cos_of(Doubles x) {
  const QuarterTurns turns(x);
  const Doubles cosine = by_quarter(turns.quarters, short_sine(turns.rest), short_cosine(turns.rest));
  return turned<1>(cosine, sum(turns.quarters, all_wholes(1)));
}
RELAYOUT_VECTOR inline Doubles single_tan_of(Doubles x) {
  const QuarterTurns turns(x);
  const Doubles sine = short_sine(turns.rest), cosine = short_cosine(turns.rest);
  const Doubles ratio = by_quarter(turns.quarters, cosine, sine) / by_quarter(turns.quarters, sine, cosine);
  return unless_zero(x, turned<0>(ratio, turns.quarters));
}

/// An ElementwiseRow of a function of f64 on f32 numbers.
template <Doubles (*kFunction)(Doubles)>
RELAYOUT_VECTOR void row_of_singles(const void* a, const void*, const void*, void* r, std::int64_t count,
                                    const ElementwiseParams&) {
  struct Function {
    RELAYOUT_VECTOR Floats operator()(Floats x, Floats) const {
      return floats_of(kFunction(first_half(x)), kFunction(second_half(x)));
    }
  };
  each_vector<float>(a, a, r, count, Function{});
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
