// Functions of f64 numbers that are made of an exponential. The C library has no
// vectors of them that are within 2 units, and its long double takes 30 to 120 ns for each.
//
// exp(x) is 2^exponent * (1 + r + s), where |r| is log(2) / 2 at most and s is what r has lost and the rest
// of the series; their sum is right to some 2^-57. What follows is computed on pairs of numbers, of which the
// second is what the first has lost, so that the result is rounded about once.
#pragma once

#include "host/cpu/elementwise/double_pairs.hpp"
#include "host/cpu/elementwise/elementwise_rows.hpp"

#if defined(RELAYOUT_X86)

namespace relayout::native::RELAYOUT_VECTORS {

/// (exp(r) - 1 - r) / r^2 for r between -0.35 and 0.35: a minimax polynomial, so that exp(r) is right to
/// 2^-57 of itself, and what is over 1 to 2^-55.
RELAYOUT_VECTOR inline Doubles exponential_series(Doubles r) {
  constexpr double kFactors[] = {0x1.0000000000004p-1,  0x1.555555555555cp-3,  0x1.555555555258cp-5,
                                 0x1.111111110e91cp-7,  0x1.6c16c17e4a11cp-10, 0x1.a01a01b523b42p-13,
                                 0x1.a019a8d972f99p-16, 0x1.71ddeb7737452p-19, 0x1.28a0ac4d9b94bp-22,
                                 0x1.af7490167c391p-26};
  return series_of(kFactors, r);
}

/// exp(r), which is rounded about once.
RELAYOUT_VECTOR inline Doubles short_power(Doubles r) {
  return fma(fma(r, exponential_series(r), all(1)), r, all(1));
}

struct Exponential {
  Doubles exponent, r, s;

  /// The exponential of x + low, which lies between -1000 and 1000.
  RELAYOUT_VECTOR explicit Exponential(Doubles x, Doubles low = all(0)) {
    exponent = whole_of(x * all(1 / kLog2));
    const Doubles left = fnma(exponent, all(kLog2High), x), taken = exponent * all(kLog2Low);
    r = left - taken;
    const Doubles lost = (left - r) - taken + low;
    finish(lost);
  }
  /// 2^whole times the exponential of left + lost, where `left` lies between -0.35 and 0.35.
  RELAYOUT_VECTOR Exponential(Doubles whole, Doubles left, Doubles lost) : exponent(whole), r(left) {
    finish(lost);
  }
  /// 1 + r + s.
  RELAYOUT_VECTOR DoublePair fraction() const {
    const DoublePair sum = sum_of(all(1), r);
    return sum_of(sum.high, sum.low + s);
  }
  /// The exponential less 1, for exponents down to -1000; means nothing above 1000.
  RELAYOUT_VECTOR DoublePair less_one() const {
    const Doubles power = power_of_2(exponent);
    const DoublePair whole = sum_of_any(power, all(-1)), sum = sum_of(whole.high, power * r);
    return sum_of(sum.high, sum.low + fma(power, s, whole.low));
  }

 private:
  RELAYOUT_VECTOR void finish(Doubles lost) {
    const Doubles rest = r * r * exponential_series(r);
    s = fma(lost, all(1) + r + rest, rest);
  }
};

/// From where on the result is 0, or infinite.
constexpr double kLeast = -746, kMost = 710;

/// The nearest multiple of log(2), which is taken from x.
struct PowersOf2 {
  Doubles exponent, r;

