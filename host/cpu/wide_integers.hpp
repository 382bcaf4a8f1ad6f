// 64-bit integers as floating numbers, without a branch and by instructions that compilers vectorise: x86 has
// such a conversion only since AVX-512.
#pragma once

#include <cstdint>
#include <type_traits>

#include "relayout/round_to_odd.hpp"

namespace relayout::native {

/// The value minus `moved`, which is 0 or 2^63. Both halves of the value lie in the last bits of numbers of
/// fixed exponents, from which these are taken away. Their sum is the only rounding.
inline double to_double(std::uint64_t value, double moved) {
  const double low = detail::bit_cast<double>((value & 0xffffffffu) | 0x4330000000000000u) - 0x1p52;
  const double high = detail::bit_cast<double>(value >> 32 | 0x4530000000000000u) - (0x1p84 + moved);
  return high + low;
}
inline double to_double(std::uint64_t value) { return to_double(value, 0); }
inline double to_double(std::int64_t value) {
  return to_double(static_cast<std::uint64_t>(value) ^ std::uint64_t{1} << 63, 0x1p63);
}

/// A double that has all the integer's bits, or whose last bit is set where it has not.
template <class Int>
inline double to_odd_double(Int value) {
  if constexpr (sizeof(Int) < 8) {
    return static_cast<double>(value);
  } else {
    const bool negative = std::is_signed_v<Int> && value < 0;
    const auto bits = static_cast<std::uint64_t>(value), magnitude = negative ? 0 - bits : bits;
    const std::uint64_t joined =
        (magnitude & ~std::uint64_t{0x7ff}) | ((magnitude & 0x7ff) != 0 ? 0x800u : 0u);
    const double exact = to_double(magnitude < std::uint64_t{1} << 53 ? magnitude : joined);
    return negative ? -exact : exact;
  }
}

/// Rounded once.
template <class Float, class Int>
inline Float to_floating(Int value) {
  if constexpr (sizeof(Int) < 8) {
    return static_cast<Float>(value);
  } else if constexpr (std::is_same_v<Float, double>) {
    return to_double(value);
  } else if constexpr (std::is_signed_v<Int>) {  // x86 has an instruction for one, which is faster
    return static_cast<float>(value);
  } else {
    return static_cast<float>(to_odd_double(value));
  }
}

}  // namespace relayout::native
