// Approximations (Precision), and those that accurate functions begin with, from the hardware's reciprocal,
// roots and power of 2, each within 1 ulp; the reciprocal of f64 within 2^-22. Then those of AMD's library
// whose zeros must be put right.
#pragma once

#include <cmath>

#include "kernel_language.hpp"

namespace relayout::RELAYOUT_BACKEND {

/// Correctly rounded: the hardware's reciprocal does not take all divisors.
__device__ __forceinline__ float full_range_quotient(float x, float y) { return x / y; }
/// The product with the reciprocal, and one step of Newton's on it.
__device__ __forceinline__ float approximate_quotient(float x, float y) {
  const float reciprocal = __builtin_amdgcn_rcpf(y), quotient = x * reciprocal;
  return fmaf(fmaf(-quotient, y, x), reciprocal, quotient);
}
__device__ __forceinline__ float approximate_root(float x) { return __builtin_amdgcn_sqrtf(x); }
__device__ __forceinline__ float normal_root(float x) { return __builtin_amdgcn_sqrtf(x); }
/// 1 - 2 / (exp(2 |x|) + 1); where that cancels, x - x^3 / 3.
__device__ __forceinline__ float approximate_tanh(float x) {
  constexpr float kTwiceLog2E = 2.88539008f, kThird = 0.333333333f;
  const float power = __builtin_amdgcn_exp2f(fabsf(x) * kTwiceLog2E);
  const float far = copysignf(fmaf(-2.0f, __builtin_amdgcn_rcpf(power + 1), 1.0f), x);
  return fabsf(x) < 0.0625f ? fmaf(-kThird * x * x, x, x) : far;
}
/// Within 1 ulp; __expf is not within 2.
__device__ __forceinline__ float approximate_exp(float x) { return expf(x); }

/// 2^x; 0 where that is below 2^-126.
__device__ __forceinline__ float power_of_two(float x) { return __builtin_amdgcn_exp2f(x); }
/// The same without that exception.
__device__ __forceinline__ float subnormal_power_of_two(float x) { return exp2f(x); }
__device__ __forceinline__ float approximate_log2(float x) { return log2f(x); }
/// The same of a normal number or 0.
__device__ __forceinline__ float normal_log2(float x) { return __builtin_amdgcn_logf(x); }
/// 1 / x where both are normal numbers.
__device__ __forceinline__ float approximate_reciprocal(float x) { return __builtin_amdgcn_rcpf(x); }
__device__ __forceinline__ float approximate_reciprocal_root(float x) { return __builtin_amdgcn_rsqf(x); }
__device__ __forceinline__ double approximate_reciprocal(double x) { return __builtin_amdgcn_rcp(x); }

// Both functions have their operand's sign. AMD's give +0 for -0: expm1 in both types, log1p in f64.
__device__ __forceinline__ float exp_minus_one(float x) { return copysignf(std::expm1(x), x); }
__device__ __forceinline__ double exp_minus_one(double x) { return copysign(std::expm1(x), x); }
__device__ __forceinline__ float log_of_one_plus(float x) { return std::log1p(x); }
__device__ __forceinline__ double log_of_one_plus(double x) { return copysign(std::log1p(x), x); }

}  // namespace relayout::RELAYOUT_BACKEND
