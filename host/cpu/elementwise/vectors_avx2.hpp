// Vectors of 32 bytes by AVX2 and FMA: the words in which the vector functions are written.
// vectors_avx512.hpp has the same words for 64 bytes. A source file includes one of the two, and then those
// functions, which so become functions of the namespace RELAYOUT_VECTORS.
#pragma once

#include <cstdint>
#include <limits>

#include "host/cpu/processor.hpp"

#if defined(RELAYOUT_X86)
#define RELAYOUT_VECTORS avx2
#define RELAYOUT_VECTOR __attribute__((target("avx2,fma")))

namespace relayout::native::avx2 {

using Floats = __m256;
using Doubles = __m256d;
using Wholes = __m256i;  // as many as Doubles, of 64 bits
constexpr std::int64_t kFloats = 8, kDoubles = 4;
/// By which the C library's vector functions of this width are named.
constexpr char kLibraryLetter = 'd';

inline bool has_vectors() { return has_fma(); }

RELAYOUT_VECTOR inline Floats all_floats(float value) { return _mm256_set1_ps(value); }
RELAYOUT_VECTOR inline Doubles all(double value) { return _mm256_set1_pd(value); }
RELAYOUT_VECTOR inline Wholes all_wholes(std::int64_t value) { return _mm256_set1_epi64x(value); }
RELAYOUT_VECTOR inline Floats load(const float* at) { return _mm256_loadu_ps(at); }
RELAYOUT_VECTOR inline Doubles load(const double* at) { return _mm256_loadu_pd(at); }
RELAYOUT_VECTOR inline void store(Floats x, float* at) { _mm256_storeu_ps(at, x); }
/// The first numbers of a vector, in one access: 1 to 7, or to 3. Others are 0, and are not touched.
RELAYOUT_VECTOR inline Wholes mask_of_floats(std::int64_t count) {
  return _mm256_cmpgt_epi32(_mm256_set1_epi32(static_cast<int>(count)),
                            _mm256_setr_epi32(0, 1, 2, 3, 4, 5, 6, 7));
}
RELAYOUT_VECTOR inline Wholes mask_of_doubles(std::int64_t count) {
  return _mm256_cmpgt_epi64(_mm256_set1_epi64x(count), _mm256_setr_epi64x(0, 1, 2, 3));
}
RELAYOUT_VECTOR inline Floats load_first(const float* at, std::int64_t count) {
  return _mm256_maskload_ps(at, mask_of_floats(count));
}
RELAYOUT_VECTOR inline Doubles load_first(const double* at, std::int64_t count) {
  return _mm256_maskload_pd(at, mask_of_doubles(count));
}
RELAYOUT_VECTOR inline void store_first(Floats x, float* at, std::int64_t count) {
  _mm256_maskstore_ps(at, mask_of_floats(count), x);
}
RELAYOUT_VECTOR inline void store_first(Doubles x, double* at, std::int64_t count) {
  _mm256_maskstore_pd(at, mask_of_doubles(count), x);
}
RELAYOUT_VECTOR inline void store(Doubles x, double* at) { _mm256_storeu_pd(at, x); }

RELAYOUT_VECTOR inline Floats magnitude(Floats x) { return _mm256_andnot_ps(_mm256_set1_ps(-0.0f), x); }
RELAYOUT_VECTOR inline Doubles magnitude(Doubles x) { return _mm256_andnot_pd(all(-0.0), x); }
RELAYOUT_VECTOR inline Floats root(Floats x) { return _mm256_sqrt_ps(x); }
RELAYOUT_VECTOR inline Doubles root(Doubles x) { return _mm256_sqrt_pd(x); }
/// The second operand, where that is NaN.
RELAYOUT_VECTOR inline Floats at_least(Floats bound, Floats x) { return _mm256_max_ps(bound, x); }
RELAYOUT_VECTOR inline Doubles at_least(Doubles bound, Doubles x) { return _mm256_max_pd(bound, x); }
RELAYOUT_VECTOR inline Floats at_most(Floats bound, Floats x) { return _mm256_min_ps(bound, x); }
RELAYOUT_VECTOR inline Doubles at_most(Doubles bound, Doubles x) { return _mm256_min_pd(bound, x); }

/// a * b + c, a * b - c and c - a * b, rounded once.
RELAYOUT_VECTOR inline Doubles fma(Doubles a, Doubles b, Doubles c) { return _mm256_fmadd_pd(a, b, c); }
RELAYOUT_VECTOR inline Doubles fms(Doubles a, Doubles b, Doubles c) { return _mm256_fmsub_pd(a, b, c); }
RELAYOUT_VECTOR inline Doubles fnma(Doubles a, Doubles b, Doubles c) { return _mm256_fnmadd_pd(a, b, c); }
RELAYOUT_VECTOR inline Floats fma(Floats a, Floats b, Floats c) { return _mm256_fmadd_ps(a, b, c); }
/// The nearest whole number.
RELAYOUT_VECTOR inline Doubles whole_of(Doubles x) {
  return _mm256_round_pd(x, _MM_FROUND_TO_NEAREST_INT | _MM_FROUND_NO_EXC);
}
RELAYOUT_VECTOR inline Floats whole_of(Floats x) {
  return _mm256_round_ps(x, _MM_FROUND_TO_NEAREST_INT | _MM_FROUND_NO_EXC);
}
RELAYOUT_VECTOR inline Doubles floor_of(Doubles x) { return _mm256_floor_pd(x); }
/// |x| with the sign of y.
RELAYOUT_VECTOR inline Doubles with_sign(Doubles x, Doubles y) {
  return _mm256_or_pd(magnitude(x), _mm256_and_pd(all(-0.0), y));
}
RELAYOUT_VECTOR inline Floats with_sign(Floats x, Floats y) {
  return _mm256_or_ps(magnitude(x), _mm256_and_ps(_mm256_set1_ps(-0.0f), y));
}
/// x, whose sign changes where `sign` has one.
RELAYOUT_VECTOR inline Doubles flipped(Doubles x, Doubles sign) {
  return _mm256_xor_pd(x, _mm256_and_pd(all(-0.0), sign));
}

RELAYOUT_VECTOR inline Floats if_less(Floats x, Floats y, Floats chosen, Floats other) {
  return _mm256_blendv_ps(other, chosen, _mm256_cmp_ps(x, y, _CMP_LT_OQ));
}
RELAYOUT_VECTOR inline Doubles if_less(Doubles x, Doubles y, Doubles chosen, Doubles other) {
  return _mm256_blendv_pd(other, chosen, _mm256_cmp_pd(x, y, _CMP_LT_OQ));
}
RELAYOUT_VECTOR inline Floats if_equal(Floats x, Floats y, Floats chosen, Floats other) {
  return _mm256_blendv_ps(other, chosen, _mm256_cmp_ps(x, y, _CMP_EQ_OQ));
}
RELAYOUT_VECTOR inline Doubles if_equal(Doubles x, Doubles y, Doubles chosen, Doubles other) {
  return _mm256_blendv_pd(other, chosen, _mm256_cmp_pd(x, y, _CMP_EQ_OQ));
}
/// Where either is NaN, too.
RELAYOUT_VECTOR inline Doubles if_equal_or_nan(Doubles x, Doubles y, Doubles chosen, Doubles other) {
  return _mm256_blendv_pd(other, chosen, _mm256_cmp_pd(x, y, _CMP_EQ_UQ));
}
/// By the sign, -0's and NaN's too.
RELAYOUT_VECTOR inline Doubles if_signed(Doubles x, Doubles chosen, Doubles other) {
  return _mm256_blendv_pd(other, chosen, x);
}
RELAYOUT_VECTOR inline bool is_any_negative(Floats x) { return _mm256_movemask_ps(x) != 0; }
RELAYOUT_VECTOR inline bool is_any_negative(Doubles x) { return _mm256_movemask_pd(x) != 0; }
/// A bit for each number.
RELAYOUT_VECTOR inline unsigned are_less(Doubles x, Doubles y) {
  return static_cast<unsigned>(_mm256_movemask_pd(_mm256_cmp_pd(x, y, _CMP_LT_OQ)));
}

RELAYOUT_VECTOR inline Wholes bits_of(Doubles x) { return _mm256_castpd_si256(x); }
RELAYOUT_VECTOR inline Doubles of_bits(Wholes bits) { return _mm256_castsi256_pd(bits); }
RELAYOUT_VECTOR inline Wholes sum(Wholes a, Wholes b) { return _mm256_add_epi64(a, b); }
RELAYOUT_VECTOR inline Wholes difference(Wholes a, Wholes b) { return _mm256_sub_epi64(a, b); }
template <int kBits>
RELAYOUT_VECTOR inline Wholes up(Wholes x) {
  return _mm256_slli_epi64(x, kBits);
}
/// Zeros come in from above.
template <int kBits>
RELAYOUT_VECTOR inline Wholes down(Wholes x) {
  return _mm256_srli_epi64(x, kBits);
}

/// 2^exponent, a whole number from -1022 to 1023.
RELAYOUT_VECTOR inline Doubles power_of_2(Doubles exponent) {
  return of_bits(up<52>(bits_of(exponent + all(0x1.8p52 + 1023))));
}
/// x * 2^exponent of -2000 to 2000, which is rounded once where it is subnormal.
RELAYOUT_VECTOR inline Doubles scaled(Doubles x, Doubles exponent) {
  const Doubles half = whole_of(exponent * all(0.5));
  return x * power_of_2(half) * power_of_2(exponent - half);
}
/// x / 2^exponent, which lies between the roots of 1 / 2 and of 2, where x is finite and above 0.
RELAYOUT_VECTOR inline Doubles fraction_of(Doubles x, Doubles& exponent) {
  constexpr std::int64_t kRootOfHalf = 0x3fe6a09e667f3bcd, kBias = std::int64_t{1024} << 52;
  const Doubles least = all(0x1p-1022), normal = if_less(x, least, x * all(0x1p54), x);
  const Wholes bits = bits_of(normal), biased = down<52>(sum(bits, all_wholes(kBias - kRootOfHalf)));
  const Doubles whole = of_bits(sum(biased, bits_of(all(0x1p52)))) - all(0x1p52 + 1024);
  exponent = if_less(x, least, whole - all(54), whole);
  return of_bits(sum(difference(bits, up<52>(biased)), all_wholes(kBias)));
}
/// The logarithm of x where that is no number above 0, or infinite; else `result`.
RELAYOUT_VECTOR inline Doubles if_has_logarithm(Doubles x, Doubles result) {
  const Doubles zero = all(0), infinite = all(std::numeric_limits<double>::infinity());
  const Doubles other =
      if_equal(x, zero, -infinite, if_equal(x, infinite, x, all(std::numeric_limits<double>::quiet_NaN())));
  return if_less(zero, x, if_less(x, infinite, result, other), other);
}

/// x * 2^exponent, where x is normal and so is the result.
RELAYOUT_VECTOR inline Floats times_power(Floats x, Floats exponent) {
  const __m256i added = _mm256_slli_epi32(_mm256_cvtps_epi32(exponent), 23);
  return _mm256_castsi256_ps(_mm256_add_epi32(_mm256_castps_si256(x), added));
}
/// x / 2^exponent, which lies between 3/4 and 3/2, where x is normal and above 0.
RELAYOUT_VECTOR inline Floats fraction_of(Floats x, Floats& exponent) {
  const __m256i bits = _mm256_castps_si256(x), three_quarters = _mm256_castps_si256(_mm256_set1_ps(0.75f));
  const __m256i whole = _mm256_srai_epi32(_mm256_sub_epi32(bits, three_quarters), 23);
  exponent = _mm256_cvtepi32_ps(whole);
  return _mm256_castsi256_ps(_mm256_sub_epi32(bits, _mm256_slli_epi32(whole, 23)));
}
/// The logarithm of x where that is no number above 0, or infinite; else `result`.
RELAYOUT_VECTOR inline Floats if_has_logarithm(Floats x, Floats result) {
  constexpr float kInfinite = std::numeric_limits<float>::infinity();
  const Floats zero = _mm256_setzero_ps(), nan = _mm256_set1_ps(std::numeric_limits<float>::quiet_NaN());
  const Floats other = if_equal(x, zero, _mm256_set1_ps(-kInfinite), nan);
  return if_less(zero, x, if_less(x, _mm256_set1_ps(kInfinite), result, x), other);
}

/// table[index] of each number.
RELAYOUT_VECTOR inline Doubles gathered(const double* table, Wholes index) {
  return _mm256_i64gather_pd(table, index, 8);
}

RELAYOUT_VECTOR inline Doubles first_half(Floats x) { return _mm256_cvtps_pd(_mm256_castps256_ps128(x)); }
RELAYOUT_VECTOR inline Doubles second_half(Floats x) { return _mm256_cvtps_pd(_mm256_extractf128_ps(x, 1)); }
RELAYOUT_VECTOR inline Floats floats_of(Doubles first, Doubles second) {
  return _mm256_set_m128(_mm256_cvtpd_ps(second), _mm256_cvtpd_ps(first));
}

}  // namespace relayout::native::avx2
#endif
