// Element-wise operations on f32 and f64 that need no library: of a few steps, each rounded, and without a
// branch, so that they are vectorised. Operations of f32 also work on elements of bf16 as they lie in memory.
#include <cmath>
#include <cstdint>
#include <type_traits>

#include "host/cpu/convert.hpp"
#include "host/cpu/elementwise/elementwise_loops.hpp"
#include "relayout/dtype.hpp"

namespace relayout::native {
namespace {

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
template <class T>
void isclose(const void* a, const void* b, const void*, void* r, std::int64_t count,
             const ElementwiseParams& p) {
  const T *x = static_cast<const T*>(a), *y = static_cast<const T*>(b);
  T* result = static_cast<T*>(r);
  const T rtol = static_cast<T>(p.rtol), atol = static_cast<T>(p.atol), equal_nan = p.equal_nan ? 1 : 0;
  RELAYOUT_INDEPENDENT
  for (std::int64_t i = 0; i < count; ++i) {
    const T within = static_cast<T>(abs(x[i] - y[i]) <= atol + rtol * abs(y[i]));
    const T finite = isfinite(x[i]) * isfinite(y[i]), both_nan = isnan(x[i]) * isnan(y[i]);
    result[i] = maximum(operation::equal(x[i], y[i]), within * finite + both_nan * equal_nan);
  }
}

/// The larger or the smaller of two elements, by integers of 16 bits, of which vectors have twice as many: a
/// number's bits, or below 0 those of its magnitude turned around, are in the order of the numbers.
template <bool kLarger>
bf16 better_bf16(bf16 a, bf16 b) {
  const auto in_order = [](std::uint16_t bits) {
    const auto number = static_cast<std::int16_t>(bits);
    return static_cast<std::int16_t>(number ^ ((number >> 15) & 0x7fff));
  };
  const auto is_nan = [](std::uint16_t bits) { return static_cast<std::int16_t>(bits & 0x7fff) > 0x7f80; };
  const std::int16_t x = in_order(a.bits), y = in_order(b.bits);
  const std::int16_t better = kLarger ? (x > y ? x : y) : (x < y ? x : y);
  const auto number = static_cast<std::uint16_t>(in_order(static_cast<std::uint16_t>(better)));
  const auto quiet_a = static_cast<std::uint16_t>(a.bits | 0x40),
             quiet_b = static_cast<std::uint16_t>(b.bits | 0x40);
  const std::uint16_t other = is_nan(b.bits) ? quiet_b : number;
  return {is_nan(a.bits) ? quiet_a : other};
}

/// An operation on numbers as one on elements of E: the numbers themselves, or bf16, rounded once.
template <auto kOperation, class E, class... Others>
E on(E element, Others... others) {
  if constexpr (std::is_same_v<E, bf16>) {
    return to_bf16_branchless(kOperation(to_float(element), to_float(others)...));
  } else {
    return kOperation(element, others...);
  }
}

template <class E, auto kRow>
ElementwiseRow loop() {
  if constexpr (std::is_same_v<E, bf16>) {
    return vectorised_conversion<kRow>();
  } else {
    return vectorised<kRow>();
  }
}
template <class E, auto kOperation>
ElementwiseRow one() {
  return loop<E, row_of_one<E, on<kOperation, E>>>();
}
template <class E, auto kOperation>
ElementwiseRow two() {
  return loop<E, row_of_two<E, on<kOperation, E, E>>>();
}
template <class E, auto kOperation>
ElementwiseRow three() {
  return loop<E, row_of_three<E, on<kOperation, E, E, E>>>();
}

template <class T, class E>
ElementwiseRow row_of_two_numbers(Operation operation) {
  switch (operation) {
    case Operation::add:
      return two<E, add<T>>();
    case Operation::sub:
      return two<E, sub<T>>();
    case Operation::mul:
      return two<E, mul<T>>();
    case Operation::div:
    case Operation::truediv:
      return two<E, div<T>>();
    case Operation::maximum:
      return two<E, maximum<T>>();
    case Operation::minimum:
      return two<E, minimum<T>>();
    case Operation::fmax:
      return two<E, fmax<T>>();
    case Operation::fmin:
      return two<E, fmin<T>>();
    case Operation::prelu:
      return two<E, prelu<T>>();
    case Operation::abs_diff:
      return two<E, abs_diff<T>>();
    case Operation::squared_diff:
      return two<E, squared_diff<T>>();
    case Operation::copysign:
      return two<E, copysign<T>>();
    case Operation::clip:
      return three<E, clip<T>>();
    case Operation::lerp:
      return three<E, lerp<T>>();
    default:
      return nullptr;
  }
}

template <class T, class E = T>
ElementwiseRow row_of(Operation operation) {
  switch (operation) {
    case Operation::neg:
      return one<E, neg<T>>();
    case Operation::abs:
      return one<E, abs<T>>();
    case Operation::sign:
      return one<E, sign<T>>();
    case Operation::relu:
      return one<E, relu<T>>();
    case Operation::square:
      return one<E, square<T>>();
    case Operation::reciprocal:
      return one<E, reciprocal<T>>();
    case Operation::floor:
      return one<E, floor<T>>();
    case Operation::ceil:
      return one<E, ceil<T>>();
    case Operation::trunc:
      return one<E, trunc<T>>();
    case Operation::round:
      return one<E, round<T>>();
    case Operation::sqrt:
      return one<E, sqrt<T>>();
    case Operation::rsqrt:
      return one<E, rsqrt<T>>();
    case Operation::hardsigmoid:
      return one<E, hardsigmoid<T>>();
    case Operation::hardswish:
      return one<E, hardswish<T>>();
    case Operation::isnan:
      return one<E, isnan<T>>();
    case Operation::isinf:
      return one<E, isinf<T>>();
    case Operation::isfinite:
      return one<E, isfinite<T>>();
    default:
      return row_of_two_numbers<T, E>(operation);
  }
}

}  // namespace

ElementwiseRow arithmetic_row(Operation operation, ComputeClass compute) {
  const bool in_f32 = compute == ComputeClass::f32;
  if (operation == Operation::isclose)
    return in_f32 ? vectorised<isclose<float>>() : vectorised<isclose<double>>();
  if (const ElementwiseRow row = in_f32 ? row_of<float>(operation) : row_of<double>(operation)) return row;
  return in_f32 ? common_row<float>(operation) : common_row<double>(operation);
}

ElementwiseRow bf16_row(Operation operation) {
  if (operation == Operation::maximum) return of_two<bf16, better_bf16<true>>();
  if (operation == Operation::minimum) return of_two<bf16, better_bf16<false>>();
  return row_of<float, bf16>(operation);
}

}  // namespace relayout::native
