// Elements of f16 and bf16 by their bits: integers of 16 bits have their order and their sign, and vectors
// hold twice as many of them as of f32.
#pragma once

#include <cstdint>
#include <type_traits>

#include "relayout/dtype.hpp"

namespace relayout::native {

using HalfBits = std::uint16_t;

template <class T>
constexpr HalfBits kHalfInfinity = std::is_same_v<T, f16> ? 0x7c00 : 0x7f80;
constexpr HalfBits kHalfSign = 0x8000;

template <class T>
HalfBits magnitude(T a) {
  return static_cast<HalfBits>(a.bits & ~kHalfSign);
}
/// Compared with a sign: AVX2 has no other comparison.
template <class T>
bool is_nan(T a) {
  return static_cast<std::int16_t>(magnitude(a)) > static_cast<std::int16_t>(kHalfInfinity<T>);
}

}  // namespace relayout::native
