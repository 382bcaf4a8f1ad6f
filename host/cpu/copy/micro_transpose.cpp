#include "host/cpu/copy/micro_transpose.hpp"

#include <algorithm>
#include <cstring>
#include <utility>

#include "host/cpu/processor.hpp"
#include "relayout/dtype.hpp"

namespace relayout::native {
namespace {

namespace plain {
constexpr int kVectorBytes = 16;
#include "host/cpu/copy/transpose_squares.inl"
}  // namespace plain

#if defined(RELAYOUT_X86)
#if defined(__clang__)
#pragma clang attribute push(__attribute__((target("avx2,f16c"))), apply_to = function)
#else
#pragma GCC push_options
#pragma GCC target("avx2,f16c")
#endif
namespace avx2 {
constexpr int kVectorBytes = 32;
#include "host/cpu/copy/transpose_squares.inl"

/// Eight f32 of a line as f16.
struct LoadToF16 {
  static constexpr int kSize = 2;
  template <class V>
  static void load(const char* line, std::int64_t at, V& out) {
    const float* const from = reinterpret_cast<const float*>(line) + at;
    const __m128i lower = halves(from);
    if constexpr (sizeof(V) == 16) {
      std::memcpy(&out, &lower, 16);
    } else {
      const __m256i both = _mm256_inserti128_si256(_mm256_castsi128_si256(lower), halves(from + 8), 1);
      std::memcpy(&out, &both, 32);
    }
  }
  static __m128i halves(const float* from) {
    return _mm256_cvtps_ph(_mm256_loadu_ps(from), _MM_FROUND_TO_NEAREST_INT);
  }
  static void move(const char* line, std::int64_t at, char* out) {
    const f16 value = to_f16(reinterpret_cast<const float*>(line)[at]);
    std::memcpy(out, &value, 2);
  }
};
}  // namespace avx2
#if defined(__clang__)
#pragma clang attribute pop
#else
#pragma GCC pop_options
#endif
#endif

template <int Size, class In>
auto choose() noexcept {
#if defined(RELAYOUT_X86)
  if (has_f16c()) return avx2::transpose<avx2::LoadSame<Size>, In>;
#endif
  return plain::transpose<plain::LoadSame<Size>, In>;
}

template <class In>
auto transpose_from(std::int64_t element_bytes) noexcept {
  switch (element_bytes) {
    case 1:
      return choose<1, In>();
    case 2:
      return choose<2, In>();
    case 4:
      return choose<4, In>();
    case 8:
      return choose<8, In>();
    default:
      return choose<16, In>();
  }
}

}  // namespace

TransposeBlock transpose_block(std::int64_t element_bytes) noexcept {
  return transpose_from<ConstLines>(element_bytes);
}

TransposeGathered transpose_gathered(std::int64_t element_bytes) noexcept {
  return transpose_from<GatheredLines>(element_bytes);
}

TransposeBlock transpose_block_to_f16() noexcept {
#if defined(RELAYOUT_X86)
  if (has_f16c()) return avx2::transpose<avx2::LoadToF16, ConstLines>;
#endif
  return nullptr;
}

}  // namespace relayout::native
