// One code and the number it stands for; each step is rounded once.
#pragma once

#include <cstdint>

#include "kernel_language.hpp"

namespace relayout::RELAYOUT_BACKEND {

/// A sum with it has no bits below 1: an integer stands in the low bits of what the sum is beside kWholeBits.
constexpr float kWhole = 0x1.8p23f;
constexpr std::uint32_t kWholeBits = 0x4b400000u;

/// 2^23: of a float between it and 2^24 the low bits are an integer.
constexpr std::uint32_t kCodeExponent = 0x4b000000u;

/// Calls take(i, bits) for four codes, of numbers `first` and on, each of which is the low bits of such a
/// float: an instruction for each.
template <class Take>
__device__ __forceinline__ void take_code_floats(std::uint32_t word, int first, Take&& take) {
  take(first, permute_bytes<0x7440>(word, kCodeExponent));
  take(first + 1, permute_bytes<0x7441>(word, kCodeExponent));
  take(first + 2, permute_bytes<0x7442>(word, kCodeExponent));
  take(first + 3, permute_bytes<0x7443>(word, kCodeExponent));
}

/// The integer that a code's 8 bits are.
__device__ __forceinline__ std::int32_t code_of(std::uint32_t bits, bool is_signed) {
  return is_signed ? static_cast<std::int8_t>(bits) : static_cast<std::int32_t>(bits & 0xff);
}

__device__ __forceinline__ float number_of_code(std::int32_t code, std::int32_t zero, float scale) {
  return static_cast<float>(code - zero) * scale;
}

/// The nearest code, or between two equally near ones that which is an even number of steps from the zero
/// point; NaN becomes the zero point. The code is the low 8 bits.
__device__ __forceinline__ std::uint32_t code_of_number(float number, std::int32_t zero, float scale,
                                                        bool is_signed) {
  const float units = number / scale;
  const std::int32_t lowest = is_signed ? -128 : 0, highest = lowest + 255;
  const float low = static_cast<float>(lowest - zero), high = static_cast<float>(highest - zero);
  const float above = units > low ? units : low, inside = above < high ? above : high;
  const std::int32_t steps = units != units ? 0 : static_cast<std::int32_t>(rintf(inside));
  return static_cast<std::uint32_t>(steps + zero);
}

}  // namespace relayout::RELAYOUT_BACKEND
