// The element-wise operations: what each computes, of how many operands, in which type (docs/operations.md).
#pragma once

#include <cstdint>

#include <relayout/dtype.hpp>

namespace relayout {

/// Operands are called a, b and c in their order. Numbers are computed as if exactly and rounded once, but
/// for the functions for which docs/operations.md gives a bound; integers wrap.
enum class Operation : std::uint8_t {
  // Of two numbers; integers and floating types.
  add,
  sub,
  mul,
  div,        // floating: IEEE; integers: div_trunc
  truediv,    // IEEE; integers are made f32 first
  div_trunc,  // the quotient toward 0; integers: x / 0 is 0
  div_floor,  // toward minus infinity; integers: x / 0 is 0
  mod,        // the remainder with b's sign
  fmod,       // the remainder with a's sign
  pow,
  maximum,  // NaN if either is
  minimum,
  fmax,  // ignores a NaN
  fmin,
  prelu,         // a > 0 ? a : a * b
  abs_diff,      // |a - b|
  squared_diff,  // (a - b) * (a - b)

  // Of two numbers; floating types, others are made f32 first.
  hypot,
  atan2,
  copysign,

  // Of two integers, or two bools.
  bit_and,
  bit_or,
  bit_xor,
  shift_left,   // integers only; a count below 0 or from the width on gives 0
  shift_right,  // the sign fills

  // Of two numbers or bools, to bool.
  equal,
  not_equal,
  less,
  less_equal,
  greater,
  greater_equal,
  isclose,  // |a - b| <= atol + rtol * |b|; ElementwiseOptions has atol and rtol

  // Of two operands of any types, x != 0, to bool.
  logical_and,
  logical_or,
  logical_xor,

  // Of three.
  where,  // a != 0 ? b : c
  clip,   // min(max(a, b), c)
  lerp,   // a + c * (b - a); floating types, others are made f32 first

  // Of one number; integers and floating types.
  neg,
  abs,
  sign,  // -1, 0 or 1; NaN of NaN
  relu,  // a > 0 ? a : 0
  square,
  step,  // a > 0 ? 1 : 0
  floor,
  ceil,
  trunc,
  round,  // half to even

  // Of one integer or bool; of one operand to bool.
  bit_not,
  logical_not,
  isnan,
  isinf,
  isfinite,

  // Of one number; floating types, others are made f32 first.
  sqrt,
  rsqrt,
  reciprocal,
  exp,
  exp2,
  expm1,
  log,
  log2,
  log1p,
  sin,
  cos,
  tan,
  sinh,
  cosh,
  tanh,
  asin,
  acos,
  atan,
  erf,
  sigmoid,
  silu,
  gelu,       // a / 2 * (1 + erf(a / sqrt(2)))
  gelu_tanh,  // its approximation by tanh
  softplus,   // max(a, 0) + log1p(exp(-|a|))
  elu,        // a > 0 ? a : exp(a) - 1
  hardswish,
  hardsigmoid
};
constexpr int kOperations = static_cast<int>(Operation::hardsigmoid) + 1;

/// The enumerator's name, as in "add".
const char* name_of(Operation operation) noexcept;
/// How many operands it takes: 1, 2 or 3.
int operands_of(Operation operation) noexcept;

/// How exactly some operations on f32 are computed. Devices may be more exact than asked; the CPU always is.
enum class Precision : std::uint8_t {
  accurate,    // as docs/operations.md says of each
  full,        // truediv within 2 ulp for all operands; tanh and exp, which are accurate
  approximate  // truediv, sqrt and exp within 2 ulp, tanh within 2^-10 of its value, for operands and results
               // between 2^-126 and 2^126; elsewhere, of zeros, infinities and NaN too, anything
};

}  // namespace relayout
