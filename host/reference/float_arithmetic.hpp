// The oracle of arithmetic on floating types. Operands are exact in long double. A result that is not exact
// there is rounded to odd: cut off, with the last bit set. Rounding that to 62 or fewer bits, in any
// direction, is then the same as rounding the exact result once (Boldo and Melquiond, 2008).
#pragma once

#include <cmath>
#include <cstdint>
#include <limits>

#include "host/reference/convert.hpp"
#include "host/reference/float_functions.hpp"
#include "host/reference/integer_arithmetic.hpp"

namespace relayout::reference {

/// |a - b| <= atol + rtol * |b|.
struct IsCloseTolerance {
  double rtol = 1e-5, atol = 1e-8;
  bool equal_nan = false;
};

/// Rounds to odd: `nearest` is the exact number rounded to long double, and `error` has the sign of what was
/// lost. For infinite operands `error` is NaN, and nothing was lost.
inline long double to_odd(long double nearest, long double error) {
  if (error == 0 || std::isnan(error)) return nearest;
  const bool too_large = (error < 0) != (nearest < 0);  // in magnitude
  const long double cut = too_large ? std::nextafter(nearest, 0.0L) : nearest;
  int exponent = 0;
  const long double significand = std::ldexp(std::frexp(std::fabs(cut), &exponent), LDBL_MANT_DIG);
  if (std::fmod(significand, 2.0L) == 1) return cut;
  return std::nextafter(cut, std::copysign(std::numeric_limits<long double>::infinity(), cut));
}

// Nothing below underflows or overflows: long double's exponents reach 16 times as far as f64's.

inline long double odd_sum(long double a, long double b) {
  const long double sum = a + b, part = sum - a;
  return to_odd(sum, (a - (sum - part)) + (b - part));
}

/// Whether the number has at most 24 significant bits. Two such numbers have an exact product, and std::fma,
/// which is slow for a long double, is not needed.
inline bool is_single(long double value) {
  return std::fabs(value) <= std::numeric_limits<float>::max() && static_cast<float>(value) == value;
}

inline long double odd_product(long double a, long double b) {
  const long double product = a * b;
  if (is_single(a) && is_single(b)) return product;
  return to_odd(product, std::fma(a, b, -product));
}

inline long double odd_quotient(long double a, long double b) {
  const long double quotient = a / b;
  long double rest;
  if (is_single(b) && std::fabs(quotient) < 0x1p100L && std::fabs(quotient) > 0x1p-100L) {
    // Both parts of the quotient have few enough digits for exact products, and so have the differences: what
    // is left is less than a unit of the quotient's last place, times b.
    const long double high = static_cast<float>(quotient), low = quotient - high;
    rest = (a - high * b) - low * b;
  } else {
    rest = std::fma(-quotient, b, a);
  }
  return to_odd(quotient, b < 0 ? -rest : rest);
}

inline long double odd_sqrt(long double a) {
  const long double root = std::sqrt(a);
  return to_odd(root, std::fma(-root, root, a));
}

/// The sum before its rounding. A zero from operands of opposite signs is -0 when rounding down, else +0.
inline long double sum_to_round(long double a, long double b, Rounding rounding) {
  const long double sum = odd_sum(a, b);
  if (sum == 0 && std::signbit(a) != std::signbit(b)) return rounding == Rounding::down ? -0.0L : 0.0L;
  return sum;
}

inline long double rounded(DType type, long double value) {
  return exact_value(type, to_float_bits(value, type, Rounding::nearest_even, false));
}

/// The type in which f16 and bf16 are computed.
inline DType working_type(DType type) { return type == DType::f64 ? DType::f64 : DType::f32; }

/// floor or trunc of the exact quotient: rounding to odd crosses no integer below 2^62. Beyond that, the
/// quotient itself is rounded, which is within an ulp of its floor.
inline long double whole_quotient(Operation operation, long double a, long double b) {
  if (b == 0) return a / b;
  if (std::isinf(a)) return std::numeric_limits<long double>::quiet_NaN();
  const bool floor = operation == Operation::div_floor;
  if (std::isinf(b) && floor && a != 0 && !std::isnan(a) && std::signbit(a) != std::signbit(b)) return -1;
  const long double quotient = odd_quotient(a, b);
  return floor ? std::floor(quotient) : std::trunc(quotient);
}

/// The remainder with b's sign. For an infinite b it is a, or b where the signs differ.
inline long double python_mod(long double a, long double b) {
  const long double rest = std::fmod(a, b);
  if (rest == 0) return std::copysign(0.0L, b);
  return !std::isnan(rest) && std::signbit(rest) != std::signbit(b) ? odd_sum(rest, b) : rest;
}

/// The maximum: NaN if either is, and +0 for two zeros. The minimum of a and b is -larger(-a, -b).
inline long double larger(long double a, long double b) {
  if (std::isnan(a) || std::isnan(b)) return std::numeric_limits<long double>::quiet_NaN();
  if (a == b) return std::signbit(a) ? b : a;
  return a > b ? a : b;
}

inline long double larger_number(long double a, long double b) {
  return std::isnan(a) ? b : std::isnan(b) ? a : larger(a, b);
}

/// (a - b)^2: the difference and its square are rounded one after the other.
inline long double squared_difference(DType work, long double a, long double b) {
  const long double difference = rounded(work, odd_sum(a, -b));
  return rounded(work, odd_product(difference, difference));
}

/// a + c * (b - a), where each of the three steps is rounded.
inline long double interpolated(DType work, long double a, long double b, long double c) {
  const long double step = rounded(work, odd_product(c, rounded(work, odd_sum(b, -a))));
  return rounded(work, odd_sum(a, step));
}

/// The number before it is rounded once to `type`.
inline long double float_result(Operation operation, DType type, long double a, long double b, long double c,
                                Rounding rounding) {
  switch (operation) {
    case Operation::add:
      return sum_to_round(a, b, rounding);
    case Operation::sub:
      return sum_to_round(a, -b, rounding);
    case Operation::mul:
      return odd_product(a, b);
    case Operation::div:
    case Operation::truediv:
      return odd_quotient(a, b);
    case Operation::div_trunc:
    case Operation::div_floor:
      return whole_quotient(operation, a, b);
    case Operation::mod:
      return python_mod(a, b);
    case Operation::fmod:
      return std::fmod(a, b);
    case Operation::maximum:
      return larger(a, b);
    case Operation::minimum:
      return -larger(-a, -b);
    case Operation::fmax:
      return larger_number(a, b);
    case Operation::fmin:
      return -larger_number(-a, -b);
    case Operation::prelu:
      return a > 0 ? a : odd_product(a, b);
    case Operation::abs_diff:
      return std::fabs(odd_sum(a, -b));
    case Operation::squared_diff:
      return squared_difference(working_type(type), a, b);
    case Operation::copysign:
      return std::copysign(a, b);
    case Operation::clip:
      return -larger(-larger(a, b), -c);
    case Operation::lerp:
      return interpolated(working_type(type), a, b, c);
    case Operation::neg:
      return -a;
    case Operation::abs:
      return std::fabs(a);
    case Operation::sign:  // -0 gives +0, as in NumPy and PyTorch
      return a > 0 ? 1 : a < 0 ? -1 : a == 0 ? 0 : a;
    case Operation::relu:  // -0 gives +0
      return a > 0 ? a : std::isnan(a) ? a : 0;
    case Operation::square:
      return odd_product(a, a);
    case Operation::step:  // NaN gives 0
      return a > 0 ? 1 : 0;
    case Operation::floor:
      return std::floor(a);
    case Operation::ceil:
      return std::ceil(a);
    case Operation::trunc:
      return std::trunc(a);
    case Operation::round:  // -0.5 gives -0
      return std::isfinite(a) ? std::copysign(round_to_whole(a, Rounding::nearest_even), a) : a;
    case Operation::sqrt:
      return odd_sqrt(a);
    case Operation::reciprocal:
      return odd_quotient(1, a);
    default:
      return function_value(operation, a, b);
  }
}

/// isclose. Every step is rounded, and so are the tolerances: to f64 for f64, to f32 for the other types.
/// Infinity is close only to itself.
inline bool is_close(DType type, long double a, long double b, const IsCloseTolerance& tolerance) {
  if (std::isnan(a) || std::isnan(b)) return tolerance.equal_nan && std::isnan(a) && std::isnan(b);
  if (std::isinf(a) || std::isinf(b)) return a == b;
  const DType work = working_type(type);
  const long double rtol = rounded(work, tolerance.rtol), atol = rounded(work, tolerance.atol);
  const long double relative = rounded(work, odd_product(rtol, std::fabs(b)));
  return rounded(work, std::fabs(odd_sum(a, -b))) <= rounded(work, odd_sum(atol, relative));
}

/// Bits of floating-point numbers to bits of the same type.
inline std::uint64_t apply_to_floats(Operation operation, DType type, std::uint64_t a, std::uint64_t b,
                                     std::uint64_t c, Rounding rounding) {
  const long double result = float_result(operation, type, exact_value(type, a), exact_value(type, b),
                                          exact_value(type, c), rounding);
  return to_float_bits(result, type, rounding, false);
}

}  // namespace relayout::reference
