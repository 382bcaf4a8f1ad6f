// Functions of f32 numbers by the vector functions of the C library (libmvec of glibc 2.35 and later). Its
// error is at most 4 units: f32's functions with a smaller bound are computed in f64, whose result is rounded
// once, those of f16 and bf16 in f32.
#pragma once

#include <type_traits>

#include "host/cpu/elementwise/elementwise_rows.hpp"
#include "host/cpu/elementwise/vector_library.hpp"

#if defined(RELAYOUT_X86) && defined(__linux__)

namespace relayout::native::RELAYOUT_VECTORS {

RELAYOUT_VECTOR inline Floats if_less_than_0(Floats x, Floats negative, Floats other) {
  return if_less(x, all_floats(0), negative, other);
}
RELAYOUT_VECTOR inline Doubles if_less_than_0(Doubles x, Doubles negative, Doubles other) {
  return if_less(x, all(0), negative, other);
}
template <class T>
RELAYOUT_VECTOR inline Vector<T> within(double low, double high, Vector<T> x) {
  return at_least(same<T>(low), at_most(same<T>(high), x));
}

// The library computes results that overflow or are subnormal one by one, in ten times the time. So a power
// is the square of that of half the exponent, which is kept where it is far from both; the square overflows
// and underflows as the result must.
template <class T>
constexpr double kMaxExponent = sizeof(T) == 4 ? 87 : 300;

template <class T>
RELAYOUT_VECTOR inline Vector<T> half_exponent(Vector<T> x) {
  return within<T>(-kMaxExponent<T>, kMaxExponent<T>, same<T>(0.5) * x);
}
/// The power of x, by the library's exp or exp2.
template <class T>
RELAYOUT_VECTOR inline Vector<T> power(typename VectorLibrary<T>::OfOne function, Vector<T> x) {
  const Vector<T> root = function(half_exponent<T>(x));
  return root * root;
}
/// exp(x) - 1.
template <class T>
RELAYOUT_VECTOR inline Vector<T> growth(const VectorLibrary<T>& call, Vector<T> x) {
  const Vector<T> of_half = call.expm1(half_exponent<T>(x));
  return of_half * (of_half + same<T>(2));
}
/// exp(-|z|), and 0 where all f32 are greater. Where z is positive it is added to more than its last digit,
/// and does not get smaller than exp(-80).
template <class T>
RELAYOUT_VECTOR inline Vector<T> tail_of(const VectorLibrary<T>& call, Vector<T> z) {
  const Vector<T> least = if_less_than_0(z, same<T>(-kInfinity), same<T>(-80));
  const Vector<T> tail = power<T>(call.exp, at_least(least, -magnitude(z)));
  return if_less_than_0(z + same<T>(2 * kMaxExponent<T>), same<T>(0), tail);
}
/// x / (1 + exp(-z)), where x has z's sign or is 1.
template <class T>
RELAYOUT_VECTOR inline Vector<T> gated(const VectorLibrary<T>& call, Vector<T> x, Vector<T> z) {
  const Vector<T> tail = tail_of(call, z), one = same<T>(1);
  return if_less_than_0(z, tail, one) * x / (one + tail);
}
/// For |x| > 1 the result is NaN. The library would compute it one by one, too.
template <class T>
RELAYOUT_VECTOR inline Vector<T> of_sine(typename VectorLibrary<T>::OfOne function, Vector<T> x) {
  const Vector<T> inside = within<T>(-1, 1, x);
  return if_equal(x, inside, function(inside), same<T>(kNan));
}
/// At 0 and below, too.
template <class T>
RELAYOUT_VECTOR inline Vector<T> logarithm(typename VectorLibrary<T>::OfOne function, Vector<T> x) {
  const Vector<T> zero = same<T>(0), above = at_least(zero, x);
  const Vector<T> result = function(if_equal(above, zero, same<T>(1), x));
  const Vector<T> below = if_equal(x, zero, same<T>(-kInfinity), same<T>(kNan));
  return if_equal(above, zero, below, result);
}

template <Operation kOperation, class T>
RELAYOUT_VECTOR inline Vector<T> value(const VectorLibrary<T>& call, Vector<T> x, Vector<T> y) {
  switch (kOperation) {
    case Operation::exp:
      return power<T>(call.exp, x);
    case Operation::exp2:
      return power<T>(call.exp2, x);
    case Operation::expm1:
      return growth(call, x);
    case Operation::log2:
      return logarithm<T>(call.log2, x);
    case Operation::sin:
      return call.sin(x);
    case Operation::cos:
      return call.cos(x);
    case Operation::tan:
      return call.tan(x);
    case Operation::sinh: {  // 2 * sinh(x / 2) * cosh(x / 2)
      const Vector<T> sine = call.sinh(half_exponent<T>(x));
      return same<T>(2) * sine * root(same<T>(1) + sine * sine);
    }
    case Operation::cosh: {
      const Vector<T> sine = call.sinh(half_exponent<T>(x));
      return same<T>(1) + same<T>(2) * sine * sine;
    }
    case Operation::tanh: {  // in less time than the library's; from 20 on the result is 1
      const Vector<T> inside = within<T>(-20, 20, x), grown = call.expm1(inside + inside);
      return grown / (grown + same<T>(2));
    }
    case Operation::asin:
      return of_sine<T>(call.asin, x);
    case Operation::acos:
      return of_sine<T>(call.acos, x);
    case Operation::atan:
      return call.atan(x);
    case Operation::erf:
      return call.erf(x);
    case Operation::sigmoid:
      return gated(call, same<T>(1), x);
    case Operation::silu:
      return gated(call, x, x);
    case Operation::gelu_tanh:  // 1 + tanh(z) is 2 / (1 + exp(-2 z))
      return gated(call, x, x * (same<T>(1.5957691216057307117) + same<T>(0.071354816272600252) * x * x));
    case Operation::softplus: {  // with log1p as the logarithm of 1 + tail and what that sum has lost
      const Vector<T> tail = tail_of(call, x), sum = same<T>(1) + tail;
      return at_least(same<T>(0), x) + (call.log(sum) + (tail - (sum - same<T>(1))));
    }
    case Operation::elu:
      return is_any_negative(x) ? if_less_than_0(x, growth(call, x), x) : x;
    case Operation::pow:  // C99 leaves 1 to the power of a signalling NaN open
      return if_equal(x, same<T>(1), x, if_equal(y, same<T>(0), same<T>(1), call.pow(x, y)));
    default:
      return call.atan2(x, y);
  }
}

/// Results in the precision of T.
template <Operation kOperation, class T>
RELAYOUT_VECTOR inline Floats values(const VectorLibrary<T>& call, Floats x, Floats y) {
  if constexpr (std::is_same_v<T, float>) {
    return value<kOperation, T>(call, x, y);
  } else {
    const Doubles first = value<kOperation, T>(call, first_half(x), first_half(y));
    const Doubles second = value<kOperation, T>(call, second_half(x), second_half(y));
    return floats_of(first, second);
  }
}

template <Operation kOperation, class T>
RELAYOUT_VECTOR void row(const void* a, const void* b, const void*, void* r, std::int64_t count,
                         const ElementwiseParams&) {
  constexpr bool kTwo = kOperation == Operation::pow || kOperation == Operation::atan2;
  struct Function {
    const VectorLibrary<T>& call;
    RELAYOUT_VECTOR Floats operator()(Floats x, Floats y) const { return values<kOperation, T>(call, x, y); }
  };
  each_vector<float>(a, kTwo ? b : a, r, count, Function{library<T>()});
}

template <Operation... kOperations>
struct Functions {
  /// Null for another operation.
  template <class T>
  static ElementwiseRow row_in(Operation operation) {
    ElementwiseRow found = nullptr;
    ((operation == kOperations ? static_cast<void>(found = row<kOperations, T>) : static_cast<void>(0)), ...);
    return found;
  }
};

/// Those for which the library's error is not too large in f32.
using Near = Functions<Operation::log2, Operation::asin, Operation::acos, Operation::atan, Operation::atan2>;
/// Those that are computed in f64 otherwise (single_functions.hpp, single_activations.hpp), so of f16 and
/// bf16 alone.
using Halves = Functions<Operation::exp, Operation::exp2, Operation::expm1, Operation::sin, Operation::cos,
                         Operation::tan, Operation::sinh, Operation::cosh, Operation::tanh,
                         Operation::sigmoid, Operation::silu, Operation::gelu_tanh, Operation::softplus>;
/// Those with a smaller bound.
using Exact = Functions<Operation::erf, Operation::elu>;

/// Null for an operation that has none here, or where the C library has no vectors.
inline ElementwiseRow vector_function_row(Operation operation, DType common) {
  static const bool found = library<float>().is_complete && library<double>().is_complete;
  if (!found) return nullptr;
  const bool single = common == DType::f32;
  if (operation == Operation::pow)  // in f64 it takes longer than the C library's powf
    return single ? nullptr : row<Operation::pow, float>;
  if (const ElementwiseRow near = Near::row_in<float>(operation)) return near;
  if (const ElementwiseRow halves = Halves::row_in<float>(operation)) return halves;
  return single ? Exact::row_in<double>(operation) : Exact::row_in<float>(operation);
}

}  // namespace relayout::native::RELAYOUT_VECTORS
#endif
