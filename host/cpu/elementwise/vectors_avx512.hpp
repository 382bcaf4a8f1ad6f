// Vectors of 64 bytes by AVX-512: the same words as those of vectors_avx2.hpp.
#pragma once

#include <cstdint>

#include "host/cpu/processor.hpp"

#if defined(RELAYOUT_X86)
#define RELAYOUT_VECTORS avx512
#define RELAYOUT_VECTOR __attribute__((target("avx2,fma,avx512f,avx512bw,avx512dq,avx512vl")))

namespace relayout::native::avx512 {

using Floats = __m512;
using Doubles = __m512d;
using Wholes = __m512i;  // as many as Doubles, of 64 bits
constexpr std::int64_t kFloats = 16, kDoubles = 8;
/// By which the C library's vector functions of this width are named.
constexpr char kLibraryLetter = 'e';

inline bool has_vectors() { return has_avx512() && has_fma(); }

RELAYOUT_VECTOR inline Floats all_floats(float value) { return _mm512_set1_ps(value); }
RELAYOUT_VECTOR inline Doubles all(double value) { return _mm512_set1_pd(value); }
RELAYOUT_VECTOR inline Wholes all_wholes(std::int64_t value) { return _mm512_set1_epi64(value); }
RELAYOUT_VECTOR inline Floats load(const float* at) { return _mm512_loadu_ps(at); }
RELAYOUT_VECTOR inline Doubles load(const double* at) { return _mm512_loadu_pd(at); }
RELAYOUT_VECTOR inline void store(Floats x, float* at) { _mm512_storeu_ps(at, x); }
RELAYOUT_VECTOR inline void store(Doubles x, double* at) { _mm512_storeu_pd(at, x); }
RELAYOUT_VECTOR inline Floats load_first(const float* at, std::int64_t count) {
  return _mm512_maskz_loadu_ps(static_cast<__mmask16>((1u << count) - 1), at);
}
RELAYOUT_VECTOR inline Doubles load_first(const double* at, std::int64_t count) {
  return _mm512_maskz_loadu_pd(static_cast<__mmask8>((1u << count) - 1), at);
}
RELAYOUT_VECTOR inline void store_first(Floats x, float* at, std::int64_t count) {
  _mm512_mask_storeu_ps(at, static_cast<__mmask16>((1u << count) - 1), x);
}
RELAYOUT_VECTOR inline void store_first(Doubles x, double* at, std::int64_t count) {
  _mm512_mask_storeu_pd(at, static_cast<__mmask8>((1u << count) - 1), x);
}

RELAYOUT_VECTOR inline Floats magnitude(Floats x) { return _mm512_andnot_ps(all_floats(-0.0f), x); }
RELAYOUT_VECTOR inline Doubles magnitude(Doubles x) { return _mm512_andnot_pd(all(-0.0), x); }
RELAYOUT_VECTOR inline Floats root(Floats x) { return _mm512_sqrt_ps(x); }
RELAYOUT_VECTOR inline Doubles root(Doubles x) { return _mm512_sqrt_pd(x); }
RELAYOUT_VECTOR inline Floats at_least(Floats bound, Floats x) { return _mm512_max_ps(bound, x); }
RELAYOUT_VECTOR inline Doubles at_least(Doubles bound, Doubles x) { return _mm512_max_pd(bound, x); }
RELAYOUT_VECTOR inline Floats at_most(Floats bound, Floats x) { return _mm512_min_ps(bound, x); }
RELAYOUT_VECTOR inline Doubles at_most(Doubles bound, Doubles x) { return _mm512_min_pd(bound, x); }

RELAYOUT_VECTOR inline Doubles fma(Doubles a, Doubles b, Doubles c) { return _mm512_fmadd_pd(a, b, c); }
RELAYOUT_VECTOR inline Doubles fms(Doubles a, Doubles b, Doubles c) { return _mm512_fmsub_pd(a, b, c); }
RELAYOUT_VECTOR inline Doubles fnma(Doubles a, Doubles b, Doubles c) { return _mm512_fnmadd_pd(a, b, c); }
RELAYOUT_VECTOR inline Floats fma(Floats a, Floats b, Floats c) { return _mm512_fmadd_ps(a, b, c); }
RELAYOUT_VECTOR inline Doubles whole_of(Doubles x) {
  return _mm512_roundscale_pd(x, _MM_FROUND_TO_NEAREST_INT | _MM_FROUND_NO_EXC);
}
RELAYOUT_VECTOR inline Floats whole_of(Floats x) {
  return _mm512_roundscale_ps(x, _MM_FROUND_TO_NEAREST_INT | _MM_FROUND_NO_EXC);
}
RELAYOUT_VECTOR inline Doubles floor_of(Doubles x) { return _mm512_floor_pd(x); }
RELAYOUT_VECTOR inline Doubles with_sign(Doubles x, Doubles y) {
  return _mm512_or_pd(magnitude(x), _mm512_and_pd(all(-0.0), y));
}
RELAYOUT_VECTOR inline Floats with_sign(Floats x, Floats y) {
  return _mm512_or_ps(magnitude(x), _mm512_and_ps(all_floats(-0.0f), y));
}
RELAYOUT_VECTOR inline Doubles flipped(Doubles x, Doubles sign) {
  return _mm512_xor_pd(x, _mm512_and_pd(all(-0.0), sign));
}

RELAYOUT_VECTOR inline Floats if_less(Floats x, Floats y, Floats chosen, Floats other) {
  return _mm512_mask_mov_ps(other, _mm512_cmp_ps_mask(x, y, _CMP_LT_OQ), chosen);
}
RELAYOUT_VECTOR inline Doubles if_less(Doubles x, Doubles y, Doubles chosen, Doubles other) {
  return _mm512_mask_mov_pd(other, _mm512_cmp_pd_mask(x, y, _CMP_LT_OQ), chosen);
}
RELAYOUT_VECTOR inline Floats if_equal(Floats x, Floats y, Floats chosen, Floats other) {
  return _mm512_mask_mov_ps(other, _mm512_cmp_ps_mask(x, y, _CMP_EQ_OQ), chosen);
}
RELAYOUT_VECTOR inline Doubles if_equal(Doubles x, Doubles y, Doubles chosen, Doubles other) {
  return _mm512_mask_mov_pd(other, _mm512_cmp_pd_mask(x, y, _CMP_EQ_OQ), chosen);
}
RELAYOUT_VECTOR inline Doubles if_equal_or_nan(Doubles x, Doubles y, Doubles chosen, Doubles other) {
  return _mm512_mask_mov_pd(other, _mm512_cmp_pd_mask(x, y, _CMP_EQ_UQ), chosen);
}
RELAYOUT_VECTOR inline Doubles if_signed(Doubles x, Doubles chosen, Doubles other) {
  return _mm512_mask_mov_pd(other, _mm512_movepi64_mask(_mm512_castpd_si512(x)), chosen);
}
RELAYOUT_VECTOR inline bool is_any_negative(Floats x) {
  return _mm512_movepi32_mask(_mm512_castps_si512(x)) != 0;
}
RELAYOUT_VECTOR inline bool is_any_negative(Doubles x) {
  return _mm512_movepi64_mask(_mm512_castpd_si512(x)) != 0;
}
RELAYOUT_VECTOR inline unsigned are_less(Doubles x, Doubles y) {
  return _mm512_cmp_pd_mask(x, y, _CMP_LT_OQ);
}

RELAYOUT_VECTOR inline Wholes bits_of(Doubles x) { return _mm512_castpd_si512(x); }
RELAYOUT_VECTOR inline Doubles of_bits(Wholes bits) { return _mm512_castsi512_pd(bits); }
RELAYOUT_VECTOR inline Wholes sum(Wholes a, Wholes b) { return _mm512_add_epi64(a, b); }
RELAYOUT_VECTOR inline Wholes difference(Wholes a, Wholes b) { return _mm512_sub_epi64(a, b); }
template <int kBits>
RELAYOUT_VECTOR inline Wholes up(Wholes x) {
  return _mm512_slli_epi64(x, kBits);
}
template <int kBits>
RELAYOUT_VECTOR inline Wholes down(Wholes x) {
  return _mm512_srli_epi64(x, kBits);
}

RELAYOUT_VECTOR inline Doubles scaled(Doubles x, Doubles exponent) { return _mm512_scalef_pd(x, exponent); }
RELAYOUT_VECTOR inline Doubles power_of_2(Doubles exponent) { return scaled(all(1), exponent); }
RELAYOUT_VECTOR inline Doubles fraction_of(Doubles x, Doubles& exponent) {
  constexpr double kRootOf2 = 0x1.6a09e667f3bcdp+0;
  const Doubles fraction = _mm512_getmant_pd(x, _MM_MANT_NORM_1_2, _MM_MANT_SIGN_zero);
  const __mmask8 above = _mm512_cmp_pd_mask(fraction, all(kRootOf2), _CMP_GE_OQ);
  exponent = _mm512_getexp_pd(x);
  exponent = _mm512_mask_add_pd(exponent, above, exponent, all(1));
  return _mm512_mask_mul_pd(fraction, above, fraction, all(0.5));
}
/// The kinds of x that _mm512_fixupimm_pd and _ps tell apart, four bits for each from the lowest: quiet and
/// signalling NaN, 0, 1, -infinity, infinity, and numbers below and above 0. 0 keeps the result, 2 is x, 3
/// NaN, 4 -infinity, 5 infinity.
constexpr int kLogarithms = 0x03530422;
RELAYOUT_VECTOR inline Doubles if_has_logarithm(Doubles x, Doubles result) {
  return _mm512_fixupimm_pd(result, x, all_wholes(kLogarithms), 0);
}

RELAYOUT_VECTOR inline Floats times_power(Floats x, Floats exponent) {
  const __m512i added = _mm512_slli_epi32(_mm512_cvtps_epi32(exponent), 23);
  return _mm512_castsi512_ps(_mm512_add_epi32(_mm512_castps_si512(x), added));
}
RELAYOUT_VECTOR inline Floats fraction_of(Floats x, Floats& exponent) {
  const __m512i bits = _mm512_castps_si512(x), three_quarters = _mm512_castps_si512(all_floats(0.75f));
  const __m512i whole = _mm512_srai_epi32(_mm512_sub_epi32(bits, three_quarters), 23);
  exponent = _mm512_cvtepi32_ps(whole);
  return _mm512_castsi512_ps(_mm512_sub_epi32(bits, _mm512_slli_epi32(whole, 23)));
}
RELAYOUT_VECTOR inline Floats if_has_logarithm(Floats x, Floats result) {
  return _mm512_fixupimm_ps(result, x, _mm512_set1_epi32(kLogarithms), 0);
}

RELAYOUT_VECTOR inline Doubles gathered(const double* table, Wholes index) {
  return _mm512_i64gather_pd(index, table, 8);
}

RELAYOUT_VECTOR inline Doubles first_half(Floats x) { return _mm512_cvtps_pd(_mm512_castps512_ps256(x)); }
RELAYOUT_VECTOR inline Doubles second_half(Floats x) { return _mm512_cvtps_pd(_mm512_extractf32x8_ps(x, 1)); }
RELAYOUT_VECTOR inline Floats floats_of(Doubles first, Doubles second) {
  return _mm512_insertf32x8(_mm512_castps256_ps512(_mm512_cvtpd_ps(first)), _mm512_cvtpd_ps(second), 1);
}

}  // namespace relayout::native::avx512
#endif
