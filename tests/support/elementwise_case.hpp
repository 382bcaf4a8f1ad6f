// One element-wise call on one device against the oracle on operands that plain loops have expanded: every
// element bit for bit (NaNs are equal), no byte written outside the output, no operand changed.
#pragma once

#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <variant>
#include <vector>

#include "host/reference/arithmetic.hpp"
#include "tests/support/arithmetic_inputs.hpp"
#include "tests/support/guarded_buffer.hpp"

namespace relayout::test {

/// No strides: contiguous. `misaligned` elements lie before the first byte.
struct TensorSpec {
  DType type = DType::f32;
  Dims shape, strides;
  std::int64_t misaligned = 0;
};
using OperandSpec = std::variant<TensorSpec, Literal>;

/// Extremes, infinities and NaNs, or small whole numbers that are 1 or more.
enum class Values { interesting, small };

inline void fill_operand(const TensorView& view, Values values, std::uint64_t seed) {
  const std::vector<std::uint64_t> bits = interesting(view.dtype());
  std::uint64_t i = 0;
  for_each_element(view, [&](const Dims&, std::int64_t offset) {
    const std::uint64_t pick = hash(i++, seed);
    const std::uint64_t small = reference::convert_bits(1 + pick % 7, DType::u64, view.dtype());
    store_bits(element_at(view, offset), view.dtype(),
               values == Values::small ? small : bits[pick % bits.size()]);
  });
}

/// A contiguous tensor on the host.
struct HostTensor {
  HostTensor(DType type, const Dims& shape)
      : bytes(static_cast<std::size_t>(TensorView(nullptr, type, shape).elements()) * size_of(type) + 1),
        view(bytes.data(), type, shape) {}
  HostTensor(const HostTensor&) = delete;
  HostTensor& operator=(const HostTensor&) = delete;

  std::vector<unsigned char> bytes;
  TensorView view;
};
using HostTensors = std::vector<std::unique_ptr<HostTensor>>;

/// The operand's elements over the whole shape: axes of extent 1 and missing ones are repeated, or (repeat)
/// every axis modulo the operand's extent.
inline std::unique_ptr<HostTensor> expanded(const TensorView& view, const Dims& shape, Broadcasting how) {
  auto whole = std::make_unique<HostTensor>(view.dtype(), shape);
  const std::size_t missing = shape.size() - view.shape().size();
  reference::for_each_index(shape, [&](const Dims& index) {
    Dims from(view.shape().size());
    for (std::size_t k = 0; k < from.size(); ++k) {
      const std::int64_t extent = view.shape()[k], at = index[missing + k];
      from[k] = how == Broadcasting::repeat ? at % extent : extent == 1 ? 0 : at;
    }
    reference::store_bits(whole->view, index, reference::load_bits(view, from));
  });
  return whole;
}

inline std::unique_ptr<HostTensor> expanded(const Literal& literal, DType common, const Dims& shape) {
  auto whole = std::make_unique<HostTensor>(common, shape);
  const bool floating = literal.kind() == Literal::Kind::floating;
  const std::uint64_t magnitude = literal.magnitude();
  const std::uint64_t bits =
      floating
          ? reference::convert_bits(detail::bit_cast<std::uint64_t>(literal.floating()), DType::f64, common)
          : reference::convert_bits(literal.is_negative() ? 0 - magnitude : magnitude, DType::i64, common);
  reference::for_each_index(shape,
                            [&](const Dims& index) { reference::store_bits(whole->view, index, bits); });
  return whole;
}

/// What the operations give one after the other, each result a tensor of its own.
inline void expect_elements(const std::vector<Operation>& operations, const HostTensors& operands,
                            DType common, const TensorView& out, const ElementwiseOptions& options) {
  HostTensors between;
  std::size_t next = 0;
  for (std::size_t step = 0; step < operations.size(); ++step) {
    const Operation operation = operations[step];
    std::vector<TensorView> taken;
    if (step > 0) taken.push_back(between.back()->view);
    while (static_cast<int>(taken.size()) < operands_of(operation)) taken.push_back(operands[next++]->view);
    const bool last = step + 1 == operations.size();
    if (!last)
      between.push_back(std::make_unique<HostTensor>(reference::result_type(operation, common), out.shape()));
    reference::elementwise(operation, taken, common, last ? out : between.back()->view, {}, options.rounding);
  }
}

struct ElementwiseCase {
  std::vector<Operation> operations;
  std::vector<OperandSpec> operands;
  TensorSpec out;
  DType common = DType::f32;
  ElementwiseOptions options = {};
  Values values = Values::interesting;
};

/// The operands of a case on a device, and what the output must be.
class ElementwiseTensors {
 public:
  ElementwiseTensors(const Stream& stream, const ElementwiseCase& c, std::uint64_t seed = 1)
      : c_(c), out_(stream, Role::output, c.out.type, c.out.shape, c.out.strides, c.out.misaligned) {
    for (const OperandSpec& operand : c.operands) {
      if (const Literal* literal = std::get_if<Literal>(&operand)) {
        views_.emplace_back(*literal);
        continue;
      }
      const TensorSpec& spec = std::get<TensorSpec>(operand);
      inputs_.push_back(std::make_unique<GuardedBuffer>(stream, Role::input, spec.type, spec.shape,
                                                        spec.strides, spec.misaligned));
      views_.emplace_back(inputs_.back()->device());
    }
    refill(seed);
  }

