// Functions of f64 numbers that are made of an exponential, four at a time. The C library has no vectors of
// them that are within 2 units, and its long double takes 30 to 120 ns for each.
//
// exp(x) is 2^exponent * (1 + r + s), where |r| is log(2) / 2 at most and s is what r has lost and the rest
// of the series; their sum is right to some 2^-57. What follows is computed on pairs of numbers, of which the
// second is what the first has lost, so that the result is rounded about once.
#include "host/cpu/elementwise/elementwise_rows.hpp"
#include "host/cpu/processor.hpp"

#if defined(RELAYOUT_X86)
#include <cstring>

#define RELAYOUT_FMA __attribute__((target("avx2,fma")))

namespace relayout::native {
namespace {

using Doubles = __m256d;

RELAYOUT_FMA inline Doubles all(double value) { return _mm256_set1_pd(value); }
RELAYOUT_FMA inline Doubles magnitude(Doubles x) { return _mm256_andnot_pd(all(-0.0), x); }
/// |x| with the sign of y.
RELAYOUT_FMA inline Doubles with_sign(Doubles x, Doubles y) {
  return _mm256_or_pd(magnitude(x), _mm256_and_pd(all(-0.0), y));
}
RELAYOUT_FMA inline Doubles if_less(Doubles x, Doubles y, Doubles chosen, Doubles other) {
  return _mm256_blendv_pd(other, chosen, _mm256_cmp_pd(x, y, _CMP_LT_OQ));
}
/// NaN stays.
RELAYOUT_FMA inline Doubles between(double low, double high, Doubles x) {
  return _mm256_max_pd(all(low), _mm256_min_pd(all(high), x));
}

struct Pair {
  Doubles high, low;
};

/// a + b, where |a| >= |b| or a is 0.
RELAYOUT_FMA inline Pair sum_of(Doubles a, Doubles b) {
  const Doubles sum = a + b;
  return {sum, (a - sum) + b};
}
/// Of any two (Knuth, The Art of Computer Programming, volume 2, 4.2.2).
RELAYOUT_FMA inline Pair sum_of_any(Doubles a, Doubles b) {
  const Doubles sum = a + b, part = sum - a;
  return {sum, (a - (sum - part)) + (b - part)};
}
RELAYOUT_FMA inline Pair product_of(Doubles a, Pair b) {
  const Doubles product = a * b.high;
  return {product, _mm256_fmadd_pd(a, b.low, _mm256_fmsub_pd(a, b.high, product))};
}
RELAYOUT_FMA inline Pair quotient_of(Pair a, Pair b) {
  const Doubles quotient = a.high / b.high;
  const Doubles rest = _mm256_fnmadd_pd(quotient, b.high, a.high) + _mm256_fnmadd_pd(quotient, b.low, a.low);
  return {quotient, rest / b.high};
}
/// The second number is 0 or none where the first one is 0, whose sign stays, or infinite.
RELAYOUT_FMA inline Doubles rounded(Pair a) {
  return _mm256_blendv_pd(a.high + a.low, a.high, _mm256_cmp_pd(a.low, all(0), _CMP_EQ_UQ));
}

/// 2^exponent, a whole number from -1022 to 1023.
RELAYOUT_FMA inline Doubles power_of_2(Doubles exponent) {
  const __m256i low_bits = _mm256_castpd_si256(exponent + all(0x1.8p52 + 1023));
  return _mm256_castsi256_pd(_mm256_slli_epi64(low_bits, 52));
}
/// x * 2^exponent of -2000 to 2000, which is rounded once where it is subnormal.
RELAYOUT_FMA inline Doubles scaled(Doubles x, Doubles exponent) {
  const Doubles half = _mm256_round_pd(exponent * all(0.5), _MM_FROUND_TO_NEAREST_INT | _MM_FROUND_NO_EXC);
  return x * power_of_2(half) * power_of_2(exponent - half);
}

struct Exponential {
  Doubles exponent, r, s;

