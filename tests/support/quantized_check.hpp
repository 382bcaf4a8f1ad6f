// One operation on quantised tensors against the oracle.
#pragma once

#include <sstream>
#include <string>
#include <variant>
#include <vector>

#include "tests/support/quantized_tensors.hpp"

namespace relayout::test {

/// Codes, a tensor of f32, or a constant.
using CheckedOperand = std::variant<const CodesTensor*, const GuardedBuffer*, float>;

inline QuantizedOperand device_operand(const CheckedOperand& operand) {
  if (const auto* codes = std::get_if<const CodesTensor*>(&operand)) return (*codes)->quantized();
  if (const auto* tensor = std::get_if<const GuardedBuffer*>(&operand)) return (*tensor)->device();
  return std::get<float>(operand);
}

inline std::vector<QuantizedOperand> device_operands(const std::vector<CheckedOperand>& operands) {
  std::vector<QuantizedOperand> device;
  for (const CheckedOperand& operand : operands) device.push_back(device_operand(operand));
  return device;
}

/// The f32 at an index of the output's shape.
inline std::uint64_t number_bits(const CheckedOperand& operand, const Dims& index) {
  if (const auto* codes = std::get_if<const CodesTensor*>(&operand))
    return reference::dequantize((*codes)->number(index));
  if (const auto* tensor = std::get_if<const GuardedBuffer*>(&operand)) {
    const TensorView& view = (*tensor)->host();
    return load_bits(element_at(view, offset_within(view, index)), DType::f32);
  }
  return detail::bit_cast<std::uint32_t>(std::get<float>(operand));
}

/// The bits of the operation's f32 or bool.
inline std::uint64_t result_bits(Operation operation, const std::vector<CheckedOperand>& operands,
                                 const Dims& index) {
  std::uint64_t bits[3] = {};
  for (std::size_t i = 0; i < operands.size(); ++i) bits[i] = number_bits(operands[i], index);
  if (operation == Operation::where) bits[0] = reference::truth(DType::f32, bits[0]);
  return reference::apply(operation, DType::f32, bits[0], bits[1], bits[2]);
}

inline void expect_inputs_kept(const std::vector<CheckedOperand>& operands) {
  for (const CheckedOperand& operand : operands) {
    if (const auto* codes = std::get_if<const CodesTensor*>(&operand)) {
      EXPECT_TRUE((*codes)->codes().check());
      EXPECT_TRUE((*codes)->check_inputs());
    } else if (const auto* tensor = std::get_if<const GuardedBuffer*>(&operand)) {
      EXPECT_TRUE((*tensor)->check());
    }
  }
}

/// An operation's f32, and the lowest and the highest right result.
struct Quotient {
  std::uint64_t bits;
  std::uint64_t low = bits, high = bits;
};

/// The first codes that are wrong. near_ties: of an operation, whose quotient by the scale may be off a
/// little; conversions are exact. result(index): the f32 that is quantised.
template <class Result>
std::string wrong_codes(const CodesTensor& out, bool near_ties, const Result& result) {
  const std::vector<unsigned char> bytes = out.codes().download();
  const TensorView got = out.codes().view_of(bytes);
  std::ostringstream text;
  int count = 0;
  for_each_element(got, [&](const Dims& index, std::int64_t) {
    const reference::QuantizedNumber is = out.number(got, index);
    const Quotient of = result(index);
    const auto code_of = [&](std::uint64_t bits) {
      const std::uint64_t code = reference::quantize(bits, is.scale, is.zero, out.is_unsigned());
      return out.is_unsigned() ? static_cast<int>(code & 0xff) : static_cast<signed char>(code);
    };
    const int expected = code_of(of.bits);
    const bool near = near_ties && agrees_near_tie(is.code, expected, of.bits, is.scale);
    if (near || (is.code >= code_of(of.low) && is.code <= code_of(of.high)) || count++ >= 3) return;
    text << "at " << to_string(index) << ": " << is.code << ", should be " << expected << " of "
         << describe(of.bits, DType::f32) << "; ";
  });
  if (count > 0) text << count << " in all";
  return text.str();
}

inline Quotient result_at(Operation operation, const std::vector<CheckedOperand>& operands,
                          const Dims& index) {
  Quotient result{result_bits(operation, operands, index)};
  if (reference::ulp_bound(operation, DType::f32) > 0 &&
      !std::isnan(reference::exact_value(DType::f32, result.bits))) {
    const auto right = reference::right_results(operation, DType::f32, result.bits);
    result.low = reference::bits_at(DType::f32, right.low);
    result.high = reference::bits_at(DType::f32, right.high);
  }
  return result;
}

/// The first f32 or bools that are wrong. result(index): bits.
template <class Result>
std::string wrong_numbers(Operation operation, const GuardedBuffer& out, const Result& result) {
  const std::vector<unsigned char> bytes = out.download();
  const TensorView got = out.view_of(bytes);
  std::ostringstream text;
  int count = 0;
  for_each_element(got, [&](const Dims& index, std::int64_t offset) {
    const std::uint64_t is = load_bits(element_at(got, offset), got.dtype()), should = result(index);
    if (reference::agrees(operation, DType::f32, is, should) || count++ >= 3) return;
    text << "at " << to_string(index) << ": " << describe(is, got.dtype()) << ", should be "
         << describe(should, got.dtype()) << "; ";
  });
  if (count > 0) text << count << " in all";
  return text.str();
}

inline void expect_codes(const Stream& stream, Operation operation,
                         const std::vector<CheckedOperand>& operands, const CodesTensor& out) {
  SCOPED_TRACE(name_of(operation));
  quantized(stream, operation, device_operands(operands), out.quantized());
  const auto result = [&](const Dims& index) { return result_at(operation, operands, index); };
  EXPECT_EQ(wrong_codes(out, true, result), "");
  EXPECT_TRUE(out.codes().check_outside());
  EXPECT_TRUE(out.check_inputs());
  expect_inputs_kept(operands);
}

/// Checks a result that is a tensor of f32 or bool.
inline void expect_numbers(const Stream& stream, Operation operation,
                           const std::vector<CheckedOperand>& operands, GuardedBuffer& out) {
  SCOPED_TRACE(name_of(operation));
  quantized(stream, operation, device_operands(operands), out.device());
  const auto result = [&](const Dims& index) { return result_bits(operation, operands, index); };
  EXPECT_EQ(wrong_numbers(operation, out, result), "");
  EXPECT_TRUE(out.check_outside());
  expect_inputs_kept(operands);
}

}  // namespace relayout::test
