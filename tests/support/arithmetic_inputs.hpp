// Elements that are hard for arithmetic: zeros, extremes, subnormals, infinities, NaNs, numbers next to
// integers and halves, and pseudo-random ones.
#pragma once

#include <cstdint>
#include <vector>

#include <relayout/dtype.hpp>

#include "tests/support/fill.hpp"

namespace relayout::test {

/// Small integers of both signs, the extremes and their neighbours, powers of two, and random bits of all
/// lengths. Unsigned types read the same bits.
inline std::vector<std::uint64_t> interesting_integers(DType type) {
  const std::uint64_t size = 8 * size_of(type);
  const std::uint64_t mask = ~std::uint64_t{0} >> (64 - size), top = std::uint64_t{1} << (size - 1);
  std::vector<std::uint64_t> bits;
  for (std::uint64_t i = 0; i < 12; ++i) bits.insert(bits.end(), {i, 0 - i, top + i, top - i});
  for (std::uint64_t k = 4; k < size; ++k) {
    const std::uint64_t power = std::uint64_t{1} << k;
    bits.insert(bits.end(), {power - 1, power, power + 1, 0 - power});
  }
  for (std::uint64_t i = 0; i < 200; ++i) bits.push_back((hash(i, 11) & mask) >> i % size);
  for (std::uint64_t& element : bits) element &= mask;
  return bits;
}

/// A floating type of `width` bits of which `fraction_bits` are the fraction's, with IEEE's special values.
inline std::vector<std::uint64_t> interesting_floats(int width, int fraction_bits) {
  const std::uint64_t sign = std::uint64_t{1} << (width - 1), unit = std::uint64_t{1} << fraction_bits;
  const std::uint64_t infinity = sign - unit, quiet = unit >> 1;
  const std::uint64_t one = (sign >> 1) - unit;  // its exponent's field is the bias: all ones but the highest
  std::vector<std::uint64_t> magnitudes{
      0,       1, 2, quiet, unit - 1, unit, unit + 1, infinity - 1, infinity, infinity + 1, infinity | quiet,
      sign - 1};
  // The numbers 1, 1.5, 2, 3 ... and their halves, each with its neighbours.
  for (std::uint64_t exponent = 0; exponent < 8; ++exponent) {
    for (const std::uint64_t fraction : {std::uint64_t{0}, quiet, quiet >> 1, quiet | quiet >> 1}) {
      const std::uint64_t at = one - 2 * unit + exponent * unit + fraction;
      magnitudes.insert(magnitudes.end(), {at - 1, at, at + 1});
    }
  }
  // Where the type no longer has halves of integers, and no longer all integers.
  for (const std::uint64_t digits : {fraction_bits - 1, fraction_bits, fraction_bits + 1}) {
    const std::uint64_t at = one + digits * unit;
    if (at + 1 < infinity) magnitudes.insert(magnitudes.end(), {at - 1, at, at + 1});
  }
  std::vector<std::uint64_t> bits;
  for (const std::uint64_t magnitude : magnitudes) bits.insert(bits.end(), {magnitude, sign | magnitude});
  const std::uint64_t mask = sign | (sign - 1);
  for (std::uint64_t i = 0; i < 100; ++i) bits.push_back(hash(i, 12) & mask);
  // Numbers between 2^-6 and 2^6, where the functions change their course.
  for (std::uint64_t i = 0; i < 200; ++i)
    bits.push_back((hash(i, 13) & sign) | (one - 6 * unit + hash(i, 14) % (12 * unit)));
  return bits;
}

/// Bits of elements of any castable type: all 256 patterns for one byte, about 400 for others. Any byte other
/// than 0 is a true bool.
inline std::vector<std::uint64_t> interesting(DType type) {
  std::vector<std::uint64_t> bits;
  if (type == DType::bool_) return {0, 1, 2, 128, 255};
  if (size_of(type) == 1) {
    for (std::uint64_t i = 0; i < 256; ++i) bits.push_back(i);
    return bits;
  }
  if (is_integral(type)) return interesting_integers(type);
  if (type == DType::tf32) {
    bits = interesting_floats(19, 10);
    for (std::uint64_t& element : bits) element <<= 13;
    return bits;
  }
  const int fraction_bits = type == DType::f16 ? 10 : type == DType::bf16 ? 7 : type == DType::f32 ? 23 : 52;
  return interesting_floats(8 * static_cast<int>(size_of(type)), fraction_bits);
}

}  // namespace relayout::test
