// What element-wise operations read and write: tensors, constants, and 8-bit codes that stand for numbers.
#pragma once

#include <optional>
#include <type_traits>
#include <variant>

#include <relayout/error.hpp>
#include <relayout/promotion.hpp>
#include <relayout/tensor_view.hpp>

namespace relayout {

/// Codes of i8 or u8, of any strides: code q stands for scale * (q - zero), an f32. The scale is a finite
/// number above 0, and the zero point is a number that the codes' type has. Each of them is one number, or a
/// tensor that broadcasts to the codes' shape: scales are a tensor of f32, zero points one of the codes'
/// type. A tensor [channels, 1, 1] gives each channel of codes [batch, channels, height, width] its own.
/// Tensors of scales are not checked: where one is not finite and above 0, the results mean nothing.
struct QuantizedTensor {
  TensorView codes;                              ///< the codes, of i8 or u8
  std::variant<float, TensorView> scale = 1.0f;  ///< one scale, or a tensor of them
  std::variant<int, TensorView> zero = 0;        ///< one zero point, or a tensor of them
};

/// A tensor of any strides, 0 and negative ones too; codes; or a constant.
class Operand {
 public:
  /// A tensor.
  Operand(const TensorView& tensor) : tensor_(tensor) {}
  /// Codes.
  Operand(const QuantizedTensor& tensor) : tensor_(tensor.codes), quantized_(tensor) {}
  /// A constant.
  Operand(const Literal& literal) : literal_(literal) {}
  /// A constant, of any C++ number.
  template <class T, class = std::enable_if_t<std::is_arithmetic_v<T>>>
  Operand(T value) : literal_(Literal(value)) {}

  /// Whether it is a constant.
  bool is_literal() const noexcept { return literal_.has_value(); }
  /// The constant. Throws Error{invalid_argument} where it is none.
  const Literal& literal() const {
    if (!literal_) throw Error(ErrorCode::invalid_argument, "This operand is a tensor and no constant.");
    return *literal_;
  }
  /// The tensor, or the codes.
  const TensorView& tensor() const noexcept { return tensor_; }
  /// The codes with scale and zero point; null for anything else.
  const QuantizedTensor* quantized() const noexcept { return quantized_ ? &*quantized_ : nullptr; }

 private:
  TensorView tensor_;
  std::optional<QuantizedTensor> quantized_;
  std::optional<Literal> literal_;
};

/// A tensor, or codes.
class Output {
 public:
  /// A tensor.
  Output(const TensorView& tensor) : tensor_(tensor) {}
  /// Codes.
  Output(const QuantizedTensor& tensor) : tensor_(tensor.codes), quantized_(tensor) {}

  /// The tensor, or the codes.
  const TensorView& tensor() const noexcept { return tensor_; }
  /// The codes with scale and zero point; null for a tensor.
  const QuantizedTensor* quantized() const noexcept { return quantized_ ? &*quantized_ : nullptr; }

 private:
  TensorView tensor_;
  std::optional<QuantizedTensor> quantized_;
};

}  // namespace relayout
