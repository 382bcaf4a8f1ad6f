// Logarithms of f64 numbers. x is 2^exponent * (1 + f), where 1 + f lies between the roots of 1 / 2 and of 2.
// Its logarithm is f less f^2 / 2, as a pair of numbers, and a small rest by the polynomial of fdlibm
// (e_log.c).
#pragma once

#include "host/cpu/elementwise/double_pairs.hpp"
#include "host/cpu/elementwise/elementwise_rows.hpp"

#if defined(RELAYOUT_X86)

namespace relayout::native::RELAYOUT_VECTORS {

constexpr double kLeastNormal = 0x1p-1022;

/// A positive finite number as 2^exponent * fraction.
struct Parted {
  Doubles exponent, fraction;

  RELAYOUT_VECTOR explicit Parted(Doubles x) {
    constexpr std::int64_t kRootOfHalf = 0x3fe6a09e667f3bcd, kBias = std::int64_t{1024} << 52;
    const Doubles least = all(kLeastNormal), normal = if_less(x, least, x * all(0x1p54), x);
    const Wholes bits = bits_of(normal), biased = down<52>(sum(bits, all_wholes(kBias - kRootOfHalf)));
    fraction = of_bits(sum(difference(bits, up<52>(biased)), all_wholes(kBias)));
    const Doubles whole = of_bits(sum(biased, bits_of(all(0x1p52)))) - all(0x1p52 + 1024);
    exponent = if_less(x, least, whole - all(54), whole);
  }
};

/// log(1 + f + low), where `low` is a last digit of f.
RELAYOUT_VECTOR inline DoublePair log_of_fraction(Doubles f, Doubles low) {
  constexpr double kFactors[] = {6.666666666666735130e-01, 3.999999999940941908e-01, 2.857142874366239149e-01,
                                 2.222219843214978396e-01, 1.818357216161805012e-01, 1.531383769920937332e-01,
                                 1.479819860511658591e-01};
  const Doubles s = f / (all(2) + f), square = s * s, rest = square * series_of(kFactors, square);
  const Doubles product = f * f, half = all(0.5) * product, half_low = all(0.5) * fms(f, f, product);
  const DoublePair whole = sum_of(f, -half);
  return {whole.high, whole.low + (fma(s, half + rest, low) - half_low)};
}
/// The logarithm where x is above 0. Elsewhere there is none, and the result is what C99 says.
RELAYOUT_VECTOR inline Doubles unless_no_logarithm(Doubles x, Doubles logarithm) {
  const Doubles other = if_equal(x, all(0), all(-kInfinity), if_equal(x, all(kInfinity), x, all(kNan)));
  return if_less(all(0), x, if_less(x, all(kInfinity), logarithm, other), other);
}
RELAYOUT_VECTOR inline Doubles with_exponent(Doubles exponent, DoublePair logarithm) {
  const DoublePair sum = sum_of_any(exponent * all(kLog2High), logarithm.high);
  return rounded({sum.high, sum.low + fma(exponent, all(kLog2Low), logarithm.low)});
}

RELAYOUT_VECTOR inline Doubles log_of(Doubles x) {
  const Parted parts(x);
  return unless_no_logarithm(x,
                             with_exponent(parts.exponent, log_of_fraction(parts.fraction - all(1), all(0))));
}
RELAYOUT_VECTOR inline Doubles log2_of(Doubles x) {
  constexpr double kHigh = 0x1.71547652b82fep+0, kLow = 0x1.777d0ffda0d24p-56;  // 1 / log(2)
  const Parted parts(x);
  const DoublePair logarithm = log_of_fraction(parts.fraction - all(1), all(0));
  const DoublePair product = product_of(logarithm.high, {all(kHigh), all(kLow)});
  const DoublePair sum = sum_of_any(parts.exponent, product.high);
  return unless_no_logarithm(x, rounded({sum.high, sum.low + fma(logarithm.low, all(kHigh), product.low)}));
}
/// The logarithm of 1 + x. The sum loses digits of x, which are added to its fraction; where the exponent is
/// 0, the fraction is x itself.
RELAYOUT_VECTOR inline Doubles log1p_of(Doubles x) {
  const DoublePair moved = sum_of_any(all(1), x);
  const Parted parts(moved.high);
  const Doubles lost = if_equal(moved.high, x, all(0), moved.low / moved.high), zero = all(0);
  const Doubles f = if_equal(parts.exponent, zero, x, parts.fraction - all(1));
  const DoublePair logarithm = log_of_fraction(f, if_equal(parts.exponent, zero, zero, lost));
  return unless_zero(x, unless_no_logarithm(moved.high, with_exponent(parts.exponent, logarithm)));
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
