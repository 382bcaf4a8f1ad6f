// How far a right result of an element-wise operation may be from the oracle's.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>

#include "host/reference/arithmetic.hpp"

namespace relayout::reference {

/// The numbers of a floating type in their order: +0 and -0 are 0, the smallest subnormals 1 and -1.
inline std::int64_t place_of(DType type, std::uint64_t bits) {
  const std::uint64_t sign = std::uint64_t{1} << (8 * size_of(type) - 1);
  const std::int64_t magnitude = static_cast<std::int64_t>(bits & (sign - 1));
  return bits & sign ? -magnitude : magnitude;
}
inline std::uint64_t bits_at(DType type, std::int64_t place) {
  const std::uint64_t sign = std::uint64_t{1} << (8 * size_of(type) - 1);
  return place < 0 ? sign | static_cast<std::uint64_t>(-place) : static_cast<std::uint64_t>(place);
}

/// How many steps lie between two numbers of f16, bf16, f32 or f64; infinity follows the largest number. Two
/// NaNs are 0 steps apart. A NaN and a number, and numbers that are too far apart, give the largest
/// std::int64_t.
inline std::int64_t ulps_between(DType type, std::uint64_t a, std::uint64_t b) {
  const std::int64_t farthest = std::numeric_limits<std::int64_t>::max();
  const bool a_nan = std::isnan(exact_value(type, a)), b_nan = std::isnan(exact_value(type, b));
  if (a_nan || b_nan) return a_nan && b_nan ? 0 : farthest;
  const WideInteger steps = static_cast<WideInteger>(place_of(type, a)) - place_of(type, b);
  const WideInteger distance = steps < 0 ? -steps : steps;
  return distance > farthest ? farthest : static_cast<std::int64_t>(distance);
}

/// How many steps a result may be off; 0 where it is exact or correctly rounded.
inline int ulp_bound(Operation operation, DType type) {
  if (!is_floating(type) || result_type(operation, type) == DType::bool_) return 0;
  const bool half = size_of(type) == 2;  // computed in f32, rounded once more
  switch (operation) {
    case Operation::pow:
    case Operation::hypot:
    case Operation::exp:
    case Operation::log:
    case Operation::sin:
    case Operation::cos:
    case Operation::tan:
    case Operation::tanh:
    case Operation::erf:
    case Operation::sigmoid:
    case Operation::hardswish:
    case Operation::hardsigmoid:
      return half ? 1 : 2;
    case Operation::atan2:
    case Operation::rsqrt:
    case Operation::exp2:
    case Operation::expm1:
    case Operation::log2:
    case Operation::log1p:
    case Operation::sinh:
    case Operation::cosh:
    case Operation::asin:
    case Operation::acos:
    case Operation::atan:
    case Operation::silu:
    case Operation::gelu_tanh:
    case Operation::softplus:
    case Operation::elu:
    case Operation::gelu:
      return half ? 1 : type == DType::f64 ? 2 : 4;
    default:
      return 0;
  }
}

inline bool may_swap_zeros(Operation operation) {
  return operation == Operation::maximum || operation == Operation::minimum || operation == Operation::fmax ||
         operation == Operation::fmin || operation == Operation::clip;
}

/// Whether a right result has the oracle's bits, except for NaNs.
inline bool is_exact(Operation operation, DType type) {
  const bool whole = operation == Operation::div_trunc || operation == Operation::div_floor;
  return !is_floating(type) || (ulp_bound(operation, type) == 0 && !may_swap_zeros(operation) && !whole);
}

/// The smallest and the largest right result, as places.
struct RightResults {
  std::int64_t low, high;
};

/// The smallest and the largest right result where the oracle has `expected`, which is not a NaN. div_trunc
/// and div_floor are exact below 2^digits, and within an ulp from there on.
inline RightResults right_results(Operation operation, DType type, std::uint64_t expected) {
  const std::int64_t most = place_of(
      type, to_float_bits(std::numeric_limits<long double>::infinity(), type, Rounding::nearest_even, false));
  int bound = ulp_bound(operation, type);
  if (operation == Operation::div_trunc || operation == Operation::div_floor)
    bound = std::fabs(exact_value(type, expected)) >= std::ldexp(1.0L, float_layout(type).digits) ? 1 : 0;
  const std::int64_t place = place_of(type, expected);
  return {std::max(place - bound, -most), std::min(place + bound, most)};
}

/// Whether `got` is a right result where the oracle has `expected`; both are bits of result_type(operation,
/// type). NaNs count as equal. Zeros of two signs count as equal only for maximum, minimum, fmax, fmin and
/// clip.
inline bool agrees(Operation operation, DType type, std::uint64_t got, std::uint64_t expected) {
  if (got == expected) return true;
  if (!is_floating(type) || result_type(operation, type) == DType::bool_) return false;
  const long double result = exact_value(type, got), right = exact_value(type, expected);
  if (std::isnan(result) || std::isnan(right)) return std::isnan(result) && std::isnan(right);
  if (result == 0 && right == 0) return may_swap_zeros(operation);
  const RightResults between = right_results(operation, type, expected);
  const std::int64_t place = place_of(type, got);
  return place >= between.low && place <= between.high;
}

}  // namespace relayout::reference
