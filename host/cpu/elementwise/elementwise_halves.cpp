// Element-wise operations on elements of f16 and bf16 as they lie in memory that need no arithmetic: they ask
// for the order or the sign of numbers. Integers of 16 bits have both, and vectors hold twice as many of them
// as of f32.
#include <cstdint>
#include <type_traits>

#include "host/cpu/elementwise/elementwise_loops.hpp"
#include "host/cpu/elementwise/half_bits.hpp"
#include "relayout/dtype.hpp"

namespace relayout::native {
namespace {

using Bits = HalfBits;

template <class T>
constexpr Bits kQuiet = std::is_same_v<T, f16> ? 0x0200 : 0x0040;

template <class T>
T neg(T a) {
  return {static_cast<Bits>(a.bits ^ kHalfSign)};
}
template <class T>
T abs(T a) {
  return {magnitude(a)};
}
template <class T>
T copysign(T a, T b) {
  return {static_cast<Bits>(magnitude(a) | (b.bits & kHalfSign))};
}
template <class T>
T relu(T a) {
  const Bits other = is_nan(a) ? a.bits : Bits{0};
  return {static_cast<std::int16_t>(a.bits) > 0 ? a.bits : other};
}

/// A number's bits, or below 0 those of its magnitude turned around, are in the order of the numbers.
inline std::int16_t in_order(Bits bits) {
  const auto number = static_cast<std::int16_t>(bits);
  return static_cast<std::int16_t>(number ^ ((number >> 15) & 0x7fff));
}
/// The larger or the smaller of two numbers.
template <bool kLarger>
Bits better(Bits a, Bits b) {
  const std::int16_t x = in_order(a), y = in_order(b);
  const std::int16_t chosen = kLarger ? (x > y ? x : y) : (x < y ? x : y);
  return static_cast<Bits>(in_order(static_cast<Bits>(chosen)));
}
template <bool kLarger, class T>
T better_or_nan(T a, T b) {
  const auto quiet_a = static_cast<Bits>(a.bits | kQuiet<T>), quiet_b = static_cast<Bits>(b.bits | kQuiet<T>);
  const Bits other = is_nan(b) ? quiet_b : better<kLarger>(a.bits, b.bits);
  return {is_nan(a) ? quiet_a : other};
}
template <bool kLarger, class T>
T better_number(T a, T b) {
  const Bits other = is_nan(b) ? a.bits : better<kLarger>(a.bits, b.bits);
  return {is_nan(a) ? b.bits : other};
}
template <class T>
T clip(T a, T b, T c) {
  return better_or_nan<false>(better_or_nan<true>(a, b), c);
}

template <class T>
ElementwiseRow row_of_bits(Operation operation) {
  switch (operation) {
    case Operation::neg:
      return of_one<T, neg<T>>();
    case Operation::abs:
      return of_one<T, abs<T>>();
    case Operation::relu:
      return of_one<T, relu<T>>();
    case Operation::copysign:
      return of_two<T, copysign<T>>();
    case Operation::maximum:
      return of_two<T, better_or_nan<true, T>>();
    case Operation::minimum:
      return of_two<T, better_or_nan<false, T>>();
    case Operation::fmax:
      return of_two<T, better_number<true, T>>();
    case Operation::fmin:
      return of_two<T, better_number<false, T>>();
    case Operation::clip:
      return of_three<T, clip<T>>();
    default:
      return nullptr;
  }
}

}  // namespace

ElementwiseRow half_row(Operation operation, DType common) {
  if (common == DType::f16) return row_of_bits<f16>(operation);
  if (const ElementwiseRow row = row_of_bits<bf16>(operation)) return row;
  return bf16_row(operation);
}

}  // namespace relayout::native
