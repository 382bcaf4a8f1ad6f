// The element-wise operations: what each computes, how many operands it takes, and in which type it works
// (docs/operations.md).
#pragma once

#include <cstdint>

#include <relayout/dtype.hpp>

namespace relayout {

/// The element-wise operations. Operands are called a, b and c in their order. Results are the exact ones
/// rounded once, except for the functions to which docs/operations.md gives a bound; integers wrap.
enum class Operation : std::uint8_t {
  // Two numbers; integers and floating types.
  add,           ///< a + b
  sub,           ///< a - b
  mul,           ///< a * b
  div,           ///< floating: IEEE; integers: div_trunc
  truediv,       ///< IEEE; integers are made f32 first
  div_trunc,     ///< the quotient toward 0; integers: x / 0 is 0
  div_floor,     ///< toward minus infinity; integers: x / 0 is 0
  mod,           ///< the remainder with b's sign
  fmod,          ///< the remainder with a's sign
  pow,           ///< a to the power b; integers exactly, modulo 2^n
  maximum,       ///< NaN if either is
  minimum,       ///< NaN if either is
  fmax,          ///< ignores a NaN
  fmin,          ///< ignores a NaN
  prelu,         ///< a > 0 ? a : a * b
  abs_diff,      ///< |a - b|
  squared_diff,  ///< (a - b) * (a - b)

  // Two numbers; floating types, others are made f32 first.
  hypot,     ///< sqrt(a * a + b * b), without overflow on the way
  atan2,     ///< the angle of the point (b, a)
  copysign,  ///< a's magnitude with b's sign

  // Two integers, or two bools.
  bit_and,      ///< a & b
  bit_or,       ///< a | b
  bit_xor,      ///< a ^ b
  shift_left,   ///< integers only; a count below 0 or from the width on gives 0
  shift_right,  ///< the sign fills

  // Two numbers or bools; the result is bool.
  equal,          ///< a == b
  not_equal,      ///< a != b; true for NaN
  less,           ///< a < b
  less_equal,     ///< a <= b
  greater,        ///< a > b
  greater_equal,  ///< a >= b
  isclose,        ///< |a - b| <= atol + rtol * |b|; ElementwiseOptions has atol and rtol

  // Two operands of any types, each made bool by x != 0; the result is bool.
  logical_and,  ///< both
  logical_or,   ///< either
  logical_xor,  ///< one of them

  // Three operands.
  where,  ///< a != 0 ? b : c
  clip,   ///< min(max(a, b), c)
  lerp,   ///< a + c * (b - a); floating types, others are made f32 first

  // One number; integers and floating types.
  neg,     ///< -a
  abs,     ///< |a|
  sign,    ///< -1, 0 or 1; NaN stays NaN
  relu,    ///< a > 0 ? a : 0
  square,  ///< a * a
  step,    ///< a > 0 ? 1 : 0
  floor,   ///< toward minus infinity
  ceil,    ///< toward plus infinity
  trunc,   ///< toward zero
  round,   ///< half to even

  // One integer or bool; and one operand with a result that is bool.
  bit_not,      ///< all bits changed; of a bool the other one
  logical_not,  ///< a == 0
  isnan,        ///< whether a is a NaN
  isinf,        ///< whether a is infinite
  isfinite,     ///< whether a is finite

  // One number; floating types, others are made f32 first.
  sqrt,        ///< the square root
  rsqrt,       ///< 1 / sqrt(a)
  reciprocal,  ///< 1 / a
  exp,         ///< e^a
  exp2,        ///< 2^a
  expm1,       ///< e^a - 1
  log,         ///< the natural logarithm
  log2,        ///< the logarithm to base 2
  log1p,       ///< log(1 + a)
  sin,         ///< sine, a in radians
  cos,         ///< cosine
  tan,         ///< tangent
  sinh,        ///< hyperbolic sine
  cosh,        ///< hyperbolic cosine
  tanh,        ///< hyperbolic tangent
  asin,        ///< arc sine
  acos,        ///< arc cosine
  atan,        ///< arc tangent
  erf,         ///< the error function
  sigmoid,     ///< 1 / (1 + exp(-a))
  silu,        ///< a * sigmoid(a)
  gelu,        ///< a / 2 * (1 + erf(a / sqrt(2)))
  gelu_tanh,   ///< a / 2 * (1 + tanh(sqrt(2 / pi) * (a + 0.044715 * a^3)))
  softplus,    ///< max(a, 0) + log1p(exp(-|a|))
  elu,         ///< a > 0 ? a : exp(a) - 1
  hardswish,   ///< a * hardsigmoid(a)
  hardsigmoid  ///< min(max(a + 3, 0), 6) / 6
};
/// How many operations there are.
constexpr int kOperations = static_cast<int>(Operation::hardsigmoid) + 1;

/// The enumerator's name, as in "add".
const char* name_of(Operation operation) noexcept;
/// How many operands the operation takes: 1, 2 or 3.
int operands_of(Operation operation) noexcept;

/// How exactly some operations on f32 are computed. Devices may be more exact than asked; the CPU always is.
enum class Precision : std::uint8_t {
  accurate,    ///< the bounds of docs/operations.md
  full,        ///< truediv within 2 ulp for all operands; tanh and exp stay accurate
  approximate  ///< truediv, sqrt and exp within 2 ulp, tanh within 2^-10 of its value, for operands and
               ///< results between 2^-126 and 2^126; elsewhere, zeros, infinities and NaN included, anything
};

}  // namespace relayout
