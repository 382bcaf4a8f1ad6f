// Element-wise operations on f32 and f64 that need no library: exact, or rounded once, and without a branch,
// so that they are vectorised.
#include <cmath>
#include <cstdint>
#include <type_traits>

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

template <class T>
ElementwiseRow row_of_two_numbers(Operation operation) {
  switch (operation) {
    case Operation::add:
      return of_two<T, add<T>>();
    case Operation::sub:
      return of_two<T, sub<T>>();
    case Operation::mul:
      return of_two<T, mul<T>>();
    case Operation::div:
    case Operation::truediv:
      return of_two<T, div<T>>();
    case Operation::maximum:
      return of_two<T, maximum<T>>();
    case Operation::minimum:
      return of_two<T, minimum<T>>();
    case Operation::fmax:
      return of_two<T, fmax<T>>();
    case Operation::fmin:
      return of_two<T, fmin<T>>();
    case Operation::prelu:
      return of_two<T, prelu<T>>();
    case Operation::abs_diff:
      return of_two<T, abs_diff<T>>();
    case Operation::squared_diff:
      return of_two<T, squared_diff<T>>();
    case Operation::copysign:
      return of_two<T, copysign<T>>();
    case Operation::isclose:
      return vectorised<isclose<T>>();
    case Operation::clip:
      return of_three<T, clip<T>>();
    case Operation::lerp:
      return of_three<T, lerp<T>>();
    default:
      return common_row<T>(operation);
  }
}

template <class T>
ElementwiseRow row_of(Operation operation) {
  switch (operation) {
    case Operation::neg:
      return of_one<T, neg<T>>();
    case Operation::abs:
      return of_one<T, abs<T>>();
    case Operation::sign:
      return of_one<T, sign<T>>();
    case Operation::relu:
      return of_one<T, relu<T>>();
    case Operation::square:
      return of_one<T, square<T>>();
    case Operation::reciprocal:
      return of_one<T, reciprocal<T>>();
    case Operation::floor:
      return of_one<T, floor<T>>();
    case Operation::ceil:
      return of_one<T, ceil<T>>();
    case Operation::trunc:
      return of_one<T, trunc<T>>();
    case Operation::round:
      return of_one<T, round<T>>();
    case Operation::isnan:
      return of_one<T, isnan<T>>();
    case Operation::isinf:
      return of_one<T, isinf<T>>();
    case Operation::isfinite:
      return of_one<T, isfinite<T>>();
    default:
      return row_of_two_numbers<T>(operation);
  }
}

}  // namespace

ElementwiseRow arithmetic_row(Operation operation, ComputeClass compute) {
  return compute == ComputeClass::f32 ? row_of<float>(operation) : row_of<double>(operation);
}

}  // namespace relayout::native
