// The oracle of the functions that are not exact. It computes in long double, whose last place is 2^-11 of
// that of f64. So one rounding to the type gives the nearest number to the exact result or, seldom, the one
// beside it.
#pragma once

#include <cmath>
#include <stdexcept>

#include <relayout/operation.hpp>

namespace relayout::reference {

/// min(max(x + 3, 0), 6) / 6; NaN stays NaN.
inline long double hard_sigmoid(long double x) {
  const long double moved = x + 3;
  return (moved < 0 ? 0 : moved > 6 ? 6 : moved) / 6;
}

inline long double gelu_by_tanh(long double x) {
  const long double root_2_over_pi = 0.797884560802865355879892119868763737L;
  const long double u = root_2_over_pi * (x + 0.044715L * x * x * x);
  return x / (1 + std::exp(-2 * u));  // (1 + tanh(u)) / 2 without its cancellation
}

/// A function of one number, or of two (pow, hypot, atan2). Special values are those of C99. For silu, gelu,
/// gelu_tanh and hardswish they follow from the formula: -infinity times a factor of 0 is NaN, as in PyTorch.
inline long double function_value(Operation operation, long double x, long double y) {
  const long double root_half = 0.707106781186547524400844362104849039L;
  switch (operation) {
    case Operation::pow:
      // glibc's powl of x86 gives +infinity for -infinity to -2^63; its pow is right.
      return std::isinf(x) ? std::pow(static_cast<double>(x), static_cast<double>(y)) : std::pow(x, y);
    case Operation::hypot:
      return std::hypot(x, y);
    case Operation::atan2:
      return std::atan2(x, y);
    case Operation::rsqrt:  // -0 gives -infinity
      return 1 / std::sqrt(x);
    case Operation::exp:
      return std::exp(x);
    case Operation::exp2:
      return std::exp2(x);
    case Operation::expm1:
      return std::expm1(x);
    case Operation::log:
      return std::log(x);
    case Operation::log2:
      return std::log2(x);
    case Operation::log1p:
      return std::log1p(x);
    case Operation::sin:
      return std::sin(x);
    case Operation::cos:
      return std::cos(x);
    case Operation::tan:
      return std::tan(x);
    case Operation::sinh:
      return std::sinh(x);
    case Operation::cosh:
      return std::cosh(x);
    case Operation::tanh:
      return std::tanh(x);
    case Operation::asin:
      return std::asin(x);
    case Operation::acos:
      return std::acos(x);
    case Operation::atan:
      return std::atan(x);
    case Operation::erf:
      return std::erf(x);
    case Operation::sigmoid:
      return 1 / (1 + std::exp(-x));
    case Operation::silu:
      return x / (1 + std::exp(-x));
    case Operation::gelu:  // 1 + erf(z) is erfc(-z), without its cancellation
      return x / 2 * std::erfc(-x * root_half);
    case Operation::gelu_tanh:
      return gelu_by_tanh(x);
    case Operation::softplus:
      return (x > 0 ? x : 0) + std::log1p(std::exp(-std::fabs(x)));
    case Operation::elu:
      return x > 0 ? x : std::expm1(x);
    case Operation::hardsigmoid:
      return hard_sigmoid(x);
    case Operation::hardswish:  // the factor first: x * 6 may overflow where the result does not
      return x * hard_sigmoid(x);
    default:
      throw std::invalid_argument("no operation of floating types");
  }
}

}  // namespace relayout::reference
