// Numbers of f32 and f64 become integers: the loops that the compiler vectorises, and those for AVX2, whose
// instructions that pack integers also limit them, which the compiler does not make use of.
#include <cstdint>
#include <cstring>
#include <limits>
#include <type_traits>

#include "host/cpu/copy/cast_loops.hpp"
#include "host/cpu/processor.hpp"
#include "host/cpu/vectorised.hpp"

namespace relayout::native {
namespace {

/// By the number's own bits: the language's conversion branches by size and sign, which takes 3 to 5 ns where
/// these change.
template <class Float>
RELAYOUT_INLINE std::uint64_t truncated_to_u64(Float value) {
  using Bits = std::conditional_t<sizeof(Float) == 8, std::uint64_t, std::uint32_t>;
  constexpr int kFraction = std::numeric_limits<Float>::digits - 1;
  constexpr int kBias = std::numeric_limits<Float>::max_exponent - 1;
  Bits bits;
  std::memcpy(&bits, &value, sizeof bits);
  const Bits magnitude = bits & ~Bits{0} >> 1;
  const auto shift = static_cast<std::int64_t>(magnitude >> kFraction) - (kBias + kFraction);
  const std::uint64_t whole = (magnitude & ((Bits{1} << kFraction) - 1)) | std::uint64_t{1} << kFraction;
  const std::uint64_t left = whole << (shift & 63), right = whole >> (shift < -63 ? 63 : -shift & 63);
  const std::uint64_t number = shift > 63 - kFraction ? ~std::uint64_t{0} : shift < 0 ? right : left;
  return bits != magnitude || value != value ? 0 : number;
}

/// Only numbers for which the language's conversion has a result are given to it.
template <class Int, class Float>
RELAYOUT_INLINE Int truncated(Float value) {
  constexpr Int kMin = std::numeric_limits<Int>::min(), kMax = std::numeric_limits<Int>::max();
  if constexpr (sizeof(Int) < 4 || (sizeof(Float) == 8 && std::is_same_v<Int, std::int32_t>)) {
    Float near = value == value ? value : Float{0};
    near = near < Float{kMin} ? Float{kMin} : near;
    near = near > Float{kMax} ? Float{kMax} : near;
    return static_cast<Int>(static_cast<std::int32_t>(near));
  } else if constexpr (std::is_same_v<Int, std::uint64_t>) {
    return truncated_to_u64(value);
  } else {
    constexpr int kBits = std::numeric_limits<Int>::digits;
    constexpr Float kEnd = static_cast<Float>(std::uint64_t{1} << (kBits - 1)) * 2;
    constexpr Float kBegin = std::is_signed_v<Int> ? -kEnd : Float{0};
    const bool above = value >= kEnd;
    Float near = value == value && !above ? value : Float{0};
    near = near < kBegin ? kBegin : near;
    const Int result = static_cast<Int>(near);
    return above ? kMax : result;
  }
}

template <class Float, class Int>
void truncate(const void* in, void* out, std::int64_t count) {
  const Float* from = static_cast<const Float*>(in);
  Int* to = static_cast<Int*>(out);
  for (std::int64_t i = 0; i < count; ++i) to[i] = truncated<Int>(from[i]);
}

#if defined(RELAYOUT_X86)
#define RELAYOUT_AVX2 __attribute__((target("avx2"))) inline

/// Eight numbers as integers of 32 bits, none above the greatest of Int, and none below the least of an
/// unsigned Int. Numbers below -2^31 become that.
template <class Int>
RELAYOUT_AVX2 __m256i truncated_eight(const float* from) {
  const __m256 value = _mm256_loadu_ps(from),
               most = _mm256_set1_ps(static_cast<float>(std::numeric_limits<Int>::max()));
  const __m256 number = std::is_unsigned_v<Int>
                            ? _mm256_max_ps(value, _mm256_setzero_ps())  // 0 for NaN
                            : _mm256_and_ps(value, _mm256_cmp_ps(value, value, _CMP_ORD_Q));
  return _mm256_cvttps_epi32(_mm256_min_ps(number, most));
}

/// Those of u32 are less by 2^31, and so within the conversion's range.
template <class Int>
RELAYOUT_AVX2 __m128i truncated_four(const double* from) {
  const __m256d value = _mm256_loadu_pd(from),
                most = _mm256_set1_pd(static_cast<double>(std::numeric_limits<Int>::max()));
  const __m256d number = std::is_unsigned_v<Int>
                             ? _mm256_max_pd(value, _mm256_setzero_pd())
                             : _mm256_and_pd(value, _mm256_cmp_pd(value, value, _CMP_ORD_Q));
  const __m256d limited = _mm256_min_pd(number, most);
  if constexpr (!std::is_same_v<Int, std::uint32_t>) return _mm256_cvttpd_epi32(limited);
  const __m256d whole = _mm256_round_pd(limited, _MM_FROUND_TO_ZERO | _MM_FROUND_NO_EXC);
  const __m128i shifted = _mm256_cvttpd_epi32(_mm256_sub_pd(whole, _mm256_set1_pd(0x1p31)));
  return _mm_xor_si128(shifted, _mm_set1_epi32(std::numeric_limits<std::int32_t>::min()));
}
template <class Int>
RELAYOUT_AVX2 __m256i truncated_eight(const double* from) {
  return _mm256_set_m128i(truncated_four<Int>(from + 4), truncated_four<Int>(from));
}

/// Sixteen numbers as integers of 16 bits, limited to the range of Int, in the order that packing gives.
template <class Int, class Float>
RELAYOUT_AVX2 __m256i packed_sixteen(const Float* from) {
  const __m256i first = truncated_eight<Int>(from), second = truncated_eight<Int>(from + 8);
  return std::is_unsigned_v<Int> ? _mm256_packus_epi32(first, second) : _mm256_packs_epi32(first, second);
}

/// The integers of a vector, from number `from` on. Packing takes the halves of its operands in turn, so
/// groups of the result are put in their order.
template <class Int, class Float>
RELAYOUT_AVX2 __m256i truncated_vector(const Float* from) {
  if constexpr (sizeof(Int) == 4) {
    return truncated_eight<Int>(from);
  } else if constexpr (sizeof(Int) == 2) {
    return _mm256_permute4x64_epi64(packed_sixteen<Int>(from), 0xd8);
  } else {
    const __m256i first = packed_sixteen<Int>(from), second = packed_sixteen<Int>(from + 16);
    const __m256i packed =
        std::is_unsigned_v<Int> ? _mm256_packus_epi16(first, second) : _mm256_packs_epi16(first, second);
    return _mm256_permutevar8x32_epi32(packed, _mm256_setr_epi32(0, 4, 1, 5, 2, 6, 3, 7));
  }
}

template <class Float, class Int>
__attribute__((target("avx2"))) void truncate_avx2(const void* in, void* out, std::int64_t count) {
  constexpr std::int64_t kVector = 32 / static_cast<std::int64_t>(sizeof(Int));
  const Float* from = static_cast<const Float*>(in);
  Int* to = static_cast<Int*>(out);
  std::int64_t i = 0;
  for (; i + kVector <= count; i += kVector)
    _mm256_storeu_si256(reinterpret_cast<__m256i*>(to + i), truncated_vector<Int>(from + i));
  truncate<Float, Int>(from + i, to + i, count - i);
}
#undef RELAYOUT_AVX2
#endif

template <class Float, class Int>
ConvertRow truncation() {
  [[maybe_unused]] constexpr bool kPacks =
      sizeof(Int) <= 2 || (sizeof(Int) == 4 && std::is_same_v<Float, double>);
  if constexpr (sizeof(Int) == 8) {
    return vectorised_conversion<truncate<Float, Int>>();
#if defined(RELAYOUT_X86)
  } else if constexpr (kPacks) {
    return has_avx2() ? &truncate_avx2<Float, Int> : &truncate<Float, Int>;
#endif
  } else {
    return vectorised<truncate<Float, Int>>();
  }
}

template <class Float>
ConvertRow truncating(DType out) {
  switch (out) {
    case DType::u8:
      return truncation<Float, std::uint8_t>();
    case DType::i8:
      return truncation<Float, std::int8_t>();
    case DType::u16:
      return truncation<Float, std::uint16_t>();
    case DType::i16:
      return truncation<Float, std::int16_t>();
    case DType::u32:
      return truncation<Float, std::uint32_t>();
    case DType::i32:
      return truncation<Float, std::int32_t>();
    case DType::u64:
      return truncation<Float, std::uint64_t>();
    default:
      return truncation<Float, std::int64_t>();
  }
}

}  // namespace

ConvertRow truncated_row(DType in, DType out) {
  return in == DType::f64 ? truncating<double>(out) : truncating<float>(out);
}

}  // namespace relayout::native
