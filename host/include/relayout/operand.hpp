// What element-wise operations read and write: tensors, constants, and 8-bit codes that stand for numbers.
#pragma once

#include <optional>
#include <type_traits>
#include <variant>

#include <relayout/promotion.hpp>
#include <relayout/tensor_view.hpp>

namespace relayout {

/// Codes of i8 or u8, of any strides: code q stands for scale * (q - zero), an f32. The scale is a finite
/// number above 0, the zero point a number that the codes' type has; either may be a tensor that broadcasts
/// to the codes' shape: of f32, or of the codes' type. A tensor [channels, 1, 1] gives each channel of codes
/// [batch, channels, height, width] its own. Scales in device memory are not looked at: results of one that
/// is not finite and above 0 mean nothing.
struct QuantizedTensor {
  TensorView codes;
  std::variant<float, TensorView> scale = 1.0f;
  std::variant<int, TensorView> zero = 0;
};

/// A tensor of any strides, 0 and negative ones too; codes; or a constant.
class Operand {
 public:
  Operand(const TensorView& tensor) : tensor_(tensor) {}
  Operand(const QuantizedTensor& tensor) : tensor_(tensor.codes), quantized_(tensor) {}
  Operand(const Literal& literal) : literal_(literal) {}
  template <class T, class = std::enable_if_t<std::is_arithmetic_v<T>>>
  Operand(T value) : literal_(Literal(value)) {}

  bool is_literal() const noexcept { return literal_.has_value(); }
  const Literal& literal() const { return literal_.value(); }
  /// The tensor, or the codes.
  const TensorView& tensor() const noexcept { return tensor_; }
  /// Null of anything but codes.
  const QuantizedTensor* quantized() const noexcept { return quantized_ ? &*quantized_ : nullptr; }

 private:
  TensorView tensor_;
  std::optional<QuantizedTensor> quantized_;
  std::optional<Literal> literal_;
};

/// A tensor, or codes.
class Output {
 public:
  Output(const TensorView& tensor) : tensor_(tensor) {}
  Output(const QuantizedTensor& tensor) : tensor_(tensor.codes), quantized_(tensor) {}

  const TensorView& tensor() const noexcept { return tensor_; }
  const QuantizedTensor* quantized() const noexcept { return quantized_ ? &*quantized_ : nullptr; }

 private:
  TensorView tensor_;
  std::optional<QuantizedTensor> quantized_;
};

}  // namespace relayout
