// Logarithms of f64 numbers. x is 2^exponent * (1 + f), where 1 + f lies between the roots of 1 / 2 and of 2.
// Its logarithm is f less f^2 / 2, and a small rest by the polynomial of fdlibm (e_log.c).
#pragma once

#include "host/cpu/elementwise/double_pairs.hpp"
#include "host/cpu/elementwise/elementwise_rows.hpp"

#if defined(RELAYOUT_X86)

namespace relayout::native::RELAYOUT_VECTORS {

/// A positive finite number as 2^exponent * fraction.
struct Parted {
  Doubles exponent, fraction;

  RELAYOUT_VECTOR explicit Parted(Doubles x) { fraction = fraction_of(x, exponent); }
};

/// What log(1 + f) has beside f - f^2 / 2, by s = f / (2 + f) and the polynomial in its square: the rest is
/// s * (f^2 / 2 + series).
struct LogarithmSeries {
  Doubles s, series;

  RELAYOUT_VECTOR explicit LogarithmSeries(Doubles f) {
    constexpr double kFactors[] = {6.666666666666735130e-01, 3.999999999940941908e-01,
                                   2.857142874366239149e-01, 2.222219843214978396e-01,
                                   1.818357216161805012e-01, 1.531383769920937332e-01,
                                   1.479819860511658591e-01};
    s = f / (all(2) + f);
    const Doubles square = s * s;
    series = square * series_of(kFactors, square);
  }
};

/// exponent * log(2) + log(1 + f) + low, where `low` is a last digit of f.
RELAYOUT_VECTOR inline Doubles log_of_parts(Doubles exponent, Doubles f, Doubles low) {
  const LogarithmSeries l(f);
  const Doubles half = all(0.5) * (f * f), last = fma(exponent, all(kLog2Low), low);
  return fma(exponent, all(kLog2High), f - (half - fma(l.s, half + l.series, last)));
}
RELAYOUT_VECTOR inline Doubles log_of(Doubles x) {
  const Parted parts(x);
  return if_has_logarithm(x, log_of_parts(parts.exponent, parts.fraction - all(1), all(0)));
}
/// log(1 + x). The sum loses digits of x, which are added to its fraction; where the exponent is 0, the
/// fraction is x itself.
RELAYOUT_VECTOR inline Doubles log1p_of(Doubles x) {
  const DoublePair moved = sum_of_any(all(1), x);
  const Parted parts(moved.high);
  const Doubles zero = all(0), f = if_equal(parts.exponent, zero, x, parts.fraction - all(1));
  // The digits lost over the sum, for which 1 / (1 + f) to a hundredth is enough.
  constexpr double kInverse[] = {1.005, -1.081, 0.914};
  const Doubles lost = scaled(moved.low, -parts.exponent) * series_of(kInverse, f);
  const Doubles logarithm = log_of_parts(parts.exponent, f, if_equal(parts.exponent, zero, zero, lost));
  return unless_zero(x, if_has_logarithm(moved.high, logarithm));
}
/// The logarithm of the fraction is a pair of numbers, so that its product with 1 / log(2) is rounded once.
RELAYOUT_VECTOR inline Doubles log2_of(Doubles x) {
  constexpr double kHigh = 0x1.71547652b82fep+0, kLow = 0x1.777d0ffda0d24p-56;  // 1 / log(2)
  const Parted parts(x);
  const Doubles f = parts.fraction - all(1), square = f * f, half = all(0.5) * square;
  const LogarithmSeries l(f);
  const DoublePair whole = sum_of(f, -half);
  const Doubles low = whole.low + (l.s * (half + l.series) - all(0.5) * fms(f, f, square));
  const DoublePair product = product_of(whole.high, {all(kHigh), all(kLow)});
  const DoublePair sum = sum_of_any(parts.exponent, product.high);
  return if_has_logarithm(x, rounded({sum.high, sum.low + fma(low, all(kHigh), product.low)}));
}

/// Null for another operation.
inline ElementwiseRow logarithm_row(Operation operation) {
  switch (operation) {
    case Operation::log:
      return row_of_doubles<log_of>;
    case Operation::log2:
      return row_of_doubles<log2_of>;
    case Operation::log1p:
      return row_of_doubles<log1p_of>;
    default:
      return nullptr;
  }
}

}  // namespace relayout::native::RELAYOUT_VECTORS
#endif
