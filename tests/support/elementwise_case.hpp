// One element-wise call on one device against the oracle on operands that plain loops have expanded: every
// element bit for bit (NaNs are equal) or within its operation's bound, no byte written outside the output,
// no operand changed.
#pragma once

#include <gtest/gtest.h>

#include <memory>
#include <ostream>
#include <sstream>
#include <string>
#include <variant>
#include <vector>

#include "tests/cases/layout.hpp"
#include "tests/support/arithmetic_inputs.hpp"
#include "tests/support/elementwise_oracle.hpp"

namespace relayout::test {

/// No strides: contiguous. `misaligned` elements lie before the first byte.
struct TensorSpec {
  DType type = DType::f32;
  Dims shape, strides;
  std::int64_t misaligned = 0;
};
using OperandSpec = std::variant<TensorSpec, Literal>;

inline std::ostream& operator<<(std::ostream& out, const TensorSpec& spec) {
  return out << cases::describe(spec.type, spec.shape, spec.strides, spec.misaligned);
}

/// Extremes, infinities and NaNs; or small whole numbers from 1 on; or multiples of 1/2 from -8 to 8, many of
/// which are equal or ties (unsigned types: modulo 2^n).
enum class Values { interesting, small, halves };

inline void fill_operand(const TensorView& view, Values values, std::uint64_t seed) {
  const DType type = view.dtype();
  const std::vector<std::uint64_t> bits = interesting(type);
  std::uint64_t i = 0;
  for_each_element(view, [&](const Dims&, std::int64_t offset) {
    const std::uint64_t pick = hash(i++, seed);
    std::uint64_t element = bits[pick % bits.size()];
    if (values == Values::small) element = reference::convert_bits(1 + pick % 7, DType::u64, type);
    if (values == Values::halves && reference::has_fractions(type))
      element = reference::encode(DType::f32, static_cast<double>(pick % 33) / 2 - 8);
    if (values == Values::halves)
      element = reference::has_fractions(type) ? reference::convert_bits(element, DType::f32, type)
                                               : reference::convert_bits(pick % 17 - 8, DType::i64, type);
    store_bits(element_at(view, offset), type, element);
  });
}

struct ElementwiseCase {
  std::vector<Operation> operations;
  std::vector<OperandSpec> operands;
  TensorSpec out;
  DType common = DType::f32;
  ElementwiseOptions options = {};
  Values values = Values::interesting;
  int in_place = -1;     // the operand whose memory the output is; they differ in nothing but the type
  bool planned = false;  // by a plan that was made without memory
  std::vector<int> running = {};  // of each operation, which operand the running value is; none: the first

  std::vector<Step> steps() const {
    std::vector<Step> result(operations.begin(), operations.end());
    for (std::size_t i = 0; i < running.size(); ++i) result[i].running = running[i];
    return result;
  }
};

/// For each operand of a chain, whether only its truth counts.
inline std::vector<bool> truths_of(const std::vector<Step>& steps) {
  std::vector<bool> truths;
  for (std::size_t i = 0; i < steps.size(); ++i) {
    for (int k = 0; k < operands_of(steps[i].operation); ++k) {
      if (i == 0 || k != steps[i].running)
        truths.push_back(is_truth(steps[i].operation, static_cast<std::size_t>(k)));
    }
  }
  return truths;
}

/// The operands of a case on a device, and the expected output.
class ElementwiseTensors {
 public:
  ElementwiseTensors(const Stream& stream, const ElementwiseCase& c, std::uint64_t seed = 1)
      : c_(c),
        stream_(stream),
        out_(stream, Role::output, c.out.type, c.out.shape, c.out.strides, c.out.misaligned) {
    for (const OperandSpec& operand : c.operands) {
      const bool in_place = static_cast<int>(device_.size()) == c.in_place;
      if (const Literal* literal = std::get_if<Literal>(&operand)) {
        device_.emplace_back(*literal);
        host_.emplace_back();
        continue;
      }
      const TensorSpec& spec = std::get<TensorSpec>(operand);
      if (!in_place)
        inputs_.push_back(std::make_unique<GuardedBuffer>(stream, Role::input, spec.type, spec.shape,
                                                          spec.strides, spec.misaligned));
      const GuardedBuffer& buffer = in_place ? out_ : *inputs_.back();
      const auto read_as = [&](const TensorView& view) {
        return TensorView(view.data(), spec.type, view.shape(), view.strides());
      };
      device_.emplace_back(read_as(buffer.device()));
      host_.push_back(read_as(buffer.host()));
    }
    refill(seed);
  }

