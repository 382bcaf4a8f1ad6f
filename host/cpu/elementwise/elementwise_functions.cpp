// Element-wise operations on f32 and f64 that call the library, element by element.
#include <cmath>
#include <cstdint>
#include <cstring>
#include <type_traits>

#include "host/cpu/elementwise/elementwise_convert.hpp"
#include "host/cpu/elementwise/elementwise_loops.hpp"
#include "host/cpu/elementwise/whole_quotient.hpp"

namespace relayout::native {
namespace {

/// Where formulas of several steps are computed, and functions whose own error in T may be 2 ulp: of their
/// result, one rounding is left. On x86 f64's is long double, with 11 more bits. Functions of f32 are
/// computed in f64, and those of f64 too whose error there is 1.5 ulp at most in glibc.
template <class T>
using Wide = std::conditional_t<std::is_same_v<T, float>, double, long double>;

template <class T>
T div_trunc(T a, T b) {
  return whole_quotient(a, b, false);
}
template <class T>
T div_floor(T a, T b) {
  return whole_quotient(a, b, true);
}
template <class T>
T fmod(T a, T b) {
  return std::fmod(a, b);
}
template <class T>
T mod(T a, T b) {
  const T rest = std::fmod(a, b);
  if (rest == 0) return std::copysign(T{0}, b);
  return (rest < 0) != (b < 0) ? rest + b : rest;
}

/// The same of f32, computed in f64 without a branch. Below 2^28 a quotient that is not whole is farther from
/// whole numbers than its rounding, and f64 holds the product that is taken away.
inline float near_div_trunc(float a, float b) { return static_cast<float>(std::trunc(double{a} / b)); }
inline float near_div_floor(float a, float b) { return static_cast<float>(std::floor(double{a} / b)); }
inline double near_rest(double a, double b) { return a - std::trunc(a / b) * b; }
inline float near_fmod(float a, float b) { return std::copysign(static_cast<float>(near_rest(a, b)), a); }
inline float near_mod(float a, float b) {
  const double rest = near_rest(a, b), moved = (rest < 0) != (b < 0) ? rest + b : rest;
  return rest == 0 ? std::copysign(0.0f, b) : static_cast<float>(moved);
}
inline bool is_far_quotient(float a, float b) {
  return !(std::abs(a) < INFINITY) || !(std::abs(b) < INFINITY);
}
inline bool is_far_rest(float a, float b) {
  return !(std::abs(double{a} / b) < 0x1p28) || std::abs(b) == INFINITY;
}

/// kNear of all elements, which is vectorised, and kFunction of those for which that is not right.
template <float (*kFunction)(float, float), float (*kNear)(float, float), bool (*kIsFar)(float, float)>
void guarded_row(const void* a, const void* b, const void*, void* r, std::int64_t count,
                 const ElementwiseParams&) {
  const float *x = static_cast<const float*>(a), *y = static_cast<const float*>(b);
  float results[kPiece];  // r may be an operand
  int far = 0;
  for (std::int64_t i = 0; i < count; ++i) {
    results[i] = kNear(x[i], y[i]);
    far |= kIsFar(x[i], y[i]) ? 1 : 0;
  }
  for (std::int64_t i = 0; i < count && far != 0; ++i) {
    if (kIsFar(x[i], y[i])) results[i] = kFunction(x[i], y[i]);
  }
  std::memcpy(r, results, static_cast<std::size_t>(count) * sizeof(float));
}

/// C99 leaves 1 to the power of a signalling NaN open.
template <class T>
T pow(T a, T b) {
  return a == 1 || b == 0 ? T{1} : std::pow(a, b);
}

inline double hypot(double a, double b) {
  return static_cast<double>(std::hypot(Wide<double>{a}, Wide<double>{b}));
}
/// f64 has room for the squares of f32. C99: infinite even beside a NaN.
inline float hypot(float a, float b) {
  const double x = a, y = b;
  const bool infinite = std::abs(a) == INFINITY || std::abs(b) == INFINITY;
  return infinite ? INFINITY : static_cast<float>(std::sqrt(x * x + y * y));
}
template <class T>
T atan2(T a, T b) {
  return static_cast<T>(std::atan2(double{a}, double{b}));
}

template <class T>
T exp(T a) {
  return std::exp(a);
}
template <class T>
T exp2(T a) {
  return std::exp2(a);
}
template <class T>
T log(T a) {
  return std::log(a);
}
template <class T>
T log2(T a) {
  return std::log2(a);
}
template <class T>
T sin(T a) {
  return std::sin(a);
}
template <class T>
T cos(T a) {
  return std::cos(a);
}

template <class T>
T expm1(T a) {
  return static_cast<T>(std::expm1(double{a}));
}
template <class T>
T log1p(T a) {
  return static_cast<T>(std::log1p(double{a}));
}
template <class T>
T tan(T a) {
  return static_cast<T>(std::tan(double{a}));
}
template <class T>
T sinh(T a) {
  return static_cast<T>(std::sinh(Wide<T>{a}));
}
template <class T>
T cosh(T a) {
  return static_cast<T>(std::cosh(Wide<T>{a}));
}
template <class T>
T tanh(T a) {
  return static_cast<T>(std::tanh(Wide<T>{a}));
}
template <class T>
T asin(T a) {
  return static_cast<T>(std::asin(double{a}));
}
template <class T>
T acos(T a) {
  return static_cast<T>(std::acos(double{a}));
}
template <class T>
T atan(T a) {
  return static_cast<T>(std::atan(double{a}));
}
template <class T>
T erf(T a) {
  return static_cast<T>(std::erf(double{a}));
}

template <class T>
T sigmoid(T a) {
  return static_cast<T>(1 / (1 + std::exp(-Wide<T>{a})));
}
template <class T>
T silu(T a) {
  const Wide<T> x = a;
  return static_cast<T>(x / (1 + std::exp(-x)));
}
/// 1 + erf(z) is erfc(-z), which has no cancellation.
template <class T>
T gelu(T a) {
  const Wide<T> x = a, root_half = 0.707106781186547524400844362104849039L;
  return static_cast<T>(x / 2 * std::erfc(-x * root_half));
}
/// 1 + tanh(z) is 2 / (1 + exp(-2 z)).
template <class T>
T gelu_tanh(T a) {
  const Wide<T> x = a, root_2_over_pi = 0.797884560802865355879892119868763737L, cubed = 0.044715L;
  return static_cast<T>(x / (1 + std::exp(-2 * root_2_over_pi * (x + cubed * x * x * x))));
}
template <class T>
T softplus(T a) {
  const Wide<T> x = a;
  return static_cast<T>((x < 0 ? 0 : x) + std::log1p(std::exp(-std::abs(x))));
}
template <class T>
T elu(T a) {
  return a > 0 ? a : expm1(a);
}

/// f64 has no larger type to be computed in: each element by kFunction.
template <class T, T (*kFunction)(T, T), float (*kNear)(float, float), bool (*kIsFar)(float, float)>
ElementwiseRow of_quotient() {
  if constexpr (std::is_same_v<T, float>) {
    return vectorised<guarded_row<kFunction, kNear, kIsFar>>();
  } else {
    return row_of_two<T, kFunction>;
  }
}

template <class T>
ElementwiseRow row_of_two_numbers(Operation operation) {
  switch (operation) {
    case Operation::div_trunc:
      return of_quotient<T, div_trunc<T>, near_div_trunc, is_far_quotient>();
    case Operation::div_floor:
      return of_quotient<T, div_floor<T>, near_div_floor, is_far_quotient>();
    case Operation::mod:
      return of_quotient<T, mod<T>, near_mod, is_far_rest>();
    case Operation::fmod:
      return of_quotient<T, fmod<T>, near_fmod, is_far_rest>();
    case Operation::pow:
      return row_of_two<T, pow<T>>;
    case Operation::hypot:
      return of_two<T, hypot>();
    case Operation::atan2:
      return row_of_two<T, atan2<T>>;
    default:
      return nullptr;
  }
}

template <class T>
ElementwiseRow row_of(Operation operation) {
  switch (operation) {
    case Operation::exp:
      return row_of_one<T, exp<T>>;
    case Operation::exp2:
      return row_of_one<T, exp2<T>>;
    case Operation::expm1:
      return row_of_one<T, expm1<T>>;
    case Operation::log:
      return row_of_one<T, log<T>>;
    case Operation::log2:
      return row_of_one<T, log2<T>>;
    case Operation::log1p:
      return row_of_one<T, log1p<T>>;
    case Operation::sin:
      return row_of_one<T, sin<T>>;
    case Operation::cos:
      return row_of_one<T, cos<T>>;
    case Operation::tan:
      return row_of_one<T, tan<T>>;
    case Operation::sinh:
      return row_of_one<T, sinh<T>>;
    case Operation::cosh:
      return row_of_one<T, cosh<T>>;
    case Operation::tanh:
      return row_of_one<T, tanh<T>>;
    case Operation::asin:
      return row_of_one<T, asin<T>>;
    case Operation::acos:
      return row_of_one<T, acos<T>>;
    case Operation::atan:
      return row_of_one<T, atan<T>>;
    case Operation::erf:
      return row_of_one<T, erf<T>>;
    case Operation::sigmoid:
      return row_of_one<T, sigmoid<T>>;
    case Operation::silu:
      return row_of_one<T, silu<T>>;
    case Operation::gelu:
      return row_of_one<T, gelu<T>>;
    case Operation::gelu_tanh:
      return row_of_one<T, gelu_tanh<T>>;
    case Operation::softplus:
      return row_of_one<T, softplus<T>>;
    case Operation::elu:
      return row_of_one<T, elu<T>>;
    default:
      return row_of_two_numbers<T>(operation);
  }
}

}  // namespace

ElementwiseRow function_row(Operation operation, ComputeClass compute) {
  return compute == ComputeClass::f32 ? row_of<float>(operation) : row_of<double>(operation);
}

}  // namespace relayout::native
