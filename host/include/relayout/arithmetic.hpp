// A function for each element-wise operation, and fill:
//
//     add(stream, a, b, out);              // operands: tensors of any strides, or constants
//     clip(stream, x, 0, 6, out);
//     plan_mul(device, x, 0.5, out).run(stream);
//
// Each function calls elementwise() or plan_elementwise() with the operation of its name. The rules for
// shapes, types and errors stand in relayout/elementwise.hpp, the formulas in relayout/operation.hpp.
#pragma once

#include <relayout/elementwise.hpp>
#include <relayout/fill.hpp>

namespace relayout {

#define RELAYOUT_OF_ONE(name)                                                                           \
  /** out = the operation of this name on a. See relayout::Operation and elementwise(). */              \
  inline void name(const Stream& stream, const Operand& a, const TensorView& out,                       \
                   const ElementwiseOptions& options = {}) {                                            \
    elementwise(stream, Operation::name, {a}, out, options);                                            \
  }                                                                                                     \
  /** Plans the operation of this name on a. See plan_elementwise(). */                                 \
  inline ElementwisePlan plan_##name(const PlanTarget& target, const Operand& a, const TensorView& out, \
                                     const ElementwiseOptions& options = {}) {                          \
    return plan_elementwise(target, Operation::name, {a}, out, options);                                \
  }
#define RELAYOUT_OF_TWO(name)                                                                         \
  /** out = the operation of this name on a and b. See relayout::Operation and elementwise(). */      \
  inline void name(const Stream& stream, const Operand& a, const Operand& b, const TensorView& out,   \
                   const ElementwiseOptions& options = {}) {                                          \
    elementwise(stream, Operation::name, {a, b}, out, options);                                       \
  }                                                                                                   \
  /** Plans the operation of this name on a and b. See plan_elementwise(). */                         \
  inline ElementwisePlan plan_##name(const PlanTarget& target, const Operand& a, const Operand& b,    \
                                     const TensorView& out, const ElementwiseOptions& options = {}) { \
    return plan_elementwise(target, Operation::name, {a, b}, out, options);                           \
  }
#define RELAYOUT_OF_THREE(name)                                                                     \
  /** out = the operation of this name on a, b and c. See relayout::Operation and elementwise(). */ \
  inline void name(const Stream& stream, const Operand& a, const Operand& b, const Operand& c,      \
                   const TensorView& out, const ElementwiseOptions& options = {}) {                 \
    elementwise(stream, Operation::name, {a, b, c}, out, options);                                  \
  }                                                                                                 \
  /** Plans the operation of this name on a, b and c. See plan_elementwise(). */                    \
  inline ElementwisePlan plan_##name(const PlanTarget& target, const Operand& a, const Operand& b,  \
                                     const Operand& c, const TensorView& out,                       \
                                     const ElementwiseOptions& options = {}) {                      \
    return plan_elementwise(target, Operation::name, {a, b, c}, out, options);                      \
  }

RELAYOUT_OF_TWO(add)
RELAYOUT_OF_TWO(sub)
RELAYOUT_OF_TWO(mul)
RELAYOUT_OF_TWO(div)
RELAYOUT_OF_TWO(truediv)
RELAYOUT_OF_TWO(div_trunc)
RELAYOUT_OF_TWO(div_floor)
RELAYOUT_OF_TWO(mod)
RELAYOUT_OF_TWO(fmod)
RELAYOUT_OF_TWO(pow)
RELAYOUT_OF_TWO(maximum)
RELAYOUT_OF_TWO(minimum)
RELAYOUT_OF_TWO(fmax)
RELAYOUT_OF_TWO(fmin)
RELAYOUT_OF_TWO(prelu)
RELAYOUT_OF_TWO(abs_diff)
RELAYOUT_OF_TWO(squared_diff)
RELAYOUT_OF_TWO(hypot)
RELAYOUT_OF_TWO(atan2)
RELAYOUT_OF_TWO(copysign)
RELAYOUT_OF_TWO(bit_and)
RELAYOUT_OF_TWO(bit_or)
RELAYOUT_OF_TWO(bit_xor)
RELAYOUT_OF_TWO(shift_left)
RELAYOUT_OF_TWO(shift_right)
RELAYOUT_OF_TWO(equal)
RELAYOUT_OF_TWO(not_equal)
RELAYOUT_OF_TWO(less)
RELAYOUT_OF_TWO(less_equal)
RELAYOUT_OF_TWO(greater)
RELAYOUT_OF_TWO(greater_equal)
RELAYOUT_OF_TWO(isclose)
RELAYOUT_OF_TWO(logical_and)
RELAYOUT_OF_TWO(logical_or)
RELAYOUT_OF_TWO(logical_xor)

RELAYOUT_OF_THREE(where)
RELAYOUT_OF_THREE(clip)
RELAYOUT_OF_THREE(lerp)

RELAYOUT_OF_ONE(neg)
RELAYOUT_OF_ONE(abs)
RELAYOUT_OF_ONE(sign)
RELAYOUT_OF_ONE(relu)
RELAYOUT_OF_ONE(square)
RELAYOUT_OF_ONE(step)
RELAYOUT_OF_ONE(floor)
RELAYOUT_OF_ONE(ceil)
RELAYOUT_OF_ONE(trunc)
RELAYOUT_OF_ONE(round)
RELAYOUT_OF_ONE(bit_not)
RELAYOUT_OF_ONE(logical_not)
RELAYOUT_OF_ONE(isnan)
RELAYOUT_OF_ONE(isinf)
RELAYOUT_OF_ONE(isfinite)
RELAYOUT_OF_ONE(sqrt)
RELAYOUT_OF_ONE(rsqrt)
RELAYOUT_OF_ONE(reciprocal)
RELAYOUT_OF_ONE(exp)
RELAYOUT_OF_ONE(exp2)
RELAYOUT_OF_ONE(expm1)
RELAYOUT_OF_ONE(log)
RELAYOUT_OF_ONE(log2)
RELAYOUT_OF_ONE(log1p)
RELAYOUT_OF_ONE(sin)
RELAYOUT_OF_ONE(cos)
RELAYOUT_OF_ONE(tan)
RELAYOUT_OF_ONE(sinh)
RELAYOUT_OF_ONE(cosh)
RELAYOUT_OF_ONE(tanh)
RELAYOUT_OF_ONE(asin)
RELAYOUT_OF_ONE(acos)
RELAYOUT_OF_ONE(atan)
RELAYOUT_OF_ONE(erf)
RELAYOUT_OF_ONE(sigmoid)
RELAYOUT_OF_ONE(silu)
RELAYOUT_OF_ONE(gelu)
RELAYOUT_OF_ONE(gelu_tanh)
RELAYOUT_OF_ONE(softplus)
RELAYOUT_OF_ONE(elu)
RELAYOUT_OF_ONE(hardswish)
RELAYOUT_OF_ONE(hardsigmoid)

#undef RELAYOUT_OF_ONE
#undef RELAYOUT_OF_TWO
#undef RELAYOUT_OF_THREE

/// out = x > 0 ? x : alpha * x, which is prelu with a constant.
inline void leaky_relu(const Stream& stream, const Operand& x, double alpha, const TensorView& out,
                       const ElementwiseOptions& options = {}) {
  prelu(stream, x, alpha, out, options);
}
/// Plans leaky_relu().
inline ElementwisePlan plan_leaky_relu(const PlanTarget& target, const Operand& x, double alpha,
                                       const TensorView& out, const ElementwiseOptions& options = {}) {
  return plan_prelu(target, x, alpha, out, options);
}

}  // namespace relayout
