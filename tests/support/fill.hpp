// Test data: every value depends on its index, so that an element from a wrong address is seen.
#pragma once

#include <cmath>
#include <cstdint>

#include "tests/support/elements.hpp"

namespace relayout::test {

/// splitmix64 (Steele, Lea, Flood 2014): consecutive inputs give independent 64-bit numbers.
inline std::uint64_t hash(std::uint64_t index, std::uint64_t seed = 0) {
  std::uint64_t x = (index + 1) * 0x9e3779b97f4a7c15u + seed * 0xd1b54a32d192ed03u;
  x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9u;
  x = (x ^ (x >> 27)) * 0x94d049bb133111ebu;
  return x ^ (x >> 31);
}

/// [0, 1), a multiple of 2^-53.
inline double uniform(std::uint64_t index, std::uint64_t seed = 0) {
  return static_cast<double>(hash(index, seed) >> 11) * 0x1p-53;
}

/// N(0, 1) by Box and Muller.
inline double normal(std::uint64_t index, std::uint64_t seed = 0) {
  const double radius = std::sqrt(-2.0 * std::log(1.0 - uniform(2 * index, seed)));
  return radius * std::cos(6.283185307179586 * uniform(2 * index + 1, seed));
}

/// Writes make(i), rounded to the view's type, to its i-th element in C order.
template <class Make>
void fill_with(const TensorView& view, Make&& make) {
  std::uint64_t i = 0;
  for_each_element(view, [&](const Dims&, std::int64_t offset) {
    store_bits(element_at(view, offset), view.dtype(), bits_of(make(i++), view.dtype()));
  });
}

/// Any bit patterns, NaNs and infinities among them: for moves between equal types.
inline void fill_bits(const TensorView& view, std::uint64_t seed = 0) {
  std::uint64_t i = 0;
  for_each_element(view, [&](const Dims&, std::int64_t offset) {
    store_bits(element_at(view, offset), view.dtype(),
               view.dtype() == DType::bool_ ? hash(i, seed) & 1u : hash(i, seed));
    ++i;
  });
}

/// Floating types: finite values in [-64, 64) with all significand bits in use. Others: any bits.
inline void fill_values(const TensorView& view, std::uint64_t seed = 0) {
  if (!is_floating(view.dtype())) return fill_bits(view, seed);
  fill_with(view, [&](std::uint64_t i) { return 128.0 * uniform(i, seed) - 64.0; });
}

/// Integers -5..5: their products sum exactly in f32.
inline void fill_small_integers(const TensorView& view, std::uint64_t seed = 0) {
  fill_with(view, [&](std::uint64_t i) { return static_cast<double>(hash(i, seed) % 11) - 5.0; });
}

inline void fill_normal(const TensorView& view, std::uint64_t seed = 0, double scale = 1.0) {
  fill_with(view, [&](std::uint64_t i) { return scale * normal(i, seed); });
}

}  // namespace relayout::test
