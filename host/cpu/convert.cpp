#include "host/cpu/convert.hpp"

#include <algorithm>

#include "host/cpu/vectorised.hpp"

namespace relayout::native {
namespace {

inline void convert_to_bf16(const float* in, bf16* out, std::int64_t count) {
  for (std::int64_t i = 0; i < count; ++i) out[i] = to_bf16_branchless(in[i]);
}

template <class In, class Out>
void convert_plain(const In* in, Out* out, std::int64_t count) noexcept {
  for (std::int64_t i = 0; i < count; ++i) out[i] = convert<Out>(in[i]);
}

#if defined(RELAYOUT_X86)

#define RELAYOUT_F16C __attribute__((target("f16c,avx2")))

RELAYOUT_F16C inline void convert_eight(const float* in, f16* out) noexcept {
  const __m128i halves = _mm256_cvtps_ph(_mm256_loadu_ps(in), _MM_FROUND_TO_NEAREST_INT);
  _mm_storeu_si128(reinterpret_cast<__m128i*>(out), halves);
}
RELAYOUT_F16C inline void convert_eight(const f16* in, float* out) noexcept {
  const __m128i halves = _mm_loadu_si128(reinterpret_cast<const __m128i*>(in));
  _mm256_storeu_ps(out, _mm256_cvtph_ps(halves));
}

template <class In, class Out>
RELAYOUT_F16C void convert_f16c(const In* in, Out* out, std::int64_t count) noexcept {
  std::int64_t i = 0;
  // Four vectors at a time: with one, the loop itself would take half of the time.
  for (; i + 32 <= count; i += 32) {
    for (int j = 0; j < 32; j += 8) convert_eight(in + i + j, out + i + j);
  }
  for (; i + 8 <= count; i += 8) convert_eight(in + i, out + i);
  // GCC leaves out vzeroupper before a tail call, and SSE code that runs with dirty upper halves is up to 60
  // times slower.
  _mm256_zeroupper();
  convert_plain(in + i, out + i, count - i);
}

/// Only numbers from f16: those to f16 have often just been stored 32 bytes at a time, and a load of 64 would
/// wait for the stores.
__attribute__((target("avx512f,avx512bw,avx512vl,f16c,avx2"))) void convert_avx512(
    const f16* in, float* out, std::int64_t count) noexcept {
  std::int64_t i = 0;
  for (; i + 64 <= count; i += 64) {
    for (int j = 0; j < 64; j += 16) {
      const __m256i halves = _mm256_loadu_si256(reinterpret_cast<const __m256i*>(in + i + j));
      _mm512_storeu_ps(out + i + j, _mm512_maskz_cvtph_ps(0xffff, halves));
    }
  }
  // The last ones in whole vectors, too: a load of 64 bytes would wait for several stores.
  for (; i < count; i += 16) {
    const auto left = static_cast<__mmask16>(count - i < 16 ? (1u << (count - i)) - 1 : 0xffff);
    const __m256i halves = _mm256_maskz_loadu_epi16(left, in + i);
    _mm512_mask_storeu_ps(out + i, left, _mm512_maskz_cvtph_ps(0xffff, halves));
  }
  _mm256_zeroupper();
}

#endif

/// Two conversions through lines of f32: the first is exact, so there is one rounding.
template <class In, class Out>
void convert_through_f32(const In* in, Out* out, std::int64_t count) noexcept {
  constexpr std::int64_t kLine = 256;
  float line[kLine];
  for (std::int64_t i = 0; i < count; i += kLine) {
    const std::int64_t part = std::min(kLine, count - i);
    convert_row(in + i, line, part);
    convert_row(line, out + i, part);
  }
}

}  // namespace

void convert_row(const float* in, f16* out, std::int64_t count) noexcept {
#if defined(RELAYOUT_X86)
  if (has_f16c()) return convert_f16c(in, out, count);
#endif
  convert_plain(in, out, count);
}

void convert_row(const f16* in, float* out, std::int64_t count) noexcept {
#if defined(RELAYOUT_X86)
  if (has_avx512()) return convert_avx512(in, out, count);
  if (has_f16c()) return convert_f16c(in, out, count);
#endif
  convert_plain(in, out, count);
}

void convert_row(const float* in, bf16* out, std::int64_t count) noexcept {
  static const auto convert = vectorised_conversion<convert_to_bf16>();
  convert(in, out, count);
}

void convert_row(const f16* in, bf16* out, std::int64_t count) noexcept {
  convert_through_f32(in, out, count);
}
void convert_row(const bf16* in, f16* out, std::int64_t count) noexcept {
  convert_through_f32(in, out, count);
}

}  // namespace relayout::native
