// What GPUs approximate (Precision), exactly.
#pragma once

#include <cmath>

#include "kernel_language.hpp"

namespace relayout::RELAYOUT_BACKEND {

__device__ __forceinline__ float full_range_quotient(float x, float y) { return x / y; }
__device__ __forceinline__ float approximate_quotient(float x, float y) { return x / y; }
__device__ __forceinline__ float approximate_root(float x) { return std::sqrt(x); }
__device__ __forceinline__ float normal_root(float x) { return std::sqrt(x); }
__device__ __forceinline__ float approximate_tanh(float x) { return std::tanh(x); }
__device__ __forceinline__ float approximate_exp(float x) { return std::exp(x); }

__device__ __forceinline__ float power_of_two(float x) { return std::exp2(x); }
__device__ __forceinline__ float subnormal_power_of_two(float x) { return std::exp2(x); }
__device__ __forceinline__ float approximate_log2(float x) { return std::log2(x); }
__device__ __forceinline__ float normal_log2(float x) { return std::log2(x); }
__device__ __forceinline__ float approximate_reciprocal(float x) { return 1 / x; }
__device__ __forceinline__ float approximate_reciprocal_root(float x) { return 1 / std::sqrt(x); }
__device__ __forceinline__ double approximate_reciprocal(double x) { return 1 / x; }

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
