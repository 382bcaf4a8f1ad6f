// The code that planted mutants need: which mutant this run plants, and wrong arithmetic.
#pragma once

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <limits>
#include <type_traits>

#include "relayout/dtype.hpp"

namespace relayout::mutant {

/// The number of the run's mutant; none without RELAYOUT_MUTANT.
inline const int chosen = [] {
  const char* number = std::getenv("RELAYOUT_MUTANT");
  return number == nullptr ? -1 : std::atoi(number);
}();
inline bool planted(int number) { return chosen == number; }

template <class T>
constexpr bool is_half = std::is_same_v<T, f16> || std::is_same_v<T, bf16>;

template <class T>
double as_double(T value) {
  if constexpr (is_half<T>) {
    return to_float(value);
  } else {
    return static_cast<double>(value);
  }
}

/// The value without the bits that f16 cannot hold: the result of a cast that cuts them off.
template <class T>
T truncated(T value) {
  if constexpr (std::is_same_v<T, float>) {
    return detail::bit_cast<float>(detail::bit_cast<std::uint32_t>(value) & 0xffffe000u);
  } else {
    return value;
  }
}

/// The largest finite value where rounding gave infinity.
template <class T>
T saturated(T value) {
  if constexpr (std::is_same_v<T, f16>) {
    const bool infinite = (value.bits & 0x7fffu) == 0x7c00u;
    return infinite ? f16{static_cast<std::uint16_t>(value.bits - 1)} : value;
  } else {
    return value;
  }
}

inline float through_f16(float value) { return to_float(to_f16(value)); }

/// padding + 0 * value: padding unless the value is a NaN or infinite.
template <class T>
T plus_zero_times(T padding, T value) {
  if constexpr (is_half<T> || std::is_floating_point_v<T>) {
    return std::isfinite(as_double(value)) ? padding : value;
  } else {
    return padding;
  }
}

/// An offset kept in 32 bits.
inline std::int64_t wrapped(std::int64_t offset) { return static_cast<std::int32_t>(offset); }

/// `address`, with one byte written behind the `count` elements there.
template <class T>
T* spilled(T* address, std::int64_t count) {
  *reinterpret_cast<unsigned char*>(address + count) = 0x5A;
  return address;
}

}  // namespace relayout::mutant
