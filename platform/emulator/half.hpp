// The 16-bit floating types in kernels: here the software conversions of the public header.
#pragma once

#include "kernel_language.hpp"
#include "relayout/dtype.hpp"

namespace relayout::RELAYOUT_BACKEND {

__device__ __forceinline__ float half_to_float(f16 value) { return to_float(value); }
__device__ __forceinline__ f16 float_to_half(float value) { return to_f16(value); }
__device__ __forceinline__ f16 double_to_half(double value) { return to_f16(value); }
/// a * b, of which an f16 may be made: AMD's compiler must not join the two.
__device__ __forceinline__ float product_for_half(float a, float b) { return a * b; }

__device__ __forceinline__ float bfloat_to_float(bf16 value) { return to_float(value); }
__device__ __forceinline__ bf16 float_to_bfloat(float value) { return to_bf16(value); }
__device__ __forceinline__ bf16 double_to_bfloat(double value) { return to_bf16(value); }

// Two numbers at a time, of one word: the first lies in its low half.
template <class T>
__device__ __forceinline__ void word_to_floats(T, std::uint32_t word, float (&values)[2]) {
  values[0] = to_float(T{static_cast<std::uint16_t>(word & 0xffffu)});
  values[1] = to_float(T{static_cast<std::uint16_t>(word >> 16)});
}
__device__ __forceinline__ std::uint32_t floats_to_word(f16, const float (&values)[2]) {
  return to_f16(values[0]).bits | static_cast<std::uint32_t>(to_f16(values[1]).bits) << 16;
}
__device__ __forceinline__ std::uint32_t floats_to_word(bf16, const float (&values)[2]) {
  return to_bf16(values[0]).bits | static_cast<std::uint32_t>(to_bf16(values[1]).bits) << 16;
}

/// There are no instructions for e4m3fn and e5m2: kernels convert them by integers
/// (kernels/copy/quick_cast.hpp).
constexpr bool kHasFp8Conversion = false;
template <int kFractionBits>
__device__ std::uint32_t floats_to_fp8(float first, float second);                            // never called
__device__ __forceinline__ std::uint32_t e4m3_to_halves(std::uint32_t pair) { return pair; }  // never called

// The two numbers of a word at once; sums and products are rounded once.
template <class T>
constexpr bool kHasHalfArithmetic = true;
template <class T, class F>
__device__ __forceinline__ std::uint32_t combine_pairs(T type, std::uint32_t a, std::uint32_t b,
                                                       F&& combine) {
  float first[2], second[2];
  word_to_floats(type, a, first);
  word_to_floats(type, b, second);
  const float pair[2] = {combine(first[0], second[0]), combine(first[1], second[1])};
  return floats_to_word(type, pair);
}
template <class T>
__device__ __forceinline__ std::uint32_t add_halves(T type, std::uint32_t a, std::uint32_t b) {
  return combine_pairs(type, a, b, [](float x, float y) { return x + y; });
}
template <class T>
__device__ __forceinline__ std::uint32_t sub_halves(T type, std::uint32_t a, std::uint32_t b) {
  return combine_pairs(type, a, b, [](float x, float y) { return x - y; });
}
__device__ __forceinline__ std::uint32_t mul_halves(f16 type, std::uint32_t a, std::uint32_t b) {
  return combine_pairs(type, a, b, [](float x, float y) { return x * y; });
}

/// All bits of each number for which a < b, or a == b, which no NaN is.
template <class T>
__device__ __forceinline__ std::uint32_t less_halves(T type, std::uint32_t a, std::uint32_t b) {
  float first[2], second[2];
  word_to_floats(type, a, first);
  word_to_floats(type, b, second);
  return (first[0] < second[0] ? 0xffffu : 0u) | (first[1] < second[1] ? 0xffff0000u : 0u);
}
template <class T>
__device__ __forceinline__ std::uint32_t equal_halves(T type, std::uint32_t a, std::uint32_t b) {
  float first[2], second[2];
  word_to_floats(type, a, first);
  word_to_floats(type, b, second);
  return (first[0] == second[0] ? 0xffffu : 0u) | (first[1] == second[1] ? 0xffff0000u : 0u);
}
/// All bits of each number that is NaN.
template <class T>
__device__ __forceinline__ std::uint32_t nan_halves(T type, std::uint32_t a) {
  float values[2];
  word_to_floats(type, a, values);
  return (values[0] != values[0] ? 0xffffu : 0u) | (values[1] != values[1] ? 0xffff0000u : 0u);
}

/// value / (1 + exp(-value)).
__device__ __forceinline__ float silu(float value) { return value / (1.0f + std::exp(-value)); }

}  // namespace relayout::RELAYOUT_BACKEND
