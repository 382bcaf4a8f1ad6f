// erf and gelu of f64 numbers, by the normal distribution's tail: the integral of its density from a on is
// exp(-a^2 / 2) * t * P(1 - 8 * t) with t = 1 / (a + 4) and a polynomial P (core/gauss_tail.hpp).
#pragma once

#include <cstddef>
#include <iterator>

#include "core/gauss_tail.hpp"
#include "host/cpu/elementwise/exponential_functions.hpp"

#if defined(RELAYOUT_X86)

namespace relayout::native::RELAYOUT_VECTORS {

/// P(q) less its last three steps.
RELAYOUT_VECTOR inline Doubles gauss_tail(Doubles q) {
  constexpr double kFactors[] = {RELAYOUT_GAUSS_TAIL};
  Doubles sum = all(kFactors[0]);
  for (std::size_t i = 1; i < std::size(kFactors); ++i) sum = fma(sum, q, all(kFactors[i]));
  return sum;
}

/// The tail from a on, 40 at most, as a pair of numbers to be scaled by 2^exponent.
struct GaussTail {
  Doubles exponent;
  DoublePair fraction;

  RELAYOUT_VECTOR explicit GaussTail(Doubles a) {
    const DoublePair square = product_of(a, {a, all(0)});
    const Exponential power(all(-0.5) * square.high, all(-0.5) * square.low);
    exponent = power.exponent;
    // t and q, and what they have lost: of t a part of itself, since 1 - sum * t is.
    const Doubles sum = a + all(4), dropped = a - (sum - all(4)), t = all(1) / sum;
    const Doubles t_lost = fnma(dropped, t, fnma(sum, t, all(1)));
    const Doubles q = fnma(all(8), t, all(1)), q_lost = fnma(all(8) * t, t_lost, fnma(all(8), t, all(1) - q));
    DoublePair p = step({gauss_tail(q), all(0)}, q, kGaussTail2, kGaussTail2Low);
    p = step(step(p, q, kGaussTail1, kGaussTail1Low), q, kGaussTail0, kGaussTail0Low);
    // The slope of P's logarithm is about 0.3 * q - 0.8.
    p.low = fma(p.high, fma(fma(all(0.3), q, all(-0.8)), q_lost, t_lost), p.low);
    fraction = product_of(power.fraction(), product_of(t, p));
  }

 private:
  /// p * q + a coefficient, which is larger than the product.
  RELAYOUT_VECTOR static DoublePair step(DoublePair p, Doubles q, double coefficient, double lost) {
    const DoublePair product = product_of(q, p), sum = sum_of(all(coefficient), product.high);
    return {sum.high, sum.low + (product.low + all(lost))};
  }
};

/// max(x, 0) less |x| times the tail from |x| on. NaN for -infinity.
RELAYOUT_VECTOR inline Doubles gelu_of(Doubles x) {
  constexpr double kMostTail = 40, kNoTail = 9;  // where it is 0; where it is less than half a unit of x
  const Doubles zero = all(0), a = at_most(all(kMostTail), magnitude(x));
  const GaussTail tail(a);
  const DoublePair part = product_of(a, tail.fraction);
  const Doubles power = power_of_2(at_least(all(-1000), tail.exponent));
  const DoublePair sum = sum_of(x, -(power * part.high));
  const Doubles right = if_less(all(kNoTail), x, x, rounded({sum.high, fnma(power, part.low, sum.low)}));
  return if_less(x, zero, fma(x, zero, -scaled(rounded(part), tail.exponent)), right);
}

/// Next to 0 by the quotient of polynomials of fdlibm (s_erf.c); elsewhere 1 less twice the tail from sqrt(2)
/// * |x| on, which is so much smaller that it needs no pairs of numbers.
RELAYOUT_VECTOR inline Doubles erf_of(Doubles x) {
  constexpr double kNear = 0.84375, kMost = 6;  // from there on it is 1
  constexpr double kDividend[] = {1.28379167095512558561e-01, -3.25042107247001499370e-01,
                                  -2.84817495755985104766e-02, -5.77027029648944159157e-03,
                                  -2.37630166566501626084e-05};
  constexpr double kDivisor[] = {1.0,
                                 3.97917223959155352819e-01,
                                 6.50222499887672944485e-02,
                                 5.08130628187576562776e-03,
                                 1.32494738004321644526e-04,
                                 -3.96022827877536812320e-06};
  const Doubles y = at_most(all(kMost), magnitude(x)), square = y * y;
  const Doubles near = fma(x, series_of(kDividend, square) / series_of(kDivisor, square), x);
  const PowersOf2 power(-square);
  const Doubles t = all(1) / fma(all(0x1.6a09e667f3bcdp+0), y, all(4)), q = fnma(all(8), t, all(1));
  const Doubles p =
      fma(fma(fma(gauss_tail(q), q, all(kGaussTail2)), q, all(kGaussTail1)), q, all(kGaussTail0));
  const Doubles tail = scaled(short_power(power.r) * (t * p), power.exponent + all(1));
  return if_less(y, all(kNear), near, with_sign(all(1) - tail, x));
}

/// Null for another operation.
inline ElementwiseRow error_row(Operation operation) {
  switch (operation) {
    case Operation::erf:
      return row_of_doubles<erf_of>;
    case Operation::gelu:
      return row_of_doubles<gelu_of>;
    default:
      return nullptr;
  }
}

}  // namespace relayout::native::RELAYOUT_VECTORS
#endif
