// Quantised tensors on a device, with the numbers that the oracle needs for each element.
#pragma once

#include <memory>
#include <optional>

#include "host/reference/accuracy.hpp"
#include "host/reference/quantized.hpp"
#include "tests/support/guarded_buffer.hpp"
#include "tests/support/random.hpp"

#include <relayout/quantized.hpp>

namespace relayout::test {

/// The element at an index of a shape to which the view is broadcast.
inline std::int64_t offset_within(const TensorView& view, const Dims& index) {
  const std::size_t rank = view.shape().size(), missing = index.size() - rank;
  std::int64_t offset = 0;
  for (std::size_t axis = 0; axis < rank; ++axis) {
    if (view.shape()[axis] != 1) offset += index[missing + axis] * view.strides()[axis];
  }
  return offset;
}

/// Codes with their scales and zero points. `channels` are the shapes of the tensors of scales and zero
/// points, which broadcast to the codes'; without them `scale` and `zero` hold for all codes.
struct CodesCase {
  DType type = DType::i8;
  Dims shape;
  float scale = 0.05f;
  int zero = 0;
  std::optional<Dims> scale_channels = {}, zero_channels = {};
  Dims strides = {};
  std::int64_t misaligned = 0;
};

class CodesTensor {
 public:
  CodesTensor(const Stream& stream, Role role, const CodesCase& c, std::uint64_t seed = 1)
      : case_(c), codes_(stream, role, c.type, c.shape, c.strides, c.misaligned) {
    quantized_ = {codes_.device(), c.scale, c.zero};
    if (role == Role::input)
      fill([seed](std::int64_t i) { return static_cast<int>(hash(static_cast<std::uint64_t>(i), seed)); });
    if (c.scale_channels) {
      scales_ = std::make_unique<GuardedBuffer>(stream, Role::input, DType::f32, *c.scale_channels);
      std::int64_t number = 0;
      for_each_element(scales_->host(), [&](const Dims& index, std::int64_t) {
        store_value(scales_->host(), index, c.scale * (1.0 + 0.37 * static_cast<double>(number++ % 9)));
      });
      scales_->upload();
      quantized_.scale = scales_->device();
    }
    if (c.zero_channels) {
      zeros_ = std::make_unique<GuardedBuffer>(stream, Role::input, c.type, *c.zero_channels);
      std::int64_t number = 0;
      for_each_element(zeros_->host(), [&](const Dims&, std::int64_t offset) {
        *element_at(zeros_->host(), offset) = static_cast<unsigned char>(c.zero + 11 * (number++ % 7));
      });
      zeros_->upload();
      quantized_.zero = zeros_->device();
    }
  }

  /// code(i): the low 8 bits of element i in C order.
  template <class Code>
  void fill(const Code& code) {
    std::int64_t number = 0;
    for_each_element(codes_.host(), [&](const Dims&, std::int64_t offset) {
      *element_at(codes_.host(), offset) = static_cast<unsigned char>(code(number++));
    });
    codes_.upload();
  }

  const QuantizedTensor& quantized() const { return quantized_; }
  const GuardedBuffer& codes() const { return codes_; }
  bool is_unsigned() const { return case_.type == DType::u8; }

  /// The number at an index of a shape to which the codes broadcast; the code is one of `image`.
  reference::QuantizedNumber number(const TensorView& image, const Dims& index) const {
    reference::QuantizedNumber number{integer(image, index), case_.scale, case_.zero};
    if (scales_) {
      const TensorView& scales = scales_->host();
      number.scale = static_cast<float>(
          value_of(load_bits(element_at(scales, offset_within(scales, index)), DType::f32), DType::f32));
    }
    if (zeros_) number.zero = integer(zeros_->host(), index);
    return number;
  }
  reference::QuantizedNumber number(const Dims& index) const { return number(codes_.host(), index); }

  bool check_inputs() const { return (!scales_ || scales_->check()) && (!zeros_ || zeros_->check()); }

 private:
  int integer(const TensorView& view, const Dims& index) const {
    const unsigned char bits = *element_at(view, offset_within(view, index));
    return is_unsigned() ? bits : static_cast<signed char>(bits);
  }

  CodesCase case_;
  GuardedBuffer codes_;
  std::unique_ptr<GuardedBuffer> scales_, zeros_;
  QuantizedTensor quantized_;
};

/// Whether `got` is right for the f32 `result`, whose code is `expected`. A neighbouring code is right where
/// the quotient by the scale is within 2^-17 of itself from a tie.
inline bool agrees_near_tie(int got, int expected, std::uint64_t result, float scale) {
  if (got == expected) return true;
  if (got != expected + 1 && got != expected - 1) return false;
  const long double units = reference::exact_value(DType::f32, result) / scale;
  const long double tie = std::floor(units) + 0.5L;
  return std::fabs(units - tie) <= std::fabs(units) * 0x1p-17L;
}

}  // namespace relayout::test