  void refill(std::uint64_t seed) {
    elements_.clear();
    const std::vector<bool> truths = truths_of(c_.steps());
    for (std::size_t i = 0; i < c_.operands.size(); ++i) {
      const bool truth = truths[i];
      if (const Literal* literal = std::get_if<Literal>(&c_.operands[i])) {
        const DType type = truth ? DType::bool_ : c_.common;
        const auto count = static_cast<std::size_t>(out_.host().elements());
        elements_.push_back({type, std::vector<std::uint64_t>(count, literal_bits(*literal, type))});
        continue;
      }
      fill_operand(host_[i], c_.values, seed++);
      elements_.push_back(expanded(host_[i], c_.out.shape, c_.options.broadcasting));
    }
    for (const auto& input : inputs_) input->upload();
    if (c_.in_place >= 0) out_.upload();
  }
  const std::vector<Operand>& operands() const { return device_; }
  const TensorView& out() const { return out_.device(); }
  std::vector<const void*> inputs() const {
    std::vector<const void*> pointers;
    for (const Operand& operand : device_) {
      if (!operand.is_literal()) pointers.push_back(operand.tensor().data());
    }
    return pointers;
  }

  void expect_right() const {
    const Results results = results_of(stream_, c_.steps(), elements_, c_.common, c_.options);
    const std::vector<unsigned char> bytes = out_.download();
    const TensorView view = out_.view_of(bytes);
    std::ostringstream wrong;
    std::size_t i = 0, count = 0;
    for_each_element(view, [&](const Dims& index, std::int64_t offset) {
      const std::uint64_t got = load_bits(element_at(view, offset), view.dtype());
      if (!is_right(results, i, got, view.dtype(), c_.options) && count++ < 3) {
        wrong << "at " << to_string(index) << " of";
        for (const Elements& operand : elements_) wrong << " " << describe(operand.bits[i], operand.type);
        wrong << ": " << describe(got, view.dtype()) << ", should be "
              << describe(results.elements.bits[i], results.elements.type) << "\n";
      }
      ++i;
    });
    if (count > 0) ADD_FAILURE() << count << " of " << i << " elements are wrong\n" << wrong.str();
    EXPECT_TRUE(out_.check_outside());
    for (const auto& input : inputs_) EXPECT_TRUE(input->check());
  }

 private:
  const ElementwiseCase& c_;
  Stream stream_;
  std::vector<std::unique_ptr<GuardedBuffer>> inputs_;
  std::vector<Operand> device_;
  std::vector<TensorView> host_;    // of tensors
  std::vector<Elements> elements_;  // over the output's shape, before the call
  GuardedBuffer out_;
};

inline std::string text_of(const Literal& literal) {
  std::ostringstream text;
  if (literal.kind() == Literal::Kind::floating) {
    text << literal.floating() << " (floating)";
  } else {
    text << (literal.is_negative() ? "-" : "") << literal.magnitude()
         << (literal.kind() == Literal::Kind::boolean ? " (bool)" : "");
  }
  return text.str();
}

inline std::ostream& operator<<(std::ostream& out, const ElementwiseCase& c) {
  const ElementwiseOptions& options = c.options;
  for (const Step& step : c.steps()) {
    out << name_of(step.operation) << " ";
    if (step.running != 0) out << "(running " << step.running << ") ";
  }
  for (const OperandSpec& operand : c.operands) {
    if (const TensorSpec* spec = std::get_if<TensorSpec>(&operand)) {
      out << *spec << ", ";
    } else {
      out << text_of(std::get<Literal>(operand)) << ", ";
    }
  }
  out << "to " << c.out << ", in " << relayout::name_of(c.common);
  if (c.in_place >= 0) out << ", over operand " << c.in_place;
  if (c.planned) out << ", planned";
  if (options.broadcasting == Broadcasting::repeat) out << ", repeated";
  if (options.rounding != Rounding::nearest_even) out << ", rounding " << name_of(options.rounding);
  if (options.flush_to_zero) out << ", flushing";
  if (options.cast.rounding) out << ", cast rounding " << name_of(*options.cast.rounding);
  if (!options.cast.saturate_fp8) out << ", not saturated";
  if (options.cast.integer_overflow == IntegerOverflow::saturate) out << ", saturated";
  if (c.operations.back() == Operation::isclose)
    out << ", rtol " << options.rtol << ", atol " << options.atol << (options.equal_nan ? ", NaN" : "");
  return out << ", values " << static_cast<int>(c.values);
}

inline void run(const Stream& stream, const ElementwiseCase& c, const ElementwiseTensors& tensors) {
  if (c.planned) {
    const auto nowhere = [](const TensorView& view) {
      return TensorView(nullptr, view.dtype(), view.shape(), view.strides());
    };
    std::vector<Operand> operands = tensors.operands();
    for (Operand& operand : operands) {
      if (!operand.is_literal()) operand = nowhere(operand.tensor());
    }
    plan_chain(stream.device(), c.steps(), operands, nowhere(tensors.out()), c.options)
        .run(stream, tensors.inputs(), tensors.out().data());
  } else if (c.operations.size() == 1) {
    elementwise(stream, c.operations[0], tensors.operands(), tensors.out(), c.options);
  } else {
    chain(stream, c.steps(), tensors.operands(), tensors.out(), c.options);
  }
}

inline void check(const Stream& stream, const ElementwiseCase& c, std::uint64_t seed = 1) {
  SCOPED_TRACE(::testing::Message() << c);
  const ElementwiseTensors tensors(stream, c, seed);
  EXPECT_NO_THROW(run(stream, c, tensors));
  tensors.expect_right();
}

}  // namespace relayout::test
