// What vectors of either width have in common: the vector of a type, constants, and the loop over a row. The
// words of one width (vectors_avx2.hpp) are included before it.
#pragma once

#include <cstdint>
#include <limits>
#include <type_traits>

#include "core/elementwise_params.hpp"
#include "host/cpu/processor.hpp"

#if defined(RELAYOUT_X86)

namespace relayout::native::RELAYOUT_VECTORS {

constexpr double kInfinity = std::numeric_limits<double>::infinity(),
                 kNan = std::numeric_limits<double>::quiet_NaN();
constexpr double kLog2 = 0x1.62e42fefa39efp-1;
/// log(2) in two parts: the product of the first one with an exponent is exact.
constexpr double kLog2High = 0x1.62e42feep-1, kLog2Low = 0x1.a39ef35793c76p-33;
/// pi, and what the first number has lost of it.
constexpr double kPi = 0x1.921fb54442d18p+1, kPiLow = 0x1.1a62633145c07p-53;
constexpr double kQuartersPerRadian = 0x1.45f306dc9c883p-1;

/// The vector of a type: a template's own argument would lose the vectors' attributes.
template <class T>
struct VectorOf {
  using Type = Floats;
  static constexpr std::int64_t kNumbers = kFloats;
};
template <>
struct VectorOf<double> {
  using Type = Doubles;
  static constexpr std::int64_t kNumbers = kDoubles;
};
template <class T>
using Vector = typename VectorOf<T>::Type;

template <class T>
RELAYOUT_VECTOR inline Vector<T> same(double value) {
  if constexpr (std::is_same_v<T, double>) {
    return all(value);
  } else {
    return all_floats(static_cast<float>(value));
  }
}
/// The sum of factors[i] * x^i.
template <class T, int kCount>
RELAYOUT_VECTOR inline Vector<T> series_of(const T (&factors)[kCount], Vector<T> x) {
  Vector<T> sum = same<T>(factors[kCount - 1]);
  for (int i = kCount - 2; i >= 0; --i) sum = fma(sum, x, same<T>(factors[i]));
  return sum;
}
/// 0 keeps its sign: the result is x where x is 0.
RELAYOUT_VECTOR inline Doubles unless_zero(Doubles x, Doubles result) {
  return if_equal(x, all(0), x, result);
}
RELAYOUT_VECTOR inline Floats unless_zero(Floats x, Floats result) {
  return if_equal(x, all_floats(0), x, result);
}

/// result[i] = function(x[i], y[i]) for a row of numbers of T; function: a class with an operator for
/// vectors. The last numbers are computed in a whole vector, too, so that a result does not depend on where
/// its number lies.
template <class T, class Function>
RELAYOUT_VECTOR inline void each_vector(const void* a, const void* b, void* r, std::int64_t count,
                                        const Function& function) {
  constexpr std::int64_t kNumbers = VectorOf<T>::kNumbers;
  const auto *const x = static_cast<const T*>(a), *const y = static_cast<const T*>(b);
  auto* const result = static_cast<T*>(r);
  std::int64_t i = 0;
  for (; i + kNumbers <= count; i += kNumbers) store(function(load(x + i), load(y + i)), result + i);
  if (const std::int64_t left = count - i; left > 0)
    store_first(function(load_first(x + i, left), load_first(y + i, left)), result + i, left);
}
/// An ElementwiseRow of a function of f32 numbers.
template <Floats (*kFunction)(Floats)>
RELAYOUT_VECTOR void row_of_floats(const void* a, const void*, const void*, void* r, std::int64_t count,
                                   const ElementwiseParams&) {
  struct Function {
    RELAYOUT_VECTOR Floats operator()(Floats x, Floats) const { return kFunction(x); }
  };
  each_vector<float>(a, a, r, count, Function{});
}

}  // namespace relayout::native::RELAYOUT_VECTORS
#endif
