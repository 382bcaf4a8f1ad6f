// f16 and bf16 conversions of device code; bit for bit those of relayout/dtype.hpp, NaN payloads apart.
#pragma once

#include <cuda_fp16.h>

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

__device__ __forceinline__ float bfloat_to_float(bf16 value) {
  return __uint_as_float(static_cast<unsigned>(value.bits) << 16);
}

/// By integers on every architecture: hardware conversion starts at sm_80, and memory is the bound anyway.
__device__ __forceinline__ bf16 float_to_bfloat(float value) {
  const unsigned bits = __float_as_uint(value);
  if ((bits & 0x7fffffffu) > 0x7f800000u) return {static_cast<std::uint16_t>((bits >> 16) | 0x40u)};
  return {static_cast<std::uint16_t>((bits + 0x7fffu + ((bits >> 16) & 1u)) >> 16)};
}

/// Through a float rounded to odd, so that the second rounding is the only one that counts.
__device__ __forceinline__ bf16 double_to_bfloat(double value) {
  const float truncated = __double2float_rz(value);
  const bool exact = static_cast<double>(truncated) == value || value != value;
  return float_to_bfloat(exact ? truncated : __uint_as_float(__float_as_uint(truncated) | 1u));
}

}  // namespace relayout::RELAYOUT_BACKEND
