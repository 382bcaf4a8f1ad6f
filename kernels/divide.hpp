// Division by a Divisor.
#pragma once

#include "kernel_language.hpp"
#include "kernels/divisor.hpp"

namespace relayout::RELAYOUT_BACKEND {

/// index / d for index < 2^31; index becomes the remainder.
__device__ __forceinline__ std::uint32_t split(std::uint32_t& index, const Divisor& d) {
  const std::uint32_t quotient = (__umulhi(index, d.multiplier) + index) >> d.shift;
  index -= quotient * d.value;
  return quotient;
}

}  // namespace relayout::RELAYOUT_BACKEND
