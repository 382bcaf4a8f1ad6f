// The first half of a quick cast (quick_cast.hpp): the elements of a vector as integers or as floats.
#pragma once

#include <cmath>
#include <cstdint>
#include <type_traits>

#include "core/number_format.hpp"
#include "kernels/element_ops.hpp"

namespace relayout::RELAYOUT_BACKEND {

/// The words of a vector of elements, of which each may be a part.
template <class T, int kCount>
constexpr int cast_words = (kCount * static_cast<int>(sizeof(T)) + 3) / 4;

/// What integers are held in between the two: all bits of a u32 count where they become 64.
template <class T, class To>
using CastInteger =
    std::conditional_t<(sizeof(T) > 4 || (sizeof(T) == 4 && sizeof(To) > 4)), std::int64_t, std::int32_t>;

/// The bits of element i, which the compiler knows.
template <class T>
__device__ __forceinline__ T element_bits(const std::uint32_t* words, int i) {
  if constexpr (sizeof(T) == 8) {
    return static_cast<T>(static_cast<std::uint64_t>(words[2 * i + 1]) << 32 | words[2 * i]);
  } else {
    constexpr int kPerWord = 4 / static_cast<int>(sizeof(T)), kBits = 32 / kPerWord;
    return static_cast<T>(words[i / kPerWord] >> (i % kPerWord * kBits));
  }
}
/// The words are 0 before.
template <class T>
__device__ __forceinline__ void put_bits(std::uint32_t* words, int i, T bits) {
  if constexpr (sizeof(T) == 8) {
    words[2 * i] = static_cast<std::uint32_t>(bits);
    words[2 * i + 1] = static_cast<std::uint32_t>(bits >> 32);
  } else {
    constexpr int kPerWord = 4 / static_cast<int>(sizeof(T)), kBits = 32 / kPerWord;
    words[i / kPerWord] |= static_cast<std::uint32_t>(bits) << (i % kPerWord * kBits);
  }
}

__device__ __forceinline__ float with_sign_of(float value, std::uint32_t word) {
  return __uint_as_float((__float_as_uint(value) & 0x7fffffffu) | (word & 0x80000000u));
}

/// `value` in a float whose last bit is set where it is not exact: rounding it to a type of 22 bits or fewer
/// rounds `value` once.
__device__ __forceinline__ float odd_float(double value) {
  const float near = static_cast<float>(value);
  const double back = static_cast<double>(near);
  std::uint32_t bits = __float_as_uint(near);
  bits -= fabs(back) > fabs(value) ? 1 : 0;
  return __uint_as_float(back != value && value == value ? bits | 1 : bits);
}
/// The same of a magnitude of 32 bits: what lies beyond a float's 24 bits is one bit at their end.
__device__ __forceinline__ float odd_float(std::uint32_t magnitude) {
  const std::uint32_t joined = (magnitude & ~0xffu) | ((magnitude & 0xff) != 0 ? 0x100u : 0u);
  return static_cast<float>(magnitude < 1u << 24 ? magnitude : joined);
}
/// The same of 64 bits, by a double's 53 first.
__device__ __forceinline__ float odd_float(std::uint64_t magnitude) {
  const std::uint64_t joined = (magnitude & ~std::uint64_t{0x7ff}) | ((magnitude & 0x7ff) != 0 ? 0x800u : 0u);
  return odd_float(static_cast<double>(magnitude < std::uint64_t{1} << 53 ? magnitude : joined));
}

/// An integer as a float: rounded to nearest even if `once`, else for another rounding.
template <class Int>
__device__ __forceinline__ float float_of(Int value, bool once) {
  using Unsigned = std::make_unsigned_t<Int>;
  if (once) return static_cast<float>(value);
  bool negative = false;
  if constexpr (std::is_signed_v<Int>) negative = value < 0;
  const Unsigned bits = static_cast<Unsigned>(value), magnitude = negative ? Unsigned{0} - bits : bits;
  const float result = odd_float(magnitude);
  return negative ? -result : result;
}

/// Calls visit(Int{}) with the integers of T's size and of the format's kind.
template <class T, class Visit>
__device__ __forceinline__ void visit_sign(const NumberFormat& format, Visit&& visit) {
  if (format.kind == NumberKind::integer) {
    visit(std::make_signed_t<T>{});
  } else {
    visit(T{});
  }
}

/// Elements that are integers, in place of their bits with all bits of a 32- or 64-bit integer.
template <class T, class Held, int kCount>
__device__ __forceinline__ void read_integers(const NumberFormat& format, const std::uint32_t* words,
                                              Held (&values)[kCount]) {
  if constexpr (sizeof(T) == 1) {
    if (format.kind == NumberKind::boolean) {
#pragma unroll
      for (int i = 0; i < kCount; ++i) values[i] = element_bits<T>(words, i) != 0 ? 1 : 0;
      return;
    }
  }
  visit_sign<T>(format, [&](auto type) {
    using Int = decltype(type);
#pragma unroll
    for (int i = 0; i < kCount; ++i)
      values[i] = static_cast<Held>(static_cast<Int>(element_bits<T>(words, i)));
  });
}

/// The halves' value, with the sign also of a NaN.
__device__ __forceinline__ void halves_to_floats(std::uint32_t word, float* values) {
  float pair[2];
  word_to_floats(f16{}, word, pair);
  values[0] = with_sign_of(pair[0], word << 16);
  values[1] = with_sign_of(pair[1], word);
}

/// Elements that are floating, as floats; those of f64 rounded to nearest even if `to_f32`, else for another
/// rounding. A NaN stays one, with its sign.
template <class T, int kCount>
__device__ __forceinline__ void read_floats(const NumberFormat& format, const std::uint32_t* words,
                                            bool to_f32, float (&values)[kCount]) {
  if constexpr (sizeof(T) == 8) {
#pragma unroll
    for (int i = 0; i < kCount; ++i) {
      const double value = __longlong_as_double(static_cast<long long>(element_bits<T>(words, i)));
      values[i] = with_sign_of(to_f32 ? static_cast<float>(value) : odd_float(value), words[2 * i + 1]);
    }
  } else if constexpr (sizeof(T) == 4) {
#pragma unroll
    for (int i = 0; i < kCount; ++i) values[i] = __uint_as_float(words[i]);
  } else if constexpr (sizeof(T) == 2) {
    if (format.fraction_bits == 10) {
#pragma unroll
      for (int i = 0; i < kCount; i += 2) halves_to_floats(words[i / 2], values + i);
    } else {
#pragma unroll
      for (int i = 0; i < kCount; i += 2) {
        values[i] = __uint_as_float(words[i / 2] << 16);
        values[i + 1] = __uint_as_float(words[i / 2] & 0xffff0000u);
      }
    }
  } else {
    // Two bytes as the upper ones of two halves: an e5m2 is one without its last bits.
    const auto halves = [&](int i) {
      const std::uint32_t pair = words[i / 4] >> (i % 4 * 8);
      return (pair << 8 & 0xff00u) | (pair << 16 & 0xff000000u);
    };
    if (format.fraction_bits == 2) {
#pragma unroll
      for (int i = 0; i < kCount; i += 2) halves_to_floats(halves(i), values + i);
    } else {
#pragma unroll
      for (int i = 0; i < kCount; i += 2) {
        const std::uint32_t word = halves(i);
        if constexpr (kHasFp8Conversion) {
          float pair[2];
          word_to_floats(f16{}, e4m3_to_halves(words[i / 4] >> (i % 4 * 8)), pair);
          values[i] = with_sign_of(pair[0], word << 16);
          values[i + 1] = with_sign_of(pair[1], word);
        } else {
          // It has an exponent of 4 bits, whose bias is 8 less than that of a half. Its NaN would be 480.
          float pair[2];
          word_to_floats(f16{}, word >> 1 & 0x3f803f80u, pair);
#pragma unroll
          for (int k = 0; k < 2; ++k) {
            const float value = pair[k] * 256.0f;
            const float number = value == 480.0f ? __uint_as_float(0x7fc00000u) : value;
            values[i + k] = with_sign_of(number, k == 0 ? word << 16 : word);
          }
        }
      }
    }
  }
}

}  // namespace relayout::RELAYOUT_BACKEND
