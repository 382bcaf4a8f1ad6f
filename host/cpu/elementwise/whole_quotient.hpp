// The whole part of the quotient of any two numbers, rounded down or towards 0.
#pragma once

#include <cmath>

namespace relayout::native {

/// The exact quotient of two f32 is no nearer to a whole number below 2^24 than f64 can tell.
inline float whole_quotient(float a, float b, bool floored) {
  if (std::isinf(a) && b != 0) return NAN;
  const double quotient = static_cast<double>(a) / b;
  if (floored && std::isinf(b) && quotient == 0 && a != 0 && std::signbit(a) != std::signbit(b)) return -1;
  return static_cast<float>(floored ? std::floor(quotient) : std::trunc(quotient));
}

/// Rounding may have taken the quotient up to the next whole number; what is left, a - whole * b, is exact
/// and tells.
inline double whole_quotient(double a, double b, bool floored) {
  if (std::isinf(a) && b != 0) return NAN;
  const double quotient = a / b;
  const bool opposite = std::signbit(a) != std::signbit(b);
  if (b == 0 || std::isnan(quotient) || std::isinf(quotient)) return quotient;
  if (std::isinf(b)) return floored && opposite && a != 0 ? -1 : quotient;
  double whole = std::trunc(quotient), rest = std::fma(-whole, b, a);
  if (rest != 0 && std::signbit(rest) != std::signbit(a)) {
    whole -= opposite ? -1 : 1;
    rest = std::fma(-whole, b, a);
  }
  return floored && opposite && rest != 0 ? whole - 1 : whole;
}

}  // namespace relayout::native
