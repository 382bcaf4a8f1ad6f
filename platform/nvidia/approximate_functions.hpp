// The hardware's approximations (Precision); their errors are those of the PTX ISA: div.full and div.approx
// within 2 ulp, sqrt.approx within 2^-23 and tanh.approx within 2^-11 of the value.
#pragma once

#include "kernel_language.hpp"

namespace relayout::RELAYOUT_BACKEND {

__device__ __forceinline__ float full_range_quotient(float x, float y) {
  float quotient;
  asm("div.full.f32 %0, %1, %2;" : "=f"(quotient) : "f"(x), "f"(y));
  return quotient;
}
__device__ __forceinline__ float approximate_quotient(float x, float y) { return __fdividef(x, y); }
__device__ __forceinline__ float approximate_root(float x) {
  float root;
  asm("sqrt.approx.f32 %0, %1;" : "=f"(root) : "f"(x));
  return root;
}
__device__ __forceinline__ float approximate_tanh(float x) {
  float result;
  asm("tanh.approx.f32 %0, %1;" : "=f"(result) : "f"(x));
  return result;
}
/// Within 1 ulp; __expf is not within 2.
__device__ __forceinline__ float approximate_exp(float x) { return expf(x); }

}  // namespace relayout::RELAYOUT_BACKEND
