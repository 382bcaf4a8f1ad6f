#include "host/cpu/depthwise/depthwise_sums.hpp"

#include <algorithm>
#include <cstring>
#include <type_traits>

#include "host/cpu/processor.hpp"
#include "relayout/dtype.hpp"

namespace relayout::native {
namespace {

/// A multiply-add, fused where the processor has that. For 16-bit operands, whose products are exact in f32,
/// fusing changes no bit.
template <bool Fused>
RELAYOUT_INLINE float multiply_add(float a, float b, float c) {
  if constexpr (Fused) {
    return __builtin_fmaf(a, b, c);
  } else {
    return a * b + c;
  }
}

template <int Taps, bool Fused, bool First, bool Last>
RELAYOUT_INLINE void sum_line(float* __restrict sums, const float* __restrict newest, const float* weights,
                              float bias, std::int64_t count) {
  float w[Taps];
  for (int d = 0; d < Taps; ++d) w[d] = weights[d];
  for (std::int64_t i = 0; i < count; ++i) {
    float sum = First ? 0.0f : sums[i];
    for (int d = 0; d < Taps; ++d) sum = multiply_add<Fused>(w[d], newest[i - d], sum);
    sums[i] = Last ? sum + bias : sum;
  }
}

template <int Taps, int Times, bool Fused, bool First, bool Last>
RELAYOUT_INLINE void sum_rows(float* __restrict sums, std::int64_t pitch, const float* const* rows,
                              const float* const* weights, const float* __restrict bias, std::int64_t count) {
  const float *x[Taps + Times - 1], *w[Taps];
  for (int d = 0; d < Taps + Times - 1; ++d) x[d] = rows[d];
  for (int d = 0; d < Taps; ++d) w[d] = weights[d];
#if defined(__clang__)
#pragma clang loop vectorize(assume_safety)
#elif defined(__GNUC__)
#pragma GCC ivdep
#endif
  for (std::int64_t i = 0; i < count; ++i) {
    float sum[Times];
    for (int j = 0; j < Times; ++j) {
      sum[j] = First ? 0.0f : sums[j * pitch + i];
      for (int d = 0; d < Taps; ++d) sum[j] = multiply_add<Fused>(w[d][i], x[Times - 1 - j + d][i], sum[j]);
    }
    for (int j = 0; j < Times; ++j) sums[j * pitch + i] = Last ? sum[j] + bias[i] : sum[j];
  }
}

/// Calls body(taps, first, last) with compile-time values.
template <class Body>
RELAYOUT_INLINE void with_part(int taps, SumPart part, const Body& body) {
  const auto with_taps = [&](auto first, auto last) __attribute__((always_inline)) {
    switch (taps) {
      case 1:
        return body(std::integral_constant<int, 1>(), first, last);
      case 2:
        return body(std::integral_constant<int, 2>(), first, last);
      case 3:
        return body(std::integral_constant<int, 3>(), first, last);
      default:
        return body(std::integral_constant<int, kTapsAtOnce>(), first, last);
    }
  };
  if (part.first) {
    if (part.last) return with_taps(std::true_type(), std::true_type());
    return with_taps(std::true_type(), std::false_type());
  }
  if (part.last) return with_taps(std::false_type(), std::true_type());
  return with_taps(std::false_type(), std::false_type());
}

template <bool Fused>
RELAYOUT_INLINE void along_time(float* sums, const float* newest, const float* weights, int taps, float bias,
                                SumPart part, std::int64_t count) {
  with_part(
      taps, part, [=](auto t, auto first, auto last) __attribute__((always_inline)) {
        sum_line<decltype(t)::value, Fused, decltype(first)::value, decltype(last)::value>(
            sums, newest, weights, bias, count);
      });
}

template <bool Fused>
RELAYOUT_INLINE void rows_of(float* sums, std::int64_t pitch, int times, const float* const* rows,
                             const float* const* weights, int taps, const float* bias, SumPart part,
                             std::int64_t count) {
  with_part(
      taps, part, [=](auto t, auto first, auto last) __attribute__((always_inline)) {
        constexpr int kTaps = decltype(t)::value;
        constexpr bool kFirst = decltype(first)::value, kLast = decltype(last)::value;
        if (times == 1) {
          sum_rows<kTaps, 1, Fused, kFirst, kLast>(sums, pitch, rows, weights, bias, count);
        } else {
          sum_rows<kTaps, kTimesAtOnce, Fused, kFirst, kLast>(sums, pitch, rows, weights, bias, count);
        }
      });
}

/// 2^n * exp(r) with n = round(x / ln 2) and |r| <= ln 2 / 2, by Taylor's polynomial of degree 7. The
/// relative error is below 2^-22; the result is infinite from 2^127.5 on, and undefined for NaN. There is no
/// branch and no call, so that the loop around it is vectorised.
RELAYOUT_INLINE float exponential(float x) {
  constexpr float kRound = 12582912.0f;  // 1.5 * 2^23: adding it rounds to an integer
  // Clamps to [-88, 89] by the bits: comparisons of floats may trap, which keeps loops from being vectorised.
  const std::uint32_t bits = detail::bit_cast<std::uint32_t>(x), sign = bits & 0x80000000u;
  const std::uint32_t magnitude = bits & 0x7fffffffu, most = 0x42b20000u - (sign >> 14);
  const float inside = detail::bit_cast<float>(sign | (magnitude < most ? magnitude : most));
  const float shifted = inside * 1.44269504f + kRound;
  const float n = shifted - kRound;
  // ln 2 in two parts, so that the first product is exact.
  const float r = (inside - n * 0.693359375f) + n * 2.12194440e-4f;
  float p = 1.0f / 5040.0f;
  p = p * r + 1.0f / 720.0f;
  p = p * r + 1.0f / 120.0f;
  p = p * r + 1.0f / 24.0f;
  p = p * r + 1.0f / 6.0f;
  p = p * r + 0.5f;
  p = p * r + 1.0f;
  p = p * r + 1.0f;
  const std::uint32_t exponent = (detail::bit_cast<std::uint32_t>(shifted) + 127u) << 23;
  return p * detail::bit_cast<float>(exponent);
}

RELAYOUT_INLINE void silu_line(float* values, std::int64_t count) {
  for (std::int64_t i = 0; i < count; ++i) values[i] = values[i] / (1.0f + exponential(-values[i]));
}

RELAYOUT_INLINE void silu_gradient_line(float* __restrict gradients, const float* __restrict values,
                                        std::int64_t count) {
  for (std::int64_t i = 0; i < count; ++i) {
    const float sigmoid = 1.0f / (1.0f + exponential(-values[i]));
    gradients[i] *= sigmoid * (1.0f + values[i] * (1.0f - sigmoid));
  }
}

template <bool Fused, bool Product>
RELAYOUT_INLINE float sum_lanes(const float* a, const float* b, std::int64_t count) {
  constexpr int kSumLanes = 32;
  float sums[kSumLanes] = {};
  const auto add = [&](int lane, std::int64_t i) __attribute__((always_inline)) {
    sums[lane] = Product ? multiply_add<Fused>(a[i], b[i], sums[lane]) : sums[lane] + a[i];
  };
  std::int64_t i = 0;
  for (; i + kSumLanes <= count; i += kSumLanes)
    for (int lane = 0; lane < kSumLanes; ++lane) add(lane, i + lane);
  for (int lane = 0; i + lane < count; ++lane) add(lane, i + lane);
  float sum = 0.0f;
  for (const float part : sums) sum += part;
  return sum;
}
template <bool Fused>
RELAYOUT_INLINE float dot_line(const float* a, const float* b, std::int64_t count) {
  return b == nullptr ? sum_lanes<Fused, false>(a, b, count) : sum_lanes<Fused, true>(a, b, count);
}

void along_time_plain(float* sums, const float* newest, const float* weights, int taps, float bias,
                      SumPart part, std::int64_t count) {
  along_time<false>(sums, newest, weights, taps, bias, part, count);
}
void rows_plain(float* sums, std::int64_t pitch, int times, const float* const* rows,
                const float* const* weights, int taps, const float* bias, SumPart part, std::int64_t count) {
  rows_of<false>(sums, pitch, times, rows, weights, taps, bias, part, count);
}
void silu_plain(float* values, std::int64_t count) { silu_line(values, count); }
void silu_gradient_plain(float* gradients, const float* values, std::int64_t count) {
  silu_gradient_line(gradients, values, count);
}
float dot_plain(const float* a, const float* b, std::int64_t count) { return dot_line<false>(a, b, count); }

#if defined(RELAYOUT_X86)
__attribute__((target("avx2,fma"))) void along_time_avx2(float* sums, const float* newest,
                                                         const float* weights, int taps, float bias,
                                                         SumPart part, std::int64_t count) {
  along_time<true>(sums, newest, weights, taps, bias, part, count);
}
__attribute__((target("avx2,fma"))) void rows_avx2(float* sums, std::int64_t pitch, int times,
                                                   const float* const* rows, const float* const* weights,
                                                   int taps, const float* bias, SumPart part,
                                                   std::int64_t count) {
  rows_of<true>(sums, pitch, times, rows, weights, taps, bias, part, count);
}
__attribute__((target("avx2,fma"))) void silu_avx2(float* values, std::int64_t count) {
  silu_line(values, count);
}
__attribute__((target("avx2,fma"))) void silu_gradient_avx2(float* gradients, const float* values,
                                                            std::int64_t count) {
  silu_gradient_line(gradients, values, count);
}
__attribute__((target("avx2,fma"))) float dot_avx2(const float* a, const float* b, std::int64_t count) {
  return dot_line<true>(a, b, count);
}

/// Stores eight outputs, rounded once; with `streamed` past the caches, where `out` lies on 16 bytes.
__attribute__((target("avx2,fma,f16c"))) RELAYOUT_INLINE void store_halves(f16* out, __m256 sums,
                                                                           bool streamed) {
  const __m128i halves = _mm256_cvtps_ph(sums, _MM_FROUND_TO_NEAREST_INT);
  __m128i* const to = reinterpret_cast<__m128i*>(out);
  if (streamed) {
    _mm_stream_si128(to, halves);
  } else {
    _mm_storeu_si128(to, halves);
  }
}

template <int Taps>
__attribute__((target("avx2,fma,f16c"))) void sum_to_f16(f16* out, const float* newest, const float* weights,
                                                         float bias, bool streamed, std::int64_t count) {
  __m256 w[Taps];
  for (int d = 0; d < Taps; ++d) w[d] = _mm256_set1_ps(weights[d]);
  const __m256 added = _mm256_set1_ps(bias);
  std::int64_t i = 0;
  for (; i + 8 <= count; i += 8) {
    __m256 sum = _mm256_setzero_ps();
    for (int d = 0; d < Taps; ++d) sum = _mm256_fmadd_ps(w[d], _mm256_loadu_ps(newest + i - d), sum);
    store_halves(out + i, _mm256_add_ps(sum, added), streamed);
  }
  _mm256_zeroupper();
  for (; i < count; ++i) {
    float sum = 0.0f;
    for (int d = 0; d < Taps; ++d) sum = __builtin_fmaf(weights[d], newest[i - d], sum);
    out[i] = to_f16(sum + bias);
  }
}

/// Streamed words must be aligned, so the first few outputs may be stored as usual.
template <int Taps>
void sum_to_f16_aligned(f16* out, const float* newest, const float* weights, float bias, bool streamed,
                        std::int64_t count) {
  const auto address = reinterpret_cast<std::uintptr_t>(out);
  const std::int64_t head =
      !streamed || address % 2 != 0 ? 0 : std::min<std::int64_t>(count, -address % 16 / sizeof(f16));
  if (head > 0) sum_to_f16<Taps>(out, newest, weights, bias, false, head);
  sum_to_f16<Taps>(out + head, newest + head, weights, bias, streamed && address % 2 == 0, count - head);
}

void along_time_to_f16(f16* out, const float* newest, const float* weights, int taps, float bias,
                       bool streamed, std::int64_t count) {
  constexpr decltype(&sum_to_f16_aligned<1>) kOfTaps[kTapsAtOnce] = {
      sum_to_f16_aligned<1>, sum_to_f16_aligned<2>, sum_to_f16_aligned<3>, sum_to_f16_aligned<4>};
  kOfTaps[taps - 1](out, newest, weights, bias, streamed, count);
}

template <int Taps, int Times>
__attribute__((target("avx2,fma,f16c"))) void sum_rows_to_f16(f16* const* out, const float* const* rows,
                                                              const float* const* weights, const float* bias,
                                                              bool streamed, std::int64_t count) {
  std::int64_t i = 0;
  for (; i + 8 <= count; i += 8) {
    __m256 x[Taps + Times - 1], w[Taps];
    for (int d = 0; d < Taps + Times - 1; ++d) x[d] = _mm256_loadu_ps(rows[d] + i);
    for (int d = 0; d < Taps; ++d) w[d] = _mm256_loadu_ps(weights[d] + i);
    for (int j = 0; j < Times; ++j) {
      __m256 sum = _mm256_setzero_ps();
      for (int d = 0; d < Taps; ++d) sum = _mm256_fmadd_ps(w[d], x[Times - 1 - j + d], sum);
      store_halves(out[j] + i, _mm256_add_ps(sum, _mm256_loadu_ps(bias + i)), streamed);
    }
  }
  _mm256_zeroupper();
  for (; i < count; ++i) {
    for (int j = 0; j < Times; ++j) {
      float sum = 0.0f;
      for (int d = 0; d < Taps; ++d) sum = __builtin_fmaf(weights[d][i], rows[Times - 1 - j + d][i], sum);
      out[j][i] = to_f16(sum + bias[i]);
    }
  }
}

void rows_to_f16(f16* const* out, int times, const float* const* rows, const float* const* weights, int taps,
                 const float* bias, bool streamed, std::int64_t count) {
  constexpr decltype(&sum_rows_to_f16<1, 1>) kOfTaps[2][kTapsAtOnce] = {
      {sum_rows_to_f16<1, 1>, sum_rows_to_f16<2, 1>, sum_rows_to_f16<3, 1>, sum_rows_to_f16<4, 1>},
      {sum_rows_to_f16<1, kTimesAtOnce>, sum_rows_to_f16<2, kTimesAtOnce>, sum_rows_to_f16<3, kTimesAtOnce>,
       sum_rows_to_f16<4, kTimesAtOnce>}};
  kOfTaps[times == 1 ? 0 : 1][taps - 1](out, rows, weights, bias, streamed, count);
}
#endif

DepthwiseSums choose() noexcept {
#if defined(RELAYOUT_X86)
  if (has_fma())
    return {along_time_avx2,
            rows_avx2,
            silu_avx2,
            silu_gradient_avx2,
            dot_avx2,
            has_f16c() ? along_time_to_f16 : nullptr,
            has_f16c() ? rows_to_f16 : nullptr};
#endif
  return {along_time_plain, rows_plain, silu_plain, silu_gradient_plain, dot_plain, nullptr, nullptr};
}

}  // namespace

const DepthwiseSums& depthwise_sums() noexcept {
  static const DepthwiseSums sums = choose();
  return sums;
}

}  // namespace relayout::native