  void refill(std::uint64_t seed) const {
    for (const auto& input : inputs_) {
      fill_operand(input->host(), c_.values, seed++);
      input->upload();
    }
  }
  const std::vector<Operand>& operands() const { return views_; }
  const TensorView& out() const { return out_.device(); }
  std::vector<const void*> inputs() const {
    std::vector<const void*> pointers;
    for (const auto& input : inputs_) pointers.push_back(input->device().data());
    return pointers;
  }

  void expect_right() const {
    HostTensors whole;
    std::size_t tensor = 0;
    for (const OperandSpec& operand : c_.operands) {
      if (const Literal* literal = std::get_if<Literal>(&operand)) {
        whole.push_back(expanded(*literal, c_.common, c_.out.shape));
      } else {
        whole.push_back(expanded(inputs_[tensor++]->host(), c_.out.shape, c_.options.broadcasting));
      }
    }
    expect_elements(c_.operations, whole, c_.common, out_.host(), c_.options);
    EXPECT_TRUE(out_.check());
    for (const auto& input : inputs_) EXPECT_TRUE(input->check());
  }

 private:
  const ElementwiseCase& c_;
  std::vector<std::unique_ptr<GuardedBuffer>> inputs_;
  std::vector<Operand> views_;
  GuardedBuffer out_;
};

inline std::string to_string(const ElementwiseCase& c) {
  std::string text;
  for (const Operation operation : c.operations) text += std::string(name_of(operation)) + " ";
  const auto add = [&](const TensorSpec& spec) {
    const Dims strides = spec.strides.empty() ? contiguous_strides(spec.shape) : spec.strides;
    text += TensorView(nullptr, spec.type, spec.shape, strides).to_string();
    if (spec.misaligned != 0) text += " misaligned by " + std::to_string(spec.misaligned);
  };
  for (const OperandSpec& operand : c.operands) {
    if (const TensorSpec* spec = std::get_if<TensorSpec>(&operand)) {
      add(*spec);
    } else {
      text += "a constant";
    }
    text += ", ";
  }
  text += "to ";
  add(c.out);
  return text;
}

inline void check(const Stream& stream, const ElementwiseCase& c) {
  SCOPED_TRACE(to_string(c));
  const ElementwiseTensors tensors(stream, c);
  if (c.operations.size() == 1) {
    EXPECT_NO_THROW(elementwise(stream, c.operations[0], tensors.operands(), tensors.out(), c.options));
  } else {
    EXPECT_NO_THROW(chain(stream, c.operations, tensors.operands(), tensors.out(), c.options));
  }
  tensors.expect_right();
}

}  // namespace relayout::test
