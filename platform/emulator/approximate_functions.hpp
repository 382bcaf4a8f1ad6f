// What GPUs approximate (Precision), exactly.
#pragma once

#include <cmath>

#include "kernel_language.hpp"

namespace relayout::RELAYOUT_BACKEND {

__device__ __forceinline__ float full_range_quotient(float x, float y) { return x / y; }
__device__ __forceinline__ float approximate_quotient(float x, float y) { return x / y; }
__device__ __forceinline__ float approximate_root(float x) { return std::sqrt(x); }
__device__ __forceinline__ float approximate_tanh(float x) { return std::tanh(x); }
__device__ __forceinline__ float approximate_exp(float x) { return std::exp(x); }

}  // namespace relayout::RELAYOUT_BACKEND
