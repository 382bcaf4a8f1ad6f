// Elements as functors see them: f16 and bf16 are given as float, bool as 0 or 1, others as themselves. A
// result is converted once, as casts convert (docs/arithmetic.md). Host and device give the same bits.
#pragma once

#include <cstdint>
#include <cstring>
#include <limits>
#include <type_traits>

#include <relayout/map/compiler.hpp>

namespace relayout::detail {

template <class T>
constexpr bool is_half = std::is_same_v<T, f16> || std::is_same_v<T, bf16>;

/// What a functor is given for an element of T.
template <class T>
using Value = std::conditional_t<is_half<T>, float, T>;

/// The storage of an element: f16 and bf16 as their bits, bool as a byte that is true unless it is 0. These
/// are plain numbers, since compilers do not vectorise copies of structures.
template <class T>
using Stored = std::conditional_t<is_half<T>, std::uint16_t,
                                  std::conditional_t<std::is_same_v<T, bool>, std::uint8_t, T>>;

inline namespace RELAYOUT_COMPILED_BY {

template <class To, class From>
RELAYOUT_HOST_DEVICE To bits_as(const From& from) {
  static_assert(sizeof(To) == sizeof(From), "equal sizes");
  To to;
  memcpy(&to, &from, sizeof to);
  return to;
}

template <class T>
RELAYOUT_HOST_DEVICE Value<T> value_of(Stored<T> stored) {
  if constexpr (std::is_same_v<T, f16>) {
    return half_to_float(stored);
  } else if constexpr (std::is_same_v<T, bf16>) {
    return bits_as<float>(std::uint32_t{stored} << 16);
  } else if constexpr (std::is_same_v<T, bool>) {
    return stored != 0;
  } else {
    return stored;
  }
}

/// There is no branch: on AMD, the branches of a vector's elements would need more lane masks than there are
/// registers.
RELAYOUT_HOST_DEVICE inline std::uint16_t float_to_bfloat(float value) {
  const std::uint32_t bits = bits_as<std::uint32_t>(value);
  const std::uint32_t rounded = (bits + 0x7fffu + ((bits >> 16) & 1u)) >> 16, quiet = (bits >> 16) | 0x40u;
  const std::uint32_t is_nan = 0u - ((0x7f800000u - (bits & 0x7fffffffu)) >> 31);  // all ones or none
  return static_cast<std::uint16_t>(rounded ^ ((rounded ^ quiet) & is_nan));
}

/// A double that round_to_odd() rounds as it would round the number: of 64-bit integers the last 11 bits
/// count as one.
template <class T>
RELAYOUT_HOST_DEVICE double odd_double(T value) {
  if constexpr (!std::is_integral_v<T> || sizeof(T) < 8) {
    return static_cast<double>(value);
  } else if constexpr (std::is_signed_v<T>) {
    const auto bits = static_cast<std::uint64_t>(value);
    return value < 0 ? -odd_double(0 - bits) : odd_double(bits);
  } else {
    const T high = value >> 11, lost = (value & 0x7ff) != 0 ? 1 : 0;
    return high >> 42 == 0 ? static_cast<double>(value) : static_cast<double>(high | lost) * 2048;
  }
}

// Outside of functions: nvcc would take these for calls of the host's.
template <class To>
constexpr To kSmallest = std::numeric_limits<To>::min();
template <class To>
constexpr To kLargest = std::numeric_limits<To>::max();

/// Rounds toward zero, then to the nearest number that To has; a NaN gives 0.
template <class To, class From>
RELAYOUT_HOST_DEVICE To nearest_integer(From value) {
  constexpr To kMin = kSmallest<To>, kMax = kLargest<To>;
  constexpr From kBeyond = static_cast<From>(To{1} << (std::numeric_limits<To>::digits - 1)) * 2;
  if (value >= kBeyond) return kMax;
  if (value <= static_cast<From>(kMin)) return kMin;
  return value != value ? To{0} : static_cast<To>(value);
}

/// A functor's result as an element of T.
template <class T, class Result>
RELAYOUT_HOST_DEVICE Stored<T> stored_as(Result result) {
  static_assert(std::is_arithmetic_v<Result>, "a functor gives a number");
  constexpr bool kFloating = std::is_floating_point_v<Result>;
  // Narrow results are floats as they are, all others but 64-bit integers doubles.
  constexpr bool kNarrow = std::is_same_v<Result, float> || (!kFloating && sizeof(Result) <= 2);
  if constexpr (std::is_same_v<T, bool>) {
    return result != 0 ? 1 : 0;
  } else if constexpr (std::is_same_v<T, f16>) {
    return float_to_half(kNarrow ? static_cast<float>(result) : round_to_odd(odd_double(result)));
  } else if constexpr (std::is_same_v<T, bf16>) {
    return float_to_bfloat(kNarrow ? static_cast<float>(result) : round_to_odd(odd_double(result)));
  } else if constexpr (std::is_integral_v<T> && kFloating) {
    return nearest_integer<T>(result);
  } else {
    return static_cast<T>(result);
  }
}

}  // namespace RELAYOUT_COMPILED_BY
}  // namespace relayout::detail
