// A function for each element-wise operation, and fill:
//
//     add(stream, a, b, out);              // operands: tensors of any strides, codes, or constants
//     clip(stream, x, 0, 6, out);
//     plan_mul(device, x, 0.5, out).run(stream);
//
// Each is elementwise() or plan_elementwise() with the operation of its name: shapes, types and errors are
// theirs (relayout/elementwise.hpp), what it computes is said in relayout/operations.def.
#pragma once

#include <relayout/elementwise.hpp>
#include <relayout/fill.hpp>

namespace relayout {

#define RELAYOUT_OF_1(name)                                                                         \
  /** out = the operation of this name on a. See relayout::Operation and elementwise(). */          \
  inline void name(const Stream& stream, const Operand& a, const Output& out,                       \
                   const ElementwiseOptions& options = {}) {                                        \
    elementwise(stream, Operation::name, {a}, out, options);                                        \
  }                                                                                                 \
  /** Plans the operation of this name on a. See plan_elementwise(). */                             \
  inline ElementwisePlan plan_##name(const PlanTarget& target, const Operand& a, const Output& out, \
                                     const ElementwiseOptions& options = {}) {                      \
    return plan_elementwise(target, Operation::name, {a}, out, options);                            \
  }
#define RELAYOUT_OF_2(name)                                                                        \
  /** out = the operation of this name on a and b. See relayout::Operation and elementwise(). */   \
  inline void name(const Stream& stream, const Operand& a, const Operand& b, const Output& out,    \
                   const ElementwiseOptions& options = {}) {                                       \
    elementwise(stream, Operation::name, {a, b}, out, options);                                    \
  }                                                                                                \
  /** Plans the operation of this name on a and b. See plan_elementwise(). */                      \
  inline ElementwisePlan plan_##name(const PlanTarget& target, const Operand& a, const Operand& b, \
                                     const Output& out, const ElementwiseOptions& options = {}) {  \
    return plan_elementwise(target, Operation::name, {a, b}, out, options);                        \
  }
#define RELAYOUT_OF_3(name)                                                                         \
  /** out = the operation of this name on a, b and c. See relayout::Operation and elementwise(). */ \
  inline void name(const Stream& stream, const Operand& a, const Operand& b, const Operand& c,      \
                   const Output& out, const ElementwiseOptions& options = {}) {                     \
    elementwise(stream, Operation::name, {a, b, c}, out, options);                                  \
  }                                                                                                 \
  /** Plans the operation of this name on a, b and c. See plan_elementwise(). */                    \
  inline ElementwisePlan plan_##name(const PlanTarget& target, const Operand& a, const Operand& b,  \
                                     const Operand& c, const Output& out,                           \
                                     const ElementwiseOptions& options = {}) {                      \
    return plan_elementwise(target, Operation::name, {a, b, c}, out, options);                      \
  }

#define RELAYOUT_OPERATION(name, operands, kind, cost, meaning) RELAYOUT_OF_##operands(name)
#include <relayout/operations.def>

#undef RELAYOUT_OF_1
#undef RELAYOUT_OF_2
#undef RELAYOUT_OF_3

/// x > 0 ? x : alpha * x: prelu with a constant.
inline void leaky_relu(const Stream& stream, const Operand& x, double alpha, const Output& out,
                       const ElementwiseOptions& options = {}) {
  prelu(stream, x, alpha, out, options);
}
/// Plans leaky_relu().
inline ElementwisePlan plan_leaky_relu(const PlanTarget& target, const Operand& x, double alpha,
                                       const Output& out, const ElementwiseOptions& options = {}) {
  return plan_prelu(target, x, alpha, out, options);
}

}  // namespace relayout
