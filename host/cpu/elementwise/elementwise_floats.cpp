// Element-wise operations on f32 and f64 that need no library. Those of f32 also work on elements of bf16 as
// they lie in memory.
#include <cstdint>
#include <type_traits>

#include "host/cpu/convert.hpp"
#include "host/cpu/elementwise/elementwise_loops.hpp"
#include "host/cpu/elementwise/real_operations.hpp"
#include "relayout/dtype.hpp"

namespace relayout::native {
namespace {

using namespace real;

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

ElementwiseRow bf16_row(Operation operation) { return row_of<float, bf16>(operation); }

}  // namespace relayout::native
