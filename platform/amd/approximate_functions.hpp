// Approximations (Precision) from the hardware's reciprocal, root and power of 2, each within 1 ulp.
#pragma once

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
/// 1 - 2 / (exp(2 |x|) + 1); where that cancels, x - x^3 / 3.
__device__ __forceinline__ float approximate_tanh(float x) {
  constexpr float kTwiceLog2E = 2.88539008f, kThird = 0.333333333f;
  const float power = __builtin_amdgcn_exp2f(fabsf(x) * kTwiceLog2E);
  const float far = copysignf(fmaf(-2.0f, __builtin_amdgcn_rcpf(power + 1), 1.0f), x);
  return fabsf(x) < 0.0625f ? fmaf(-kThird * x * x, x, x) : far;
}
/// Within 1 ulp; __expf is not within 2.
__device__ __forceinline__ float approximate_exp(float x) { return expf(x); }

}  // namespace relayout::RELAYOUT_BACKEND
