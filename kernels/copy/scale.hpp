// alpha * value + beta * old, in double where an operand is f64, else in fp32. The product with alpha is
// rounded, the sum is fused with the product with beta, and the result is rounded once to its type.
#pragma once

#include <type_traits>

#include "core/copy_operands.hpp"
#include "kernels/element_ops.hpp"

namespace relayout::RELAYOUT_BACKEND {

template <class From, class To>
using ScaleType =
    std::conditional_t<std::is_same_v<From, double> || std::is_same_v<To, double>, double, float>;

__device__ __forceinline__ float fused_multiply_add(float a, float b, float c) { return fmaf(a, b, c); }
__device__ __forceinline__ double fused_multiply_add(double a, double b, double c) { return fma(a, b, c); }

template <class To, class From>
__device__ __forceinline__ To scale(const CopyOperands& p, From value) {
  using Scale = ScaleType<From, To>;
  const auto alpha = static_cast<Scale>(p.alpha);
  if constexpr (std::is_same_v<To, f16> && std::is_same_v<Scale, float>) {
    return convert<To>(product_for_half(alpha, convert<Scale>(value)));
  } else {
    return convert<To>(alpha * convert<Scale>(value));
  }
}

template <class To, class From>
__device__ __forceinline__ To scale_and_add(const CopyOperands& p, From value, To old) {
  using Scale = ScaleType<From, To>;
  const Scale product = static_cast<Scale>(p.alpha) * convert<Scale>(value);
  return convert<To>(fused_multiply_add(static_cast<Scale>(p.beta), convert<Scale>(old), product));
}

/// The element at `address`, where beta needs it.
template <class To, class From>
__device__ __forceinline__ To scale_into(const CopyOperands& p, From value, const To* address) {
  return p.beta == 0 ? scale<To>(p, value) : scale_and_add<To>(p, value, *address);
}

}  // namespace relayout::RELAYOUT_BACKEND
