// Element-wise operations on 8-bit affine codes by their own names. They are those of
// relayout/elementwise.hpp, where an operand or the output is a QuantizedTensor. docs/quantized.md has the
// formulas.
#pragma once

#include <vector>

#include <relayout/elementwise.hpp>
#include <relayout/export.hpp>

namespace relayout {

/// An operand of a quantised operation: any Operand.
using QuantizedOperand = Operand;
/// The plan of a quantised operation.
using QuantizedPlan = ElementwisePlan;

/// elementwise() in f32, whatever the operands are: to codes, to f32, or to bool of comparisons, isnan, isinf
/// and isfinite. Errors: those of elementwise; and dtype for operations that are for integers and bools
/// alone.
RELAYOUT_API void quantized(const Stream& stream, Operation operation, const std::vector<Operand>& operands,
                            const Output& out);
/// Checks and plans quantized() without running it.
RELAYOUT_API QuantizedPlan plan_quantized(const PlanTarget& target, Operation operation,
                                          const std::vector<Operand>& operands, const Output& out);

/// codes = clamp(nearest_even(x / scale) + zero) of a tensor x of f32, f16, bf16 or integers; NaN becomes the
/// zero point. x broadcasts. Errors: those of elementwise.
RELAYOUT_API void quantize(const Stream& stream, const TensorView& x, const QuantizedTensor& out);
/// Checks and plans quantize() without running it.
RELAYOUT_API QuantizedPlan plan_quantize(const PlanTarget& target, const TensorView& x,
                                         const QuantizedTensor& out);
/// out = (codes - zero) * scale, a tensor of f32. x broadcasts. Errors: those of elementwise.
RELAYOUT_API void dequantize(const Stream& stream, const QuantizedTensor& x, const TensorView& out);
/// Checks and plans dequantize() without running it.
RELAYOUT_API QuantizedPlan plan_dequantize(const PlanTarget& target, const QuantizedTensor& x,
                                           const TensorView& out);

}  // namespace relayout
