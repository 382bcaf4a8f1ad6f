// Operations on f32 and f64 that need no library: of a few steps, each rounded, and without a branch, so that
// loops over them are vectorised.
// Sums, products, quotients and roots are one instruction each, so that they may also be compiled for other
// roundings (elementwise_directed.cpp).
#pragma once

#include <cmath>
#include <cstdint>
#include <type_traits>

#include "host/cpu/convert.hpp"

namespace relayout::native::real {

template <class T>
using Bits = std::conditional_t<sizeof(T) == 4, std::uint32_t, std::uint64_t>;

template <class T>
constexpr Bits<T> kSign = Bits<T>{1} << (8 * sizeof(T) - 1);

template <class T>
Bits<T> bits_of(T value) {
  return detail::bit_cast<Bits<T>>(value);
}
template <class T>
T number_of(Bits<T> bits) {
  return detail::bit_cast<T>(bits);
}

template <class T>
T add(T a, T b) {
  return a + b;
}
template <class T>
T sub(T a, T b) {
  return a - b;
}
template <class T>
T mul(T a, T b) {
  return a * b;
}
template <class T>
T div(T a, T b) {
  return a / b;
}
template <class T>
T square(T a) {
  return a * a;
}
template <class T>
T reciprocal(T a) {
  return T{1} / a;
}
template <class T>
T neg(T a) {
  return -a;
}
template <class T>
T abs(T a) {
  return number_of<T>(bits_of(a) & ~kSign<T>);
}
template <class T>
T copysign(T a, T b) {
  return number_of<T>((bits_of(a) & ~kSign<T>) | (bits_of(b) & kSign<T>));
}

/// Equal numbers differ in the sign of zero alone.
template <class T>
T maximum(T a, T b) {
  const T other = a < b ? b : a + b;  // which is NaN
  const T apart = a > b ? a : other;
  return a == b ? number_of<T>(bits_of(a) & bits_of(b)) : apart;
}
template <class T>
T minimum(T a, T b) {
  const T other = a > b ? b : a + b;
  const T apart = a < b ? a : other;
  return a == b ? number_of<T>(bits_of(a) | bits_of(b)) : apart;
}
template <class T>
T fmax(T a, T b) {
  const T first = b == b ? maximum(a, b) : a;
  return a == a ? first : b;
}
template <class T>
T fmin(T a, T b) {
  const T first = b == b ? minimum(a, b) : a;
  return a == a ? first : b;
}
template <class T>
T clip(T a, T b, T c) {
  return minimum(maximum(a, b), c);
}
template <class T>
T lerp(T a, T b, T c) {
  return a + c * (b - a);
}
template <class T>
T prelu(T a, T b) {
  const T product = a * b;
  return a > 0 ? a : product;
}
template <class T>
T abs_diff(T a, T b) {
  return abs(a - b);
}
template <class T>
T squared_diff(T a, T b) {
  return (a - b) * (a - b);
}
template <class T>
T sign(T a) {
  const T ordered = static_cast<T>(a > 0) - static_cast<T>(a < 0);
  return a == a ? ordered : a;
}
template <class T>
T relu(T a) {
  const T other = a == a ? T{0} : a;
  return a > 0 ? a : other;
}

template <class T>
T round(T a) {
  return std::nearbyint(a);
}
template <class T>
T floor(T a) {
  return std::floor(a);
}
template <class T>
T ceil(T a) {
  return std::ceil(a);
}
template <class T>
T trunc(T a) {
  return std::trunc(a);
}

template <class T>
T sqrt(T a) {
  return std::sqrt(a);
}
/// Each of the two roundings changes the result by a unit at most; so do those of hardsigmoid and hardswish.
template <class T>
T rsqrt(T a) {
  return 1 / std::sqrt(a);
}
template <class T>
T hardsigmoid(T a) {
  const T moved = a + 3, above = moved < 0 ? T{0} : moved;
  return (above > 6 ? T{6} : above) / 6;
}
template <class T>
T hardswish(T a) {
  return a * hardsigmoid(a);
}

template <class T>
T isnan(T a) {
  return static_cast<T>(a != a);
}
template <class T>
T isinf(T a) {
  return static_cast<T>((bits_of(a) & ~kSign<T>) == bits_of(static_cast<T>(INFINITY)));
}
template <class T>
T isfinite(T a) {
  return static_cast<T>((bits_of(a) & ~kSign<T>) < bits_of(static_cast<T>(INFINITY)));
}

}  // namespace relayout::native::real
