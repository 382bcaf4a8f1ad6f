// Element-wise operations on 8-bit affine codes: code q stands for scale * (q - zero point).
// docs/quantized.md has the formulas.
#pragma once

#include <memory>
#include <string>
#include <type_traits>
#include <variant>
#include <vector>

#include <relayout/copy_plan.hpp>
#include <relayout/operation.hpp>
#include <relayout/stream.hpp>
#include <relayout/tensor_view.hpp>

namespace relayout {

/// A tensor of 8-bit codes. The scale is a finite number above 0, and the zero point a number that the codes'
/// type has. Either may be a tensor that broadcasts to the codes' shape: a tensor [channels, 1, 1] gives each
/// channel of codes [batch, channels, height, width] its own. Scales in device memory are not checked: where
/// one is not finite and above 0, results mean nothing.
struct QuantizedTensor {
  TensorView codes;                              ///< i8 or u8, any strides
  std::variant<float, TensorView> scale = 1.0f;  ///< a number, or a tensor of f32
  std::variant<int, TensorView> zero = 0;        ///< a number, or a tensor of the codes' type
};

/// An operand: codes, a tensor of f32, or a constant.
class QuantizedOperand {
 public:
  /// Codes.
  QuantizedOperand(const QuantizedTensor& tensor) : value_(tensor) {}
  /// A tensor of f32.
  QuantizedOperand(const TensorView& tensor) : value_(tensor) {}
  /// A constant, as f32.
  template <class T, class = std::enable_if_t<std::is_arithmetic_v<T>>>
  QuantizedOperand(T constant) : value_(static_cast<float>(constant)) {}

  /// The codes; null for the other two kinds.
  const QuantizedTensor* quantized() const noexcept { return std::get_if<QuantizedTensor>(&value_); }
  /// The tensor of f32; null for the other two kinds.
  const TensorView* tensor() const noexcept { return std::get_if<TensorView>(&value_); }
  /// The constant; null for the other two kinds.
  const float* constant() const noexcept { return std::get_if<float>(&value_); }

 private:
  std::variant<QuantizedTensor, TensorView, float> value_;
};

/// An operation that was checked and planned: immutable, cheap to copy, safe to use from several threads at
/// once.
class QuantizedPlan {
 public:
  struct State;  ///< the library's own
  /// For the library: users have plan_quantized().
  explicit QuantizedPlan(std::shared_ptr<const State> state) : state_(std::move(state)) {}

  /// Queues the operation on the planned memory: allocates nothing on the device, waits for nothing, can be
  /// recorded in a Graph. Errors: null_pointer and invalid_argument (no multiple of the element size) for the
  /// planned views; invalid_argument for a stream of another device; unsupported for a plan from
  /// DeviceProperties.
  void run(const Stream& stream) const;
  /// The plan in plain words, several lines: loop nest, kernel, vectors.
  std::string explain() const;

 private:
  std::shared_ptr<const State> state_;
};

/// out = operation(operands), element by element, on the numbers that the codes stand for, in f32. Each step
/// is rounded once: (q - zero) * scale for each operand, the operation, then
/// clamp(nearest_even(result / out.scale) + out.zero); NaN becomes the zero point. add, sub and mul of codes
/// may give the neighbouring code where result / out.scale lies within 2^-17 of itself from a tie. Every
/// operation is taken except isclose and those that are for integers and bools alone (bits, shifts, logical).
/// An out of f32 receives the result itself; comparisons, isnan, isinf and isfinite write to an out of bool.
/// Operands broadcast by numpy's rules to the output's shape. Codes and f32 may be mixed; i8 and u8 too. out
/// may be the same memory as an operand of the same shape, strides and element size; else it shares no byte
/// with any operand, scale or zero point.
///
/// Errors, in the order of their checks: invalid_argument for the number of operands, where none is a tensor;
/// dtype; scale for one that is not finite and above 0; literal_range for a zero point that the codes' type
/// does not have; unsupported for more than 8 tensors of codes, f32, scales and zero points besides out;
/// shape; output_overlap, partial_overlap; null_pointer and invalid_argument (no multiple of the element
/// size) for views with elements.
void quantized(const Stream& stream, Operation operation, const std::vector<QuantizedOperand>& operands,
               const QuantizedTensor& out);
/// The same to a tensor of f32 or bool.
void quantized(const Stream& stream, Operation operation, const std::vector<QuantizedOperand>& operands,
               const TensorView& out);
/// Checks and plans quantized() without running it.
QuantizedPlan plan_quantized(const PlanTarget& target, Operation operation,
                             const std::vector<QuantizedOperand>& operands, const QuantizedTensor& out);
/// The same to a tensor of f32 or bool.
QuantizedPlan plan_quantized(const PlanTarget& target, Operation operation,
                             const std::vector<QuantizedOperand>& operands, const TensorView& out);

/// codes = clamp(nearest_even(x / scale) + zero) for a tensor x of f32; NaN becomes the zero point. x
/// broadcasts. Errors: those of quantized.
void quantize(const Stream& stream, const TensorView& x, const QuantizedTensor& out);
/// out = (codes - zero) * scale, a tensor of f32. x broadcasts. Errors: those of quantized.
void dequantize(const Stream& stream, const QuantizedTensor& x, const TensorView& out);

}  // namespace relayout
