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

}  // namespace relayout::RELAYOUT_BACKEND
