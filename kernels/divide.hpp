// Division of an index by an extent, by a Divisor where the index fits 31 bits.
#pragma once

#include "core/divisor.hpp"
#include "kernel_language.hpp"

namespace relayout::RELAYOUT_BACKEND {

/// index / d for index < 2^31, by what a Divisor d has.
__device__ __forceinline__ std::uint32_t divided(std::uint32_t index, std::uint32_t multiplier,
                                                 std::uint32_t shift) {
  return (__umulhi(index, multiplier) + index) >> shift;
}
/// The same; index becomes the remainder.
__device__ __forceinline__ std::uint32_t split(std::uint32_t& index, const Divisor& d) {
  const std::uint32_t quotient = divided(index, d.multiplier, d.shift);
  index -= quotient * d.value;
  return quotient;
}

/// The same for any index, by a division, which is many instructions.
__device__ __forceinline__ std::uint64_t split(std::uint64_t& index, std::uint64_t extent) {
  const std::uint64_t quotient = index / extent;
  index -= quotient * extent;
  return quotient;
}

}  // namespace relayout::RELAYOUT_BACKEND
