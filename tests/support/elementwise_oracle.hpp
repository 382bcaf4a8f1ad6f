// The result that an element-wise call must give: its operands over the whole shape, element by element in C
// order, then the operations one after the other.
#pragma once

#include <cmath>
#include <cstdint>
#include <memory>
#include <vector>

#include "host/reference/accuracy.hpp"
#include "host/reference/arithmetic.hpp"
#include "tests/support/guarded_buffer.hpp"

namespace relayout::test {

/// The elements of an operand or a result.
struct Elements {
  DType type = DType::f32;
  std::vector<std::uint64_t> bits;
};

/// The operand's elements over the whole shape: axes of extent 1 and missing ones are repeated, or (repeat)
/// every axis modulo the operand's extent.
inline Elements expanded(const TensorView& view, const Dims& shape, Broadcasting how) {
  Elements whole{view.dtype(), {}};
  const std::size_t missing = shape.size() - view.shape().size();
  Dims from(view.shape().size());
  reference::for_each_index(shape, [&](const Dims& index) {
    for (std::size_t k = 0; k < from.size(); ++k) {
      const std::int64_t extent = view.shape()[k], at = index[missing + k];
      from[k] = how == Broadcasting::repeat ? at % extent : extent == 1 ? 0 : at;
    }
    whole.bits.push_back(reference::load_bits(view, from));
  });
  return whole;
}

/// The constant as an element of `type`; as a bool, whether it is not 0.
inline std::uint64_t literal_bits(const Literal& literal, DType type) {
  if (literal.kind() == Literal::Kind::floating)
    return reference::convert_bits(detail::bit_cast<std::uint64_t>(literal.floating()), DType::f64, type);
  const std::uint64_t magnitude = literal.magnitude();
  return literal.is_negative() ? reference::convert_bits(0 - magnitude, DType::i64, type)
                               : reference::convert_bits(magnitude, DType::u64, type);
}

inline std::uint64_t flushed(std::uint64_t bits) {
  return (bits & 0x7f800000) == 0 ? bits & 0x80000000 : bits;
}

/// Whether only the truth of operand `which` counts.
inline bool is_truth(Operation operation, std::size_t which) {
  return reference::is_logical(operation) || (operation == Operation::where && which == 0);
}

/// The results of the last operation, and the data that tells how far they may be off.
struct Results {
  Operation operation = Operation::add;
  DType common = DType::f32;
  Elements elements;
  std::vector<bool> unknown;  // elements that depend on the sign of a NaN, which means nothing
  bool moved = false;         // a choice between elements of one type, which keep their bits
};

/// The device's own results in a chain, for operands that all have the type in which it works. An operation
/// of f16 or bf16 on its own may give another last bit, since it has functions that are exact to fewer.
inline Elements by_device(const Stream& stream, Operation operation, const std::vector<Elements>& operands,
                          const ElementwiseOptions& options) {
  std::vector<std::unique_ptr<GuardedBuffer>> inputs;
  std::vector<Operand> views;
  const Dims shape{static_cast<std::int64_t>(operands[0].bits.size())};
  for (const Elements& operand : operands) {
    inputs.push_back(std::make_unique<GuardedBuffer>(stream, Role::input, operand.type, shape));
    for (std::int64_t i = 0; i < shape[0]; ++i)
      reference::store_bits(inputs.back()->host(), {i}, operand.bits[static_cast<std::size_t>(i)]);
    inputs.back()->upload();
    views.emplace_back(inputs.back()->device());
  }
  const GuardedBuffer out(stream, Role::output, operands.back().type, shape);
  ElementwiseOptions plain;
  plain.flush_to_zero = options.flush_to_zero;
  views.emplace_back(Literal(1));
  chain(stream, {operation, Operation::mul}, views, out.device(), plain);
  const std::vector<unsigned char> bytes = out.download();
  return expanded(out.view_of(bytes), shape, Broadcasting::numpy);
}

/// One operation on operands that are bools where only the truth counts, else of the common type.
inline Elements by_oracle(Operation operation, const std::vector<Elements>& operands, DType common,
                          const ElementwiseOptions& options) {
  const reference::IsCloseTolerance tolerance{options.rtol, options.atol, options.equal_nan};
  Elements results{reference::result_type(operation, common), {}};
  for (std::size_t i = 0; i < operands[0].bits.size(); ++i) {
    std::uint64_t bits[3] = {};
    for (std::size_t k = 0; k < operands.size(); ++k)
      bits[k] = options.flush_to_zero ? flushed(operands[k].bits[i]) : operands[k].bits[i];
    const std::uint64_t result =
        reference::apply(operation, common, bits[0], bits[1], bits[2], tolerance, options.rounding);
    results.bits.push_back(options.flush_to_zero ? flushed(result) : result);
  }
  return results;
}

/// The elements as the operation takes operand `which`: as their truth or in the common type.
inline Elements taken_as(Operation operation, std::size_t which, const Elements& elements, DType common) {
  Elements taken{is_truth(operation, which) ? DType::bool_ : common, {}};
  for (const std::uint64_t bits : elements.bits)
    taken.bits.push_back(reference::convert_bits(bits, elements.type, taken.type));
  return taken;
}

/// The operations one after the other, each result rounded to the common type. Where more than one result
/// would be right, the next operation takes the one that the device gives.
inline Results results_of(const Stream& stream, const std::vector<Step>& steps,
                          const std::vector<Elements>& operands, DType common,
                          const ElementwiseOptions& options) {
  Results results;
  results.common = common;
  results.unknown.resize(operands[0].bits.size());
  results.moved = steps[0].operation == Operation::where && steps.size() == 1 && operands[1].type == common &&
                  operands[2].type == common;
  std::size_t next = 0;
  for (std::size_t step = 0; step < steps.size(); ++step) {
    const Operation operation = results.operation = steps[step].operation;
    std::vector<Elements> taken;
    for (int k = 0; k < operands_of(operation); ++k) {
      const bool running = step > 0 && k == steps[step].running;
      taken.push_back(taken_as(operation, static_cast<std::size_t>(k),
                               running ? results.elements : operands[next++], common));
    }
    if (operation == Operation::copysign) {
      for (std::size_t i = 0; i < results.unknown.size(); ++i)
        results.unknown[i] =
            results.unknown[i] || std::isnan(reference::exact_value(common, taken[1].bits[i]));
    }
    const bool last = step + 1 == steps.size();
    results.elements = last || reference::is_exact(operation, common) || taken[0].bits.empty()
                           ? by_oracle(operation, taken, common, options)
                           : by_device(stream, operation, taken, options);
  }
  return results;
}

/// NaNs count as equal, also for the types in which casts keep the sign of a NaN.
inline bool same_number(DType type, std::uint64_t a, std::uint64_t b) {
  return a == b || (reference::has_fractions(type) && std::isnan(reference::exact_value(type, a)) &&
                    std::isnan(reference::exact_value(type, b)));
}

/// Whether `got`, of type `out`, is result i or one within the bounds, cast.
inline bool is_right(const Results& results, std::size_t i, std::uint64_t got, DType out,
                     const ElementwiseOptions& options) {
  const DType type = results.elements.type;
  const std::uint64_t expected = results.elements.bits[i];
  const auto number = [&](std::uint64_t bits) {
    const std::uint64_t kept = options.flush_to_zero ? flushed(bits) : bits;
    return reference::convert_bits(kept, type, out, options.cast);
  };
  if (results.moved && out == type) return got == expected;
  if (results.unknown[i] || same_number(out, got, number(expected))) return true;
  if (type == DType::bool_ || reference::is_exact(results.operation, type)) return false;
  const long double right = reference::exact_value(type, expected);
  const bool zero_of_other_sign = right == 0 && got == number(expected ^ reference::encode(type, -0.0));
  if (zero_of_other_sign) return reference::may_swap_zeros(results.operation);
  if (std::isnan(right)) return false;
  const reference::RightResults between = reference::right_results(results.operation, type, expected);
  // NaN: infinity, cast to a type without it.
  const auto place = [&](std::int64_t at) {
    const long double cast = reference::exact_value(out, number(reference::bits_at(type, at)));
    return std::isnan(cast) ? std::copysign(std::numeric_limits<long double>::infinity(), at < 0 ? -1 : 1)
                            : cast;
  };
  const long double low = place(between.low), high = place(between.high);
  const long double is = reference::exact_value(out, got);
  if (out == DType::bool_) return is == low || is == high || (between.low < 0 && between.high > 0);
  if (options.flush_to_zero && out == DType::f32 && got != flushed(got)) return false;
  return std::isnan(is) ? std::isinf(low) || std::isinf(high) : is >= low && is <= high;
}

}  // namespace relayout::test
