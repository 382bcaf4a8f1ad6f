// What networks apply to every activation. In f32 each takes few enough instructions to stand in the code for
// several elements beside each other. Which they are: is_activation (elementwise_params.hpp).
#pragma once

#include <cmath>

#include "kernels/elementwise/cheap_operations.hpp"

namespace relayout::RELAYOUT_BACKEND {

/// exp(-|x|), 1 + exp(-|x|) does not overflow.
template <class C>
__device__ __forceinline__ C sigmoid(C x) {
  const C tail = std::exp(-absolute(x)), whole = C{1} + tail;
  return x < 0 ? tail / whole : C{1} / whole;
}

/// x / 2 * erfc(-x / sqrt(2)): 1 + erf would cancel for negative x.
template <class C>
__device__ __forceinline__ C gauss_gate(C x) {
  constexpr C kRootHalf = static_cast<C>(0.70710678118654752440);
  return C{0.5} * x * std::erfc(-x * kRootHalf);
}

/// x / 2 * (1 + tanh(y)) = x * sigmoid(2 * y), y = sqrt(2 / pi) * (x + 0.044715 * x^3).
template <class C>
__device__ __forceinline__ C tanh_gate(C x) {
  constexpr C kTwoRoots = static_cast<C>(1.5957691216057307117), kCubic = static_cast<C>(0.044715);
  return x * sigmoid(kTwoRoots * (x + kCubic * x * x * x));
}

/// apply(f) with the function of one element; false for other operations.
template <class C, class Apply>
__device__ __forceinline__ bool visit_activation(Operation operation, Apply&& apply) {
  switch (operation) {
    case Operation::exp:
      apply([](C x) { return std::exp(x); });
      return true;
    case Operation::tanh:
      apply([](C x) { return std::tanh(x); });
      return true;
    case Operation::sigmoid:
      apply([](C x) { return sigmoid(x); });
      return true;
    case Operation::silu:
      apply([](C x) { return x * sigmoid(x); });
      return true;
    case Operation::gelu:
      apply([](C x) { return gauss_gate(x); });
      return true;
    case Operation::gelu_tanh:
      apply([](C x) { return tanh_gate(x); });
      return true;
    default:
      return false;
  }
}

}  // namespace relayout::RELAYOUT_BACKEND
