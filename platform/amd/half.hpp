// f16 and bf16 conversions of device code; bit for bit those of relayout/dtype.hpp, NaN payloads apart.
#pragma once

#include "kernel_language.hpp"
#include "relayout/dtype.hpp"

namespace relayout::RELAYOUT_BACKEND {

__device__ __forceinline__ float half_to_float(f16 value) {
  return static_cast<float>(__builtin_bit_cast(_Float16, value.bits));
}
__device__ __forceinline__ f16 float_to_half(float value) {
  return {__builtin_bit_cast(std::uint16_t, static_cast<_Float16>(value))};
}

__device__ __forceinline__ float bfloat_to_float(bf16 value) {
  return __uint_as_float(static_cast<unsigned>(value.bits) << 16);
}
/// By integers: gfx90a and gfx942 have no conversion instruction.
__device__ __forceinline__ bf16 float_to_bfloat(float value) {
  const unsigned bits = __float_as_uint(value);
  if ((bits & 0x7fffffffu) > 0x7f800000u) return {static_cast<std::uint16_t>((bits >> 16) | 0x40u)};
  return {static_cast<std::uint16_t>((bits + 0x7fffu + ((bits >> 16) & 1u)) >> 16)};
}

/// A float from which one more rounding gives the rounding of the double (round to odd).
__device__ __forceinline__ float round_to_odd(double value) {
  const float nearest = static_cast<float>(value);
  const double back = static_cast<double>(nearest);
  if (back == value || value != value) return nearest;
  unsigned bits = __float_as_uint(nearest);
  if (fabs(back) > fabs(value)) --bits;
  return __uint_as_float(bits | 1u);
}
/// The 29 bits that a float cannot hold are gathered in the last one that it can: round to odd within a
/// float's normal range, beyond which f16 has only zeros and infinities. Integers, lest eight conversions at
/// a time need more lane masks than there are scalar registers.
__device__ __forceinline__ f16 double_to_half(double value) {
  constexpr std::uint64_t kLost = (std::uint64_t{1} << 29) - 1;
  const std::uint64_t bits = __builtin_bit_cast(std::uint64_t, value);
  const std::uint64_t odd = (bits | ((bits & kLost) + kLost)) & ~kLost;
  return float_to_half(static_cast<float>(__builtin_bit_cast(double, odd)));
}
__device__ __forceinline__ bf16 double_to_bfloat(double value) {
  return float_to_bfloat(round_to_odd(value));
}

}  // namespace relayout::RELAYOUT_BACKEND
