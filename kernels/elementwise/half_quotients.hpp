// Quotients and roots of f16 and bf16, computed in f32 without a branch. The processor's division and root of
// f32 branch for rare operands, so that a lane computes its elements one after the other: 0.5 to 1.5 us for
// 16 of them. Here each is as exact as the type needs. The results are those of f32's operation, rounded.
//
// A number of f16 has 11 digits, one between two of them 12. So a quotient that is no such number differs
// from it by 2^-23 of its value, a reciprocal by 2^-22, a root by 2^-25. bf16 has 8 digits: by 2^-17, 2^-16
// and 2^-19.
#pragma once

#include <limits>

#include "approximate_functions.hpp"
#include "kernels/words.hpp"

namespace relayout::RELAYOUT_BACKEND {

template <class T>
struct HalfQuotients;

/// f32 has all its numbers, their reciprocals and their quotients as normal numbers.
template <>
struct HalfQuotients<f16> {
  /// Within 2^-23.
  static __device__ __forceinline__ float reciprocal(float x) { return approximate_reciprocal(x); }
  /// The rest corrects what the reciprocal's error makes of the quotient. It is 0 for exact quotients, whose
  /// sign the sum would lose, and NaN where one is infinite or NaN.
  static __device__ __forceinline__ float quotient(float x, float y) {
    const float inverse = approximate_reciprocal(y), near = product_for_half(x, inverse),
                rest = fmaf(-near, y, x);
    return fabsf(rest) > 0 ? fmaf(rest, inverse, near) : near;
  }
  /// Rounded as f32's root is, by Newton's step.
  static __device__ __forceinline__ float root(float x) {
    const float inverse = approximate_reciprocal_root(x), near = x * inverse, rest = fmaf(-near, near, x);
    return x == 0 || x == std::numeric_limits<float>::infinity() ? x : fmaf(rest, 0.5f * inverse, near);
  }
  static __device__ __forceinline__ float reciprocal_root(float x) { return approximate_reciprocal_root(x); }
};

/// Like f32, bf16 has numbers whose reciprocals are subnormal, and subnormal ones. So divisors that are large
/// or small are brought near 1 by a power of 2, and the result is put right by it.
template <>
struct HalfQuotients<bf16> {
  static __device__ __forceinline__ float reciprocal(float x) {
    const float scale = scale_of(x);
    return approximate_reciprocal(x * scale) * scale;
  }
  /// The dividend is scaled first: its product with the reciprocal could be subnormal.
  static __device__ __forceinline__ float quotient(float x, float y) {
    const float scale = scale_of(y);
    return x * scale * approximate_reciprocal(y * scale);
  }
  static __device__ __forceinline__ float root(float x) {
    const bool small = x < kSmall;
    return normal_root(small ? x * kLarge : x) * (small ? kRootOfSmall : 1.0f);
  }
  static __device__ __forceinline__ float reciprocal_root(float x) {
    const bool small = x < kSmall;
    return approximate_reciprocal_root(small ? x * kLarge : x) * (small ? kRootOfLarge : 1.0f);
  }

 private:
  static constexpr float kSmall = 0x1p-64f, kLarge = 0x1p64f, kRootOfSmall = 0x1p-32f, kRootOfLarge = 0x1p32f;

  static __device__ __forceinline__ float scale_of(float x) {
    return fabsf(x) < kSmall ? kLarge : fabsf(x) > kLarge ? kSmall : 1.0f;
  }
};

/// f of both numbers of a word.
template <class T, class F>
__device__ __forceinline__ std::uint32_t of_halves(std::uint32_t word, const F& f) {
  float numbers[2];
  word_to_floats(T{}, word, numbers);
  for (float& number : numbers) number = f(number);
  return floats_to_word(T{}, numbers);
}
template <class T, class F>
__device__ __forceinline__ std::uint32_t of_halves(std::uint32_t word, std::uint32_t other, const F& f) {
  float numbers[2], others[2];
  word_to_floats(T{}, word, numbers);
  word_to_floats(T{}, other, others);
  for (int i = 0; i < 2; ++i) numbers[i] = f(numbers[i], others[i]);
  return floats_to_word(T{}, numbers);
}

}  // namespace relayout::RELAYOUT_BACKEND
