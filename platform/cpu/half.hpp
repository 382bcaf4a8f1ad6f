// The 16-bit floating types in kernels: here the software conversions of the public header.
#pragma once

#include "kernel_language.hpp"
#include "relayout/dtype.hpp"

namespace relayout::RELAYOUT_BACKEND {

__device__ __forceinline__ float half_to_float(f16 value) { return to_float(value); }
__device__ __forceinline__ f16 float_to_half(float value) { return to_f16(value); }
__device__ __forceinline__ f16 double_to_half(double value) { return to_f16(value); }

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

/// value / (1 + exp(-value)).
__device__ __forceinline__ float silu(float value) { return value / (1.0f + std::exp(-value)); }

}  // namespace relayout::RELAYOUT_BACKEND
