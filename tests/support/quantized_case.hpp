// One call on 8-bit codes, an operation or a conversion, against the oracle; also in place.
#pragma once

#include <memory>
#include <optional>
#include <ostream>
#include <variant>
#include <vector>

#include "tests/support/elementwise_case.hpp"
#include "tests/support/quantized_check.hpp"

namespace relayout::test {

struct QuantizedCase {
  std::optional<Operation> operation;  // none: quantize or dequantize
  std::vector<std::variant<CodesCase, TensorSpec, float>> operands;
  std::variant<CodesCase, TensorSpec> out;
  Values values = Values::interesting;  // of tensors of f32
  int in_place = -1;  // the operand whose memory the output is; of the same shape, strides and size
  bool planned = false;
};

inline std::ostream& operator<<(std::ostream& out, const CodesCase& c) {
  out << cases::describe(c.type, c.shape, c.strides, c.misaligned) << " scale " << c.scale;
  if (c.scale_channels) out << " of " << to_string(*c.scale_channels);
  out << " zero " << c.zero;
  if (c.zero_channels) out << " of " << to_string(*c.zero_channels);
  return out;
}

inline std::ostream& operator<<(std::ostream& out, const QuantizedCase& c) {
  const auto write = [&](const auto& operand) { out << operand << ", "; };
  out << (c.operation ? name_of(*c.operation) : "convert") << " ";
  for (const auto& operand : c.operands) std::visit(write, operand);
  out << "to ";
  std::visit(write, c.out);
  if (c.in_place >= 0) out << "over operand " << c.in_place << ", ";
  return out << (c.planned ? "planned, " : "") << "values " << static_cast<int>(c.values);
}

/// The operands and the output of a case on a device.
class QuantizedTensors {
 public:
  QuantizedTensors(const Stream& stream, const QuantizedCase& c, std::uint64_t seed) : c_(c) {
    if (const auto* codes = std::get_if<CodesCase>(&c.out))
      out_codes_ = std::make_unique<CodesTensor>(stream, Role::output, *codes);
    if (const auto* spec = std::get_if<TensorSpec>(&c.out)) out_ = buffer(stream, Role::output, *spec);
    for (std::size_t i = 0; i < c.operands.size(); ++i) add(stream, c.operands[i], seed + i);
    if (c.in_place >= 0) put_in_place(static_cast<std::size_t>(c.in_place));
  }

  void run(const Stream& stream) const {
    if (!c_.operation) {
      if (out_codes_) return quantize(stream, device_[0].tensor(), out_codes_->quantized());
      return dequantize(stream, *device_[0].quantized(), out_->device());
    }
    const auto call = [&](const auto& out) {
      if (c_.planned) return plan_quantized(stream.device(), *c_.operation, device_, out).run(stream);
      quantized(stream, *c_.operation, device_, out);
    };
    out_codes_ ? call(out_codes_->quantized()) : call(out_->device());
  }

  void expect_right() const {
    const auto result = [&](const Dims& index) {
      return c_.operation ? result_at(*c_.operation, checked_, index)
                          : Quotient{number_bits(checked_[0], index)};
    };
    const Operation operation = c_.operation.value_or(Operation::neg);
    if (out_codes_) {
      EXPECT_EQ(wrong_codes(*out_codes_, c_.operation.has_value(), result), "");
      EXPECT_TRUE(out_codes_->codes().check_outside());
      EXPECT_TRUE(out_codes_->check_inputs());
    } else {
      EXPECT_EQ(wrong_numbers(operation, *out_, [&](const Dims& index) { return result(index).bits; }), "");
      EXPECT_TRUE(out_->check_outside());
    }
    expect_inputs_kept(checked_);
  }

 private:
  static std::unique_ptr<GuardedBuffer> buffer(const Stream& stream, Role role, const TensorSpec& spec) {
    return std::make_unique<GuardedBuffer>(stream, role, spec.type, spec.shape, spec.strides,
                                           spec.misaligned);
  }

  void add(const Stream& stream, const std::variant<CodesCase, TensorSpec, float>& operand,
           std::uint64_t seed) {
    if (const auto* codes = std::get_if<CodesCase>(&operand)) {
      codes_.push_back(std::make_unique<CodesTensor>(stream, Role::input, *codes, seed));
      checked_.emplace_back(codes_.back().get());
    } else if (const auto* spec = std::get_if<TensorSpec>(&operand)) {
      tensors_.push_back(buffer(stream, Role::input, *spec));
      fill_operand(tensors_.back()->host(), c_.values, seed);
      tensors_.back()->upload();
      checked_.emplace_back(tensors_.back().get());
    } else {
      checked_.emplace_back(std::get<float>(operand));
    }
    device_.push_back(device_operand(checked_.back()));
  }

  /// The operand's elements are copied to the output, which takes its place on the device.
  void put_in_place(std::size_t operand) {
    const auto* codes = std::get_if<const CodesTensor*>(&checked_[operand]);
    const GuardedBuffer& from =
        codes != nullptr ? (*codes)->codes() : *std::get<const GuardedBuffer*>(checked_[operand]);
    const GuardedBuffer& to = out_codes_ ? out_codes_->codes() : *out_;
    for_each_element(to.host(), [&](const Dims& index, std::int64_t offset) {
      std::memcpy(element_at(to.host(), offset), element_at(from.host(), offset_of(from.host(), index)),
                  size_of(to.host().dtype()));
    });
    to.upload();
    const TensorView view(to.device().data(), from.host().dtype(), to.device().shape(),
                          to.device().strides());
    if (codes == nullptr) {
      device_[operand] = view;
    } else {
      QuantizedTensor moved = (*codes)->quantized();
      moved.codes = view;
      device_[operand] = moved;
    }
  }

  const QuantizedCase& c_;
  std::vector<std::unique_ptr<CodesTensor>> codes_;
  std::vector<std::unique_ptr<GuardedBuffer>> tensors_;
  std::vector<CheckedOperand> checked_;
  std::vector<QuantizedOperand> device_;
  std::unique_ptr<CodesTensor> out_codes_;
  std::unique_ptr<GuardedBuffer> out_;
};

inline void check(const Stream& stream, const QuantizedCase& c, std::uint64_t seed = 1) {
  SCOPED_TRACE(::testing::Message() << c);
  const QuantizedTensors tensors(stream, c, seed);
  EXPECT_NO_THROW(tensors.run(stream));
  tensors.expect_right();
}

}  // namespace relayout::test
