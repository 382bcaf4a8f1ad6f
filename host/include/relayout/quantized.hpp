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

/// Codes of i8 or u8, of any strides. The scale is a finite number above 0, the zero point a number that the
/// codes' type has; either may be a tensor that broadcasts to the codes' shape: of f32, or of the codes'
/// type. A tensor [channels, 1, 1] gives each channel of codes [batch, channels, height, width] its own.
/// Scales in device memory are not looked at: results of one that is not finite and above 0 mean nothing.
struct QuantizedTensor {
  TensorView codes;
  std::variant<float, TensorView> scale = 1.0f;
  std::variant<int, TensorView> zero = 0;
};

/// Codes, a tensor of f32, or a constant.
class QuantizedOperand {
 public:
  QuantizedOperand(const QuantizedTensor& tensor) : value_(tensor) {}
  QuantizedOperand(const TensorView& tensor) : value_(tensor) {}
  template <class T, class = std::enable_if_t<std::is_arithmetic_v<T>>>
  QuantizedOperand(T constant) : value_(static_cast<float>(constant)) {}

  /// Null where the operand is another of the three.
  const QuantizedTensor* quantized() const noexcept { return std::get_if<QuantizedTensor>(&value_); }
  const TensorView* tensor() const noexcept { return std::get_if<TensorView>(&value_); }
  const float* constant() const noexcept { return std::get_if<float>(&value_); }

 private:
  std::variant<QuantizedTensor, TensorView, float> value_;
};

/// An operation that was checked and planned: immutable, cheap to copy, safe to use from several threads at
/// once.
class QuantizedPlan {
 public:
  struct State;
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
/// is rounded once: a = (q - zero) * scale of each operand, the operation, then
/// clamp(nearest_even(result / out.scale) + out.zero); NaN becomes the zero point. add, sub and mul of codes
/// may give the neighbouring code where result / out.scale lies within 2^-17 of itself from a tie. All
/// operations but those of integers and bools alone (bits, shifts, logical), isclose excluded too. To a
/// tensor of f32 goes the result itself; that of comparisons, isnan, isinf and isfinite to one of bool.
/// Operands broadcast by numpy's rules to the output's shape. Codes and f32 may be mixed; i8 and u8 too. out
/// may be the same memory as an operand of the same shape, strides and element size; else it shares no byte
/// with any operand, scale or zero point.
///
/// Errors, in the order of their checks: invalid_argument for the number of operands, where none is a tensor;
/// dtype; scale for one that is not finite and above 0; literal_range for a zero point that the codes' type
/// does not have; unsupported for more than 8 tensors of codes, f32, scales and zero points besides out;
/// shape; output_overlap, partial_overlap; null_pointer and invalid_argument (no multiple of the element
/// size) of views with elements.
void quantized(const Stream& stream, Operation operation, const std::vector<QuantizedOperand>& operands,
               const QuantizedTensor& out);
void quantized(const Stream& stream, Operation operation, const std::vector<QuantizedOperand>& operands,
               const TensorView& out);
QuantizedPlan plan_quantized(const PlanTarget& target, Operation operation,
                             const std::vector<QuantizedOperand>& operands, const QuantizedTensor& out);
QuantizedPlan plan_quantized(const PlanTarget& target, Operation operation,
                             const std::vector<QuantizedOperand>& operands, const TensorView& out);

/// codes = clamp(nearest_even(x / scale) + zero) of a tensor x of f32; NaN becomes the zero point. x
/// broadcasts. Errors: those of quantized.
void quantize(const Stream& stream, const TensorView& x, const QuantizedTensor& out);
/// out = (codes - zero) * scale, a tensor of f32. x broadcasts. Errors: those of quantized.
void dequantize(const Stream& stream, const QuantizedTensor& x, const TensorView& out);

}  // namespace relayout
