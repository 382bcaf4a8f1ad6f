// Random element-wise operations and chains of them: types that mix, constants, shapes that are repeated, any
// layouts, roundings and casts of the result, in place, by plans.
#include "tests/fuzz/elementwise_cases.hpp"

#include <algorithm>
#include <limits>
#include <optional>

#include "core/elementwise_params.hpp"
#include "host/api/operation_rules.hpp"
#include "tests/fuzz/copy_cases.hpp"
#include "tests/fuzz/operand_shapes.hpp"

namespace relayout::fuzz {
namespace {

using test::ElementwiseCase;
using test::TensorSpec;
using Kind = OperationKind;
using Op = relayout::Operation;  // fuzz::Operation is one of the driver's
using Operations = std::vector<Op>;

constexpr DType kTypes[] = {DType::f32, DType::f16, DType::i32,  DType::u8,  DType::bf16,
                            DType::i8,  DType::f64, DType::i64,  DType::u16, DType::i16,
                            DType::u32, DType::u64, DType::bool_};

bool any_of_kind(const Operations& operations, Kind kind) {
  return std::any_of(operations.begin(), operations.end(),
                     [kind](Op operation) { return rule_of(operation).kind == kind; });
}

bool all_among(const Operations& operations, std::initializer_list<Op> those) {
  return std::all_of(operations.begin(), operations.end(), [&](Op operation) {
    return std::find(those.begin(), those.end(), operation) != those.end();
  });
}

bool takes_bits(const Operations& operations) {
  return any_of_kind(operations, Kind::bits) || any_of_kind(operations, Kind::shift);
}

bool refuses_bool(const Operations& operations) {
  return any_of_kind(operations, Kind::arithmetic) || any_of_kind(operations, Kind::shift);
}

/// The type of a first tensor.
DType draw_type(Draw& draw, const Operations& operations) {
  static constexpr DType kRestricted[] = {DType::e4m3fn, DType::e5m2, DType::tf32};
  const DType type = draw.pick(kTypes), restricted = draw.pick(kRestricted);
  const bool moved = draw.chance(32) && operations.size() == 1 && operations[0] == Op::where;
  if (moved) return restricted;
  if (takes_bits(operations) && is_floating(type)) return DType::u16;
  return type == DType::bool_ && refuses_bool(operations) ? DType::u8 : type;
}

/// The type of a further one: often the same.
DType draw_type_beside(Draw& draw, DType common) {
  const bool other = draw.chance(96);
  const DType type = draw.pick(kTypes);
  try {
    if (other) static_cast<void>(common_type(common, type));
  } catch (const Error&) {
    return common;
  }
  return other ? type : common;
}

/// A constant that goes with tensors of a type: a whole number where the type has no fractions.
Literal draw_literal(Draw& draw, DType tensors, bool fractions) {
  constexpr double kInfinity = std::numeric_limits<double>::infinity();
  static constexpr double kNumbers[] = {0.5, 0,     -2.5,  0.1,      6,         -0.0,
                                        1,   1e300, 3e-40, 65519.99, kInfinity, -kInfinity};
  static constexpr int kWholes[] = {2, 0, 1, 3, 7, 31, 64, 127, -1, -2, -128, -7};
  const int kind = draw.below(8), whole = draw.pick(kWholes);
  const double number = draw.pick(kNumbers);
  if (kind == 7) return Literal(whole > 0);
  if (fractions && kind >= (is_integral(tensors) || tensors == DType::bool_ ? 5 : 2)) return Literal(number);
  const int bits = 8 * static_cast<int>(size_of(tensors)) - (is_signed(tensors) ? 1 : 0);
  if (kind == 1 && is_integral(tensors)) return Literal(~std::uint64_t{0} >> (64 - bits));
  return Literal(is_unsigned(tensors) ? std::abs(whole) : whole);
}

/// Tensors, eight at most and one at least, and constants that all operations of the chain take.
void draw_operands(Draw& draw, ElementwiseCase& c, bool one_type) {
  int count = 1;
  for (const Op operation : c.operations) count += operands_of(operation) - 1;
  const std::vector<bool> truths = test::truths_of(c.steps());
  const int first = draw.below(count);
  const DType type = draw_type(draw, c.operations);
  std::optional<DType> common;
  int tensors = 0;
  std::vector<int> literals;
  for (int i = 0; i < count; ++i) {
    const bool literal = draw.chance(64) || tensors == (i < first ? kMaxTensors - 1 : kMaxTensors);
    const DType any = draw.pick(kTypes), beside = draw_type_beside(draw, common.value_or(type));
    TensorSpec spec;
    if (literal && i != first) {
      literals.push_back(i);
    } else if (++tensors; truths[static_cast<std::size_t>(i)]) {
      spec.type = any;
    } else {
      spec.type = !common || one_type || takes_bits(c.operations) ? type : beside;
      common = common ? common_type(*common, spec.type) : spec.type;
    }
    c.operands.emplace_back(spec);
  }
  c.common = common.value_or(DType::bool_);
  for (const int i : literals) {
    const bool truth = truths[static_cast<std::size_t>(i)];
    const Literal literal = draw_literal(draw, common.value_or(DType::bool_), !takes_bits(c.operations));
    c.operands[static_cast<std::size_t>(i)] = literal;
    if (!truth) c.common = common_type(c.common, literal);
  }
  if (c.common == DType::bool_ &&
      refuses_bool(c.operations)) {  // where tensors say nothing but what is chosen
    c.operands[static_cast<std::size_t>(literals.back())] = Literal(3);
    c.common = DType::i32;
  }
  const bool real = any_of_kind(c.operations, Kind::floating) || any_of_kind(c.operations, Kind::predicate);
  if (real && !is_floating(c.common)) c.common = DType::f32;
}

void draw_options(Draw& draw, ElementwiseCase& c, bool cast) {
  static constexpr Rounding kRoundings[] = {Rounding::toward_zero, Rounding::down, Rounding::up};
  static constexpr double kTolerances[] = {1e-5, 0, 0.5, 1, 2.5, 1e-2};
  ElementwiseOptions& options = c.options;
  const bool rounded = draw.chance(96), flushed = draw.chance(64);
  const Rounding rounding = draw.pick(kRoundings);
  if (rounded && is_floating(c.common) &&
      all_among(c.operations, {Op::add, Op::sub, Op::mul, Op::truediv, Op::sqrt}))
    options.rounding = rounding;
  options.flush_to_zero = flushed && c.common == DType::f32 &&
                          all_among(c.operations, {Op::add, Op::sub, Op::mul, Op::truediv, Op::maximum,
                                                   Op::minimum, Op::sqrt, Op::rsqrt, Op::exp2});
  if (c.operations.back() == Op::isclose) {
    options.rtol = draw.pick(kTolerances);
    options.atol = draw.pick(kTolerances);
    options.equal_nan = draw.chance(128);
  }
  const DType result = reference::result_type(c.operations.back(), c.common);
  options.cast_out = draw.chance(96) && cast;
  const DType to = static_cast<DType>(draw.below(static_cast<int>(DType::b128)));
  c.out.type = options.cast_out ? to : result;
  options.cast = draw_cast_options(draw, result, c.out.type);
  if (!options.cast_out) options.cast = {};
}

std::vector<TensorSpec*> tensors_of(ElementwiseCase& c) {
  std::vector<TensorSpec*> tensors;
  for (test::OperandSpec& operand : c.operands) {
    if (TensorSpec* spec = std::get_if<TensorSpec>(&operand)) tensors.push_back(spec);
  }
  return tensors;
}

}  // namespace

void draw_tensors(Draw& draw, ElementwiseCase& c, bool tidy) {
  const std::vector<TensorSpec*> tensors = tensors_of(c);
  const bool first_is_tensor = std::holds_alternative<TensorSpec>(c.operands[0]);
  const OperandShapes shapes =
      draw_shapes(draw, tidy, tensors.size(), c.options.broadcasting, first_is_tensor);
  const auto place = [&](TensorSpec& spec, const Dims& shape, bool input) {
    const Placed in_memory = draw_placed(draw, shape, input, tidy);
    spec.shape = shape;
    spec.strides = in_memory.strides;
    spec.misaligned = in_memory.misaligned;
  };
  place(c.out, shapes.shape, false);
  for (std::size_t t = 0; t < tensors.size(); ++t) place(*tensors[t], shapes.operands[t], true);
  const bool in_place = draw.chance(56);
  for (std::size_t i = 0; i < c.operands.size() && in_place; ++i) {
    TensorSpec* spec = std::get_if<TensorSpec>(&c.operands[i]);
    if (spec == nullptr || spec->shape != c.out.shape || size_of(spec->type) != size_of(c.out.type)) continue;
    spec->strides = c.out.strides;
    spec->misaligned = c.out.misaligned;
    c.in_place = static_cast<int>(i);
    break;
  }
}

namespace {

Trial trial_of_operations(Draw& draw, const Operations& operations, const std::vector<int>& running = {}) {
  static constexpr test::Values kValues[] = {test::Values::small, test::Values::interesting,
                                             test::Values::halves, test::Values::interesting};
  ElementwiseCase c;
  c.operations = operations;
  c.running = running;
  const bool tidy = draw.chance(96);  // what the fastest kernels take
  draw_operands(draw, c, tidy);
  draw_options(draw, c, !tidy);
  if (draw.chance(48)) c.options.broadcasting = Broadcasting::repeat;
  draw_tensors(draw, c, tidy);
  c.values = draw.pick(kValues);
  c.planned = draw.chance(48);
  const auto seed = static_cast<std::uint64_t>(draw.byte());
  return trial_of(c, [seed](const Stream& stream, const ElementwiseCase& elementwise) {
    test::check(stream, elementwise, seed);
  });
}

/// One of those that may stand at this place of a chain, where all work on numbers of any type, on integers'
/// bits too, or round as they are told.
Op draw_step(Draw& draw, int flavour, bool last) {
  static constexpr Op kRounded[] = {Op::add, Op::mul, Op::sub, Op::truediv, Op::sqrt};
  static constexpr Op kUsual[] = {Op::add, Op::mul, Op::relu, Op::clip, Op::sub, Op::where, Op::less};
  const auto fits = [&](Op operation) {
    switch (rule_of(operation).kind) {
      case Kind::arithmetic:
      case Kind::select:
        return true;
      case Kind::floating:
        return flavour < 2;
      case Kind::bits:
      case Kind::shift:
        return flavour == 2;
      case Kind::relational:
        return last || flavour < 2;
      case Kind::predicate:
        return last && flavour < 2;
      case Kind::logical:
        break;
    }
    return false;
  };
  const Op rounded = draw.pick(kRounded), usual = draw.pick(kUsual);
  const auto any = static_cast<Op>(draw.below(kOperations));
  if (flavour == 3) return rounded;
  const Op drawn = flavour == 0 ? usual : any;
  return fits(drawn) ? drawn : Op::mul;
}

}  // namespace

Trial decode_elementwise(Draw& draw) {
  return trial_of_operations(draw, {static_cast<Op>(draw.below(kOperations))});
}

Trial decode_chain(Draw& draw) {
  const int longest = draw.chance(64) ? kMaxSteps : 4;
  const int count = 2 + draw.below(longest - 1), flavour = draw.below(4);
  Operations operations;
  std::vector<int> running;
  for (int i = 0; i < count; ++i) {
    const Op step = draw_step(draw, flavour, i + 1 == count);
    const int place = draw.below(6);
    const bool chooses = i > 0 && gives_bool(rule_of(operations.back()).kind);
    operations.push_back(chooses ? Op::where : step);
    running.push_back(i > 0 && !chooses && place < operands_of(step) ? place : 0);
  }
  return trial_of_operations(draw, operations, running);
}

}  // namespace relayout::fuzz
