// f16 and bf16 conversions of device code; bit for bit those of relayout/dtype.hpp, NaN payloads apart.
#pragma once

#include <cuda_bf16.h>
#include <cuda_fp16.h>

#include <type_traits>

#include "kernel_language.hpp"
#include "relayout/dtype.hpp"

namespace relayout::RELAYOUT_BACKEND {

__device__ __forceinline__ float half_to_float(f16 value) {
  return __half2float(__ushort_as_half(value.bits));
}
__device__ __forceinline__ f16 float_to_half(float value) {
  return {__half_as_ushort(__float2half_rn(value))};
}
__device__ __forceinline__ f16 double_to_half(double value) {
  return {__half_as_ushort(__double2half(value))};
}
/// a * b, of which an f16 may be made: AMD's compiler must not join the two.
__device__ __forceinline__ float product_for_half(float a, float b) { return a * b; }

__device__ __forceinline__ float bfloat_to_float(bf16 value) {
  return __uint_as_float(static_cast<unsigned>(value.bits) << 16);
}

/// The instruction has one NaN without a sign.
__device__ __forceinline__ bf16 float_to_bfloat(float value) {
  const unsigned bits = __float_as_uint(value);
  const auto quiet = static_cast<std::uint16_t>(bits >> 16 | 0x40u);
  const std::uint16_t rounded = __bfloat16_as_ushort(__float2bfloat16_rn(value));
  return {value != value ? quiet : rounded};
}

/// Through a float rounded to odd, so that the second rounding is the only one that counts.
__device__ __forceinline__ bf16 double_to_bfloat(double value) {
  const float truncated = __double2float_rz(value);
  const bool exact = static_cast<double>(truncated) == value || value != value;
  return float_to_bfloat(exact ? truncated : __uint_as_float(__float_as_uint(truncated) | 1u));
}

// Two numbers at a time, of one word: the first lies in its low half.
__device__ __forceinline__ void word_to_floats(f16, std::uint32_t word, float (&values)[2]) {
  values[0] = __half2float(__ushort_as_half(static_cast<std::uint16_t>(word & 0xffffu)));
  values[1] = __half2float(__ushort_as_half(static_cast<std::uint16_t>(word >> 16)));
}
__device__ __forceinline__ void word_to_floats(bf16, std::uint32_t word, float (&values)[2]) {
  values[0] = __uint_as_float(word << 16);
  values[1] = __uint_as_float(word & 0xffff0000u);
}
__device__ __forceinline__ std::uint32_t floats_to_word(f16, const float (&values)[2]) {
  const __half2 pair = __floats2half2_rn(values[0], values[1]);
  std::uint32_t word;
  memcpy(&word, &pair, 4);
  return word;
}
__device__ __forceinline__ std::uint32_t floats_to_word(bf16, const float (&values)[2]) {
  const __nv_bfloat162 pair = __floats2bfloat162_rn(values[0], values[1]);
  std::uint32_t word;
  memcpy(&word, &pair, 4);
  return word;
}

/// Two numbers as two bytes of e4m3fn (3 fraction bits) or e5m2 (2), the first in the lower one: rounded to
/// nearest even, saturated. What becomes of NaN is not said. PTX has the instructions since CUDA 12.1.
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 890 && CUDART_VERSION >= 12010
constexpr bool kHasFp8Conversion = true;
template <int kFractionBits>
__device__ __forceinline__ std::uint32_t floats_to_fp8(float first, float second) {
  std::uint16_t pair;
  if constexpr (kFractionBits == 3) {
    asm("cvt.rn.satfinite.e4m3x2.f32 %0, %1, %2;" : "=h"(pair) : "f"(second), "f"(first));
  } else {
    asm("cvt.rn.satfinite.e5m2x2.f32 %0, %1, %2;" : "=h"(pair) : "f"(second), "f"(first));
  }
  return pair;
}
/// The e4m3fn numbers of the lower two bytes as two halves, exactly.
__device__ __forceinline__ std::uint32_t e4m3_to_halves(std::uint32_t pair) {
  std::uint32_t halves;
  asm("cvt.rn.f16x2.e4m3x2 %0, %1;" : "=r"(halves) : "h"(static_cast<std::uint16_t>(pair)));
  return halves;
}
#else
constexpr bool kHasFp8Conversion = false;
template <int kFractionBits>
__device__ std::uint32_t floats_to_fp8(float first, float second);                            // never called
__device__ __forceinline__ std::uint32_t e4m3_to_halves(std::uint32_t pair) { return pair; }  // never called
#endif

// The two numbers of a word at once; sums and products are rounded once.
template <class T>
constexpr bool kHasHalfArithmetic = true;
template <class T>
using PairOf = std::conditional_t<std::is_same_v<T, f16>, __half2, __nv_bfloat162>;
template <class T, class F>
__device__ __forceinline__ std::uint32_t combine_pairs(T, std::uint32_t a, std::uint32_t b, F&& combine) {
  PairOf<T> first, second;
  memcpy(&first, &a, 4);
  memcpy(&second, &b, 4);
  const auto pair = combine(first, second);
  std::uint32_t word;
  memcpy(&word, &pair, 4);
  return word;
}
template <class T>
__device__ __forceinline__ std::uint32_t add_halves(T type, std::uint32_t a, std::uint32_t b) {
  return combine_pairs(type, a, b, [](auto x, auto y) { return __hadd2_rn(x, y); });
}
template <class T>
__device__ __forceinline__ std::uint32_t sub_halves(T type, std::uint32_t a, std::uint32_t b) {
  return combine_pairs(type, a, b, [](auto x, auto y) { return __hsub2_rn(x, y); });
}
__device__ __forceinline__ std::uint32_t mul_halves(f16 type, std::uint32_t a, std::uint32_t b) {
  return combine_pairs(type, a, b, [](auto x, auto y) { return __hmul2_rn(x, y); });
}
/// All bits of each number for which a < b, or a == b, which no NaN is.
template <class T>
__device__ __forceinline__ std::uint32_t less_halves(T type, std::uint32_t a, std::uint32_t b) {
  return combine_pairs(type, a, b, [](auto x, auto y) { return __hlt2_mask(x, y); });
}
template <class T>
__device__ __forceinline__ std::uint32_t equal_halves(T type, std::uint32_t a, std::uint32_t b) {
  return combine_pairs(type, a, b, [](auto x, auto y) { return __heq2_mask(x, y); });
}
/// All bits of each number that is NaN.
template <class T>
__device__ __forceinline__ std::uint32_t nan_halves(T type, std::uint32_t a) {
  return combine_pairs(type, a, a, [](auto x, auto y) { return __hneu2_mask(x, y); });
}

/// value / (1 + exp(-value)), off by a few units in the last place. Subnormal exponentials and reciprocals
/// count as 0: next to 1, or times a number that a float holds, they would change nothing that the bounds of
/// docs/conventions.md see.
__device__ __forceinline__ float silu(float value) {
  constexpr float kLog2E = 1.44269504f;
  float exponential, reciprocal;
  asm("ex2.approx.ftz.f32 %0, %1;" : "=f"(exponential) : "f"(value * -kLog2E));
  asm("rcp.approx.ftz.f32 %0, %1;" : "=f"(reciprocal) : "f"(1.0f + exponential));
  return value * reciprocal;
}

}  // namespace relayout::RELAYOUT_BACKEND
