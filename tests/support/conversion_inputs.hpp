// Elements that are hard for conversions: all bit patterns of narrow types, and for wide types the numbers at
// and around every place where a target rounds, overflows or changes its sign.
#pragma once

#include <cmath>
#include <cstdint>
#include <vector>

#include "tests/support/fill.hpp"

namespace relayout::test {

inline bool has_fractions(DType type) { return is_floating(type) || is_restricted(type); }

/// Numbers v of f32 or f64 with their neighbours, and the middle between v and v + 2^-unit with its
/// neighbours.
inline void add_around(std::vector<std::uint64_t>& bits, DType from, double value, double middle) {
  const bool wide = from == DType::f64;
  for (const double center : {value, middle}) {
    const std::uint64_t at = wide ? detail::bit_cast<std::uint64_t>(center)
                                  : detail::bit_cast<std::uint32_t>(static_cast<float>(center));
    for (const std::uint64_t neighbour : {at - 1, at, at + 1}) bits.push_back(neighbour);
  }
}

/// At every step-th bit pattern, from `phase` on, of a floating type of 8 or 16 bits.
inline void add_boundaries(std::vector<std::uint64_t>& bits, DType from, DType to, std::uint64_t step,
                           std::uint64_t phase) {
  const int fraction_bits = to == DType::f16 ? 10 : to == DType::bf16 ? 7 : to == DType::e4m3fn ? 3 : 2;
  const int width = 8 * static_cast<int>(size_of(to)), bias = (1 << (width - fraction_bits - 2)) - 1;
  const std::uint64_t sign = std::uint64_t{1} << (width - 1);
  for (std::uint64_t pattern = phase % step; pattern < 2 * sign; pattern += step) {
    const std::uint64_t magnitude = pattern & (sign - 1);
    const int field = static_cast<int>(magnitude >> fraction_bits), exponent = field > 0 ? field : 1;
    const double unit = std::ldexp(1.0, exponent - bias - fraction_bits);
    const std::uint64_t fraction = magnitude & ((std::uint64_t{1} << fraction_bits) - 1);
    const std::uint64_t leading = field > 0 ? std::uint64_t{1} << fraction_bits : 0;
    const double value = static_cast<double>(fraction + leading) * unit * (pattern & sign ? -1 : 1);
    add_around(bits, from, value, value + std::copysign(unit / 2, pattern & sign ? -1.0 : 1.0));
  }
}

/// Powers of two, their neighbours, and ties between numbers of every precision.
inline std::vector<std::uint64_t> wide_integers(int width) {
  std::vector<std::uint64_t> bits{0};
  for (int k = 0; k < width; ++k) {
    const std::uint64_t power = std::uint64_t{1} << k;
    for (const std::uint64_t value : {power, power - 1, power + 1, 0 - power, 0 - power - 1, 1 - power})
      bits.push_back(value);
    for (const int digits : {3, 4, 8, 11, 24, 53}) {
      if (k < digits) continue;
      const std::uint64_t half = power >> digits, odd = power + (half << 1);
      for (const std::uint64_t value : {power + half, odd + half}) {
        for (const std::uint64_t beside : {value - 1, value, value + 1}) {
          bits.push_back(beside);
          bits.push_back(0 - beside);
        }
      }
    }
  }
  for (std::uint64_t i = 0; i < 500; ++i) bits.push_back(hash(i, 5) >> i % 64);
  return bits;
}

inline std::vector<std::uint64_t> wide_floats(DType from) {
  std::vector<std::uint64_t> bits;
  for (int k = -1080; k<1024; k += k> - 160 && k < 130 ? 1 : 37) {
    for (const double sign : {1.0, -1.0}) {
      const double power = sign * std::ldexp(1.0, k);
      add_around(bits, from, power, 1.5 * power);
      add_around(bits, from, 0.5 + power, power - 0.5);  // of integers
    }
  }
  const int width = 8 * static_cast<int>(size_of(from)), fraction_bits = width == 64 ? 52 : 23;
  const std::uint64_t sign = std::uint64_t{1} << (width - 1);
  const std::uint64_t infinity = sign - (std::uint64_t{1} << fraction_bits);
  for (const std::uint64_t magnitude :
       {std::uint64_t{0}, std::uint64_t{1}, infinity - 1, infinity, infinity + 1,
        infinity | std::uint64_t{1} << (fraction_bits - 1), sign - 1}) {
    bits.push_back(magnitude);
    bits.push_back(magnitude | sign);
  }
  for (std::uint64_t i = 0; i < 500; ++i) bits.push_back(hash(i, 6));
  return bits;
}

/// Bit patterns of `from` for its conversion to `to`. A `density` of 1 takes all of those above; n takes
/// every n-th, from `phase` on.
inline std::vector<std::uint64_t> conversion_inputs(DType from, DType to, std::uint64_t density,
                                                    std::uint64_t phase) {
  std::vector<std::uint64_t> bits;
  const std::size_t bytes = size_of(from);
  if (bytes <= 2) {
    const std::uint64_t step = bytes == 1 ? 1 : density;
    for (std::uint64_t pattern = phase % step; pattern < std::uint64_t{1} << (8 * bytes); pattern += step)
      bits.push_back(pattern);
    return bits;
  }
  if (!has_fractions(from)) return wide_integers(8 * static_cast<int>(bytes));
  bits = wide_floats(from);
  if (has_fractions(to) && size_of(to) <= 2)
    add_boundaries(bits, from, to, size_of(to) == 1 ? 1 : density, phase);
  return bits;
}

}  // namespace relayout::test