  RELAYOUT_VECTOR explicit PowersOf2(Doubles x) {
    exponent = whole_of(x * all(1 / kLog2));
    r = fnma(exponent, all(kLog2Low), fnma(exponent, all(kLog2High), x));
  }
};
RELAYOUT_VECTOR inline Doubles exp_of(Doubles x) {
  const PowersOf2 p(between(kLeast, kMost, x));
  return scaled(short_power(p.r), p.exponent);
}
RELAYOUT_VECTOR inline Doubles expm1_of(Doubles x) {
  const Exponential e(between(-60, kMost, x));
  const Doubles far = scaled(rounded(e.fraction()), e.exponent);
  // 0 keeps its sign; from 40 on 1 makes no difference.
  return if_less(all(40), x, far, unless_zero(x, rounded(e.less_one())));
}
/// With e = exp(-2 |x|) - 1, tanh(|x|) is -e / (2 + e); from 20 on it is 1.
RELAYOUT_VECTOR inline Doubles tanh_of(Doubles x) {
  const DoublePair e = Exponential(all(-2) * at_most(all(20), magnitude(x))).less_one();
  const DoublePair sum = sum_of(all(2), e.high);
  return with_sign(rounded(quotient_of({-e.high, -e.low}, {sum.high, sum.low + e.low})), x);
}
/// (exp(|x|) + exp(-|x|)) / 2.
RELAYOUT_VECTOR inline Doubles cosh_of(Doubles x) {
  const PowersOf2 p(at_most(all(kMost + 2), magnitude(x)));
  const Doubles large = short_power(p.r), power = power_of_2(at_least(all(-1000), all(-2) * p.exponent));
  return scaled(large + power / large, p.exponent - all(1));
}
/// With e = exp(|x|) - 1, sinh(|x|) is (e + e / (1 + e)) / 2; from 40 on it is exp(|x|) / 2.
RELAYOUT_VECTOR inline Doubles sinh_of(Doubles x) {
  const Doubles y = at_most(all(kMost + 2), magnitude(x));
  const Exponential power(y);
  const Doubles far = scaled(rounded(power.fraction()), power.exponent - all(1));
  const DoublePair e = power.less_one(), one = sum_of_any(all(1), e.high);
  const DoublePair part = quotient_of(e, {one.high, one.low + e.low}), sum = sum_of(e.high, part.high);
  const Doubles near = all(0.5) * rounded({sum.high, sum.low + (e.low + part.low)});
  return with_sign(if_less(all(40), y, far, near), x);
}

/// x / (1 + exp(-z)); for negative z, x * exp(z) / (1 + exp(z)).
RELAYOUT_VECTOR inline Doubles gated(Doubles x, DoublePair z) {
  constexpr double kFar = -1000;  // there exp(z) times any x that has such a z is 0
  const Doubles zero = all(0), negative = -magnitude(z.high);
  const Exponential e(at_least(all(kFar), negative), if_less(z.high, zero, z.low, -z.low));
  const DoublePair fraction = e.fraction();
  const Doubles power = power_of_2(at_least(all(kFar), e.exponent));
  const DoublePair sum = sum_of(all(1), power * fraction.high);
  const DoublePair dividend = {if_less(z.high, zero, fraction.high, all(1)),
                               if_less(z.high, zero, fraction.low, zero)};
  const DoublePair gate = quotient_of(dividend, {sum.high, fma(power, fraction.low, sum.low)});
  const Doubles product = rounded(product_of(x, gate));
  const Doubles low = if_less(negative, all(kFar), x * zero, scaled(product, e.exponent));
  return if_less(z.high, zero, low, product);
}
RELAYOUT_VECTOR inline Doubles sigmoid_of(Doubles x) { return gated(all(1), {x, all(0)}); }
RELAYOUT_VECTOR inline Doubles silu_of(Doubles x) { return gated(x, {x, all(0)}); }
/// 1 + tanh(z) is 2 / (1 + exp(-2 z)), and 2 z is x * (a + b * x^2).
RELAYOUT_VECTOR inline Doubles gelu_tanh_of(Doubles x) {
  constexpr double kA = 0x1.9884533d43651p+0, kALow = -0x1.cbc0d30ebfd15p-54;  // 2 * sqrt(2 / pi)
  constexpr double kB = 0x1.2444f2a4d8b4bp-4, kBLow = -0x1.6c843a29d1c70p-61;  // 0.044715 times that
  const Doubles near = between(-1000, 1000, x);
  const DoublePair square = product_of(near, {near, all(0)}), scaled_square = product_of(all(kB), square);
  const DoublePair sum = sum_of_any(all(kA), scaled_square.high);
  const Doubles low = fma(all(kBLow), square.high, scaled_square.low) + all(kALow);
  return gated(x, product_of(near, {sum.high, sum.low + low}));
}
RELAYOUT_VECTOR inline Doubles elu_of(Doubles x) {
  return is_any_negative(x) ? if_less(all(0), x, x, expm1_of(x)) : x;
}

/// max(x, 0) + log(1 + t) with t = exp(-|x|), and log(1 + t) is 2 artanh(t / (2 + t)); below -40 it is t.
RELAYOUT_VECTOR inline Doubles softplus_of(Doubles x) {
  const Exponential e(at_least(all(kLeast), -magnitude(x)));
  const Doubles power = power_of_2(at_least(all(-1000), e.exponent));
  const DoublePair fraction = e.fraction(), t = {power * fraction.high, power * fraction.low};
  const DoublePair whole = sum_of(all(2), t.high);
  const DoublePair ratio = quotient_of(t, {whole.high, whole.low + t.low});
  // artanh(ratio) - ratio: the ratio is 1 / 3 at most, so that terms from ratio^37 on are below 2^-60 of it.
  const Doubles square = ratio.high * ratio.high;
  constexpr double kFactors[] = {1.0 / 3,  1.0 / 5,  1.0 / 7,  1.0 / 9,  1.0 / 11, 1.0 / 13,
                                 1.0 / 15, 1.0 / 17, 1.0 / 19, 1.0 / 21, 1.0 / 23, 1.0 / 25,
                                 1.0 / 27, 1.0 / 29, 1.0 / 31, 1.0 / 33, 1.0 / 35};
  const Doubles rest = ratio.low + series_of(kFactors, square) * square * ratio.high;
  const DoublePair sum = sum_of_any(if_less(all(0), x, x, all(0)), all(2) * ratio.high);
  return if_less(x, all(-40), exp_of(x), rounded({sum.high, sum.low + all(2) * rest}));
}

/// Null for another operation.
inline ElementwiseRow exponential_row(Operation operation) {
  switch (operation) {
    case Operation::exp:
      return row_of_doubles<exp_of>;
    case Operation::expm1:
      return row_of_doubles<expm1_of>;
    case Operation::sinh:
      return row_of_doubles<sinh_of>;
    case Operation::cosh:
      return row_of_doubles<cosh_of>;
    case Operation::tanh:
      return row_of_doubles<tanh_of>;
    case Operation::sigmoid:
      return row_of_doubles<sigmoid_of>;
    case Operation::silu:
      return row_of_doubles<silu_of>;
    case Operation::gelu_tanh:
      return row_of_doubles<gelu_tanh_of>;
    case Operation::softplus:
      return row_of_doubles<softplus_of>;
    case Operation::elu:
      return row_of_doubles<elu_of>;
    default:
      return nullptr;
  }
}

}  // namespace relayout::native::RELAYOUT_VECTORS
#endif
