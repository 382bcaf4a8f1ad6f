// The hardware's approximations (Precision), and those that accurate functions begin with; their errors are
// those of the PTX ISA: div.full and div.approx within 2 ulp, sqrt.approx within 2^-23, tanh.approx within
// 2^-11, ex2.approx within 2^-22 and rcp.approx of f32 within 1 ulp of the value.
#pragma once

#include <cmath>

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
/// The same of a normal number or 0, which takes fewer instructions.
__device__ __forceinline__ float normal_root(float x) {
  float root;
  asm("sqrt.approx.ftz.f32 %0, %1;" : "=f"(root) : "f"(x));
  return root;
}
__device__ __forceinline__ float approximate_tanh(float x) {
  float result;
  asm("tanh.approx.f32 %0, %1;" : "=f"(result) : "f"(x));
  return result;
}
/// Within 1 ulp; __expf is not within 2.
__device__ __forceinline__ float approximate_exp(float x) { return expf(x); }

/// 2^x; 0 where that is below 2^-126.
__device__ __forceinline__ float power_of_two(float x) {
  float power;
  asm("ex2.approx.ftz.f32 %0, %1;" : "=f"(power) : "f"(x));
  return power;
}
/// The same without that exception.
__device__ __forceinline__ float subnormal_power_of_two(float x) {
  float power;
  asm("ex2.approx.f32 %0, %1;" : "=f"(power) : "f"(x));
  return power;
}
/// Within 2^-22 near 1, within 2^-22 of the value elsewhere.
__device__ __forceinline__ float approximate_log2(float x) {
  float logarithm;
  asm("lg2.approx.f32 %0, %1;" : "=f"(logarithm) : "f"(x));
  return logarithm;
}
/// The same of a normal number or 0, which takes fewer instructions.
__device__ __forceinline__ float normal_log2(float x) {
  float logarithm;
  asm("lg2.approx.ftz.f32 %0, %1;" : "=f"(logarithm) : "f"(x));
  return logarithm;
}
/// 1 / x where both are normal numbers.
__device__ __forceinline__ float approximate_reciprocal(float x) {
  float reciprocal;
  asm("rcp.approx.ftz.f32 %0, %1;" : "=f"(reciprocal) : "f"(x));
  return reciprocal;
}
/// 1 / sqrt(x) where x is a normal number, within 2^-22 of the value.
__device__ __forceinline__ float approximate_reciprocal_root(float x) {
  float root;
  asm("rsqrt.approx.ftz.f32 %0, %1;" : "=f"(root) : "f"(x));
  return root;
}
/// The reciprocal of f64 within 2^-19 of the value.
__device__ __forceinline__ double approximate_reciprocal(double x) {
  double reciprocal;
  asm("rcp.approx.ftz.f64 %0, %1;" : "=d"(reciprocal) : "d"(x));
  return reciprocal;
}

// The library's functions, whose zeros have the right sign.
template <class C>
__device__ __forceinline__ C exp_minus_one(C x) {
  return std::expm1(x);
}
template <class C>
__device__ __forceinline__ C log_of_one_plus(C x) {
  return std::log1p(x);
}

}  // namespace relayout::RELAYOUT_BACKEND
