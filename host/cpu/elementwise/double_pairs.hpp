// Four numbers of f64 at a time, and pairs of them: the second number is what the first one has lost. For the
// source files of vectors that need more than f64's own precision; only x86 has them.
#pragma once

#include <cstdint>
#include <cstring>

#include "core/elementwise_params.hpp"
#include "host/cpu/processor.hpp"

#if defined(RELAYOUT_X86)
#define RELAYOUT_FMA __attribute__((target("avx2,fma")))

namespace relayout::native {

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

/// 0 keeps its sign: the result is x where x is 0.
RELAYOUT_FMA inline Doubles unless_zero(Doubles x, Doubles result) {
  return _mm256_blendv_pd(result, x, _mm256_cmp_pd(x, all(0), _CMP_EQ_OQ));
}
/// The sum of factors[i] * x^i.
template <int kCount>
RELAYOUT_FMA inline Doubles series_of(const double (&factors)[kCount], Doubles x) {
  Doubles sum = all(factors[kCount - 1]);
  for (int i = kCount - 2; i >= 0; --i) sum = _mm256_fmadd_pd(sum, x, all(factors[i]));
  return sum;
}

struct DoublePair {
  Doubles high, low;
};

/// a + b, where |a| >= |b| or a is 0.
RELAYOUT_FMA inline DoublePair sum_of(Doubles a, Doubles b) {
  const Doubles sum = a + b;
  return {sum, (a - sum) + b};
}
/// a + b of any two numbers (Knuth, The Art of Computer Programming, volume 2, 4.2.2).
RELAYOUT_FMA inline DoublePair sum_of_any(Doubles a, Doubles b) {
  const Doubles sum = a + b, part = sum - a;
  return {sum, (a - (sum - part)) + (b - part)};
}
RELAYOUT_FMA inline DoublePair product_of(Doubles a, DoublePair b) {
  const Doubles product = a * b.high;
  return {product, _mm256_fmadd_pd(a, b.low, _mm256_fmsub_pd(a, b.high, product))};
}
RELAYOUT_FMA inline DoublePair quotient_of(DoublePair a, DoublePair b) {
  const Doubles quotient = a.high / b.high;
  const Doubles rest = _mm256_fnmadd_pd(quotient, b.high, a.high) + _mm256_fnmadd_pd(quotient, b.low, a.low);
  return {quotient, rest / b.high};
}
/// The second number is 0 or none where the first one is 0, whose sign stays, or infinite.
RELAYOUT_FMA inline Doubles rounded(DoublePair a) {
  return _mm256_blendv_pd(a.high + a.low, a.high, _mm256_cmp_pd(a.low, all(0), _CMP_EQ_UQ));
}

/// The nearest whole number.
RELAYOUT_FMA inline Doubles whole_of(Doubles x) {
  return _mm256_round_pd(x, _MM_FROUND_TO_NEAREST_INT | _MM_FROUND_NO_EXC);
}

/// An ElementwiseRow of a function. A row's last numbers are computed in a whole vector, too.
template <Doubles (*kFunction)(Doubles)>
RELAYOUT_FMA void row_of_doubles(const void* a, const void*, const void*, void* r, std::int64_t count,
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

}  // namespace relayout::native
#endif