  /// Of x + low, from -1000 to 1000.
  RELAYOUT_FMA explicit Exponential(Doubles x, Doubles low = _mm256_setzero_pd()) {
    // log(2) in two parts: the product of the first one with the exponent is exact.
    constexpr double kHigh = 0x1.62e42feep-1, kLow = 0x1.a39ef35793c76p-33;
    exponent = _mm256_round_pd(x * all(1.4426950408889634074), _MM_FROUND_TO_NEAREST_INT | _MM_FROUND_NO_EXC);
    const Doubles left = _mm256_fnmadd_pd(exponent, all(kHigh), x), taken = exponent * all(kLow);
    r = left - taken;
    const Doubles lost = (left - r) - taken + low;
    // The series of exp(r) from r^2 on; the first term that is left out is below 2^-57.
    Doubles series = all(1.0 / 6227020800);
    for (const double factorial :
         {479001600.0, 39916800.0, 3628800.0, 362880.0, 40320.0, 5040.0, 720.0, 120.0, 24.0, 6.0, 2.0})
      series = _mm256_fmadd_pd(series, r, all(1 / factorial));
    const Doubles rest = r * r * series;
    s = _mm256_fmadd_pd(lost, all(1) + r + rest, rest);
  }
  /// 1 + r + s.
  RELAYOUT_FMA Pair fraction() const {
    const Pair sum = sum_of(all(1), r);
    return sum_of(sum.high, sum.low + s);
  }
  /// The exponential less 1, for exponents down to -1000 and up to 1000.
  RELAYOUT_FMA Pair less_one() const {
    const Doubles power = power_of_2(exponent);
    const Pair whole = sum_of_any(power, all(-1)), sum = sum_of(whole.high, power * r);
    return sum_of(sum.high, sum.low + _mm256_fmadd_pd(power, s, whole.low));
  }
};

/// From where on the result is 0, or infinite.
constexpr double kLeast = -746, kMost = 710;

RELAYOUT_FMA inline Doubles exp_of(Doubles x) {
  const Exponential e(between(kLeast, kMost, x));
  return scaled(rounded(e.fraction()), e.exponent);
}
RELAYOUT_FMA inline Doubles expm1_of(Doubles x) {
  const Doubles near = rounded(Exponential(between(-60, 60, x)).less_one());
  // 0 keeps its sign; from 40 on 1 makes no difference.
  return if_less(all(40), x, exp_of(x), _mm256_blendv_pd(near, x, _mm256_cmp_pd(x, all(0), _CMP_EQ_OQ)));
}
/// With e = exp(-2 |x|) - 1, tanh(|x|) is -e / (2 + e); from 20 on it is 1.
RELAYOUT_FMA inline Doubles tanh_of(Doubles x) {
  const Pair e = Exponential(all(-2) * _mm256_min_pd(all(20), magnitude(x))).less_one();
  const Pair sum = sum_of(all(2), e.high);
  return with_sign(rounded(quotient_of({-e.high, -e.low}, {sum.high, sum.low + e.low})), x);
}
/// (exp(|x|) + exp(-|x|)) / 2.
RELAYOUT_FMA inline Doubles cosh_of(Doubles x) {
  const Exponential e(_mm256_min_pd(all(kMost + 2), magnitude(x)));
  const Pair large = e.fraction(), small = quotient_of({all(1), all(0)}, large);
  const Doubles power = power_of_2(_mm256_max_pd(all(-1000), all(-2) * e.exponent));
  const Pair sum = sum_of(large.high, small.high * power);
  const Doubles low = _mm256_fmadd_pd(small.low, power, large.low) + sum.low;
  return scaled(rounded({sum.high, low}), e.exponent - all(1));
}
/// With e = exp(|x|) - 1, sinh(|x|) is (e + e / (1 + e)) / 2; from 40 on it is exp(|x|) / 2.
RELAYOUT_FMA inline Doubles sinh_of(Doubles x) {
  const Doubles y = _mm256_min_pd(all(kMost + 2), magnitude(x));
  const Pair e = Exponential(_mm256_min_pd(all(60), y)).less_one(), one = sum_of_any(all(1), e.high);
  const Pair part = quotient_of(e, {one.high, one.low + e.low}), sum = sum_of(e.high, part.high);
  const Doubles near = all(0.5) * rounded({sum.high, sum.low + (e.low + part.low)});
  const Exponential far(y);
  return with_sign(if_less(all(40), y, scaled(rounded(far.fraction()), far.exponent - all(1)), near), x);
}

/// x / (1 + exp(-z)); for negative z, x * exp(z) / (1 + exp(z)).
RELAYOUT_FMA inline Doubles gated(Doubles x, Pair z) {
  constexpr double kFar = -1000;  // there exp(z) times any x that has such a z is 0
  const Doubles zero = all(0), negative = -magnitude(z.high);
  const Exponential e(_mm256_max_pd(all(kFar), negative), if_less(z.high, zero, z.low, -z.low));
  const Pair fraction = e.fraction();
  const Doubles power = power_of_2(_mm256_max_pd(all(kFar), e.exponent));
  const Pair sum = sum_of(all(1), power * fraction.high);
  const Pair dividend = {if_less(z.high, zero, fraction.high, all(1)),
                         if_less(z.high, zero, fraction.low, zero)};
  const Pair gate = quotient_of(dividend, {sum.high, _mm256_fmadd_pd(power, fraction.low, sum.low)});
  const Doubles product = rounded(product_of(x, gate));
  const Doubles low = if_less(negative, all(kFar), x * zero, scaled(product, e.exponent));
  return if_less(z.high, zero, low, product);
}
RELAYOUT_FMA inline Doubles sigmoid_of(Doubles x) { return gated(all(1), {x, all(0)}); }
RELAYOUT_FMA inline Doubles silu_of(Doubles x) { return gated(x, {x, all(0)}); }
/// 1 + tanh(z) is 2 / (1 + exp(-2 z)), and 2 z is x * (a + b * x^2).
RELAYOUT_FMA inline Doubles gelu_tanh_of(Doubles x) {
  constexpr double kA = 0x1.9884533d43651p+0, kALow = -0x1.cbc0d30ebfd15p-54;  // 2 * sqrt(2 / pi)
  constexpr double kB = 0x1.2444f2a4d8b4bp-4, kBLow = -0x1.6c843a29d1c70p-61;  // 0.044715 times that
  const Doubles near = between(-1000, 1000, x);
  const Pair square = product_of(near, {near, all(0)}), scaled_square = product_of(all(kB), square);
  const Pair sum = sum_of_any(all(kA), scaled_square.high);
  const Doubles low = _mm256_fmadd_pd(all(kBLow), square.high, scaled_square.low) + all(kALow);
  return gated(x, product_of(near, {sum.high, sum.low + low}));
}
RELAYOUT_FMA inline Doubles elu_of(Doubles x) {
  return _mm256_movemask_pd(x) == 0 ? x : if_less(all(0), x, x, expm1_of(x));
}

/// A row's last numbers are computed in a whole vector, too.
template <Doubles (*kFunction)(Doubles)>
RELAYOUT_FMA void row(const void* a, const void*, const void*, void* r, std::int64_t count,
                      const ElementwiseParams&) {
  constexpr std::int64_t kWidth = 4;
  const auto* const x = static_cast<const double*>(a);
  auto* const result = static_cast<double*>(r);
  std::int64_t i = 0;
  for (; i + kWidth <= count; i += kWidth) _mm256_storeu_pd(result + i, kFunction(_mm256_loadu_pd(x + i)));
  if (i == count) return;
  double last[kWidth] = {};
  const std::size_t bytes = static_cast<std::size_t>(count - i) * sizeof(double);
  std::memcpy(last, x + i, bytes);
  _mm256_storeu_pd(last, kFunction(_mm256_loadu_pd(last)));
  std::memcpy(result + i, last, bytes);
}

}  // namespace

ElementwiseRow exponential_row(Operation operation) {
  if (!has_fma()) return nullptr;
  switch (operation) {
    case Operation::exp:
      return row<exp_of>;
    case Operation::expm1:
      return row<expm1_of>;
    case Operation::sinh:
      return row<sinh_of>;
    case Operation::cosh:
      return row<cosh_of>;
    case Operation::tanh:
      return row<tanh_of>;
    case Operation::sigmoid:
      return row<sigmoid_of>;
    case Operation::silu:
      return row<silu_of>;
    case Operation::gelu_tanh:
      return row<gelu_tanh_of>;
    case Operation::elu:
      return row<elu_of>;
    default:
      return nullptr;
  }
}

}  // namespace relayout::native

#else

namespace relayout::native {

ElementwiseRow exponential_row(Operation) { return nullptr; }

}  // namespace relayout::native
#endif
