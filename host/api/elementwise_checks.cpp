#include "host/api/elementwise_checks.hpp"

#include <algorithm>
#include <utility>

#include "host/api/cast_rule.hpp"
#include "host/api/checks.hpp"
#include "host/api/codes.hpp"
#include "host/api/promotion_rules.hpp"
#include "relayout/error.hpp"

namespace relayout {
namespace {

using Kind = OperationKind;

int tensors_of(const ElementwiseCall& call) {
  const auto is_tensor = [](const Operand& operand) { return !operand.is_literal(); };
  return static_cast<int>(std::count_if(call.operands.begin(), call.operands.end(), is_tensor));
}

/// A tolerance below 0 or a NaN is a mistake: nothing would be close, or numbers of some sizes alone.
void check_tolerances(const ElementwiseCall& call) {
  const auto asks = [](const Step& step) { return step.operation == Operation::isclose; };
  if (std::none_of(call.steps.begin(), call.steps.end(), asks)) return;
  for (const auto& [name, value] : {std::pair{"rtol", call.options.rtol}, {"atol", call.options.atol}}) {
    if (!(value >= 0))
      fail(call.name, ErrorCode::invalid_argument,
           std::string(name) + " of isclose is " + shortest(value) + ", and must be 0 or more");
  }
}

}  // namespace

bool works_in_f32(const ElementwiseCall& call) {
  bool codes = call.in_f32;
  for_each_codes(call, [&](const QuantizedTensor&) { codes = true; });
  return codes;
}

void check_counts(const ElementwiseCall& call) {
  if (call.steps.size() > kMaxSteps || (call.steps.empty() && !call.converts))
    fail(call.name, ErrorCode::invalid_argument,
         "a chain has 1 to " + std::to_string(kMaxSteps) + " operations, not " +
             std::to_string(call.steps.size()));
  int wanted = 1;
  for (const Step& step : call.steps) {
    check_enumerator(call.name.c_str(), "an operation", step.operation,
                     static_cast<Operation>(kOperations - 1));
    wanted += operands_of(step.operation) - 1;
  }
  const auto given = static_cast<int>(call.operands.size());
  if (given != wanted)
    fail(call.name, ErrorCode::invalid_argument,
         "it takes " + std::to_string(wanted) + " operands, not " + std::to_string(given));
  int tensors = tensors_of(call);
  if (tensors == 0) fail(call.name, ErrorCode::invalid_argument, "one operand at least must be a tensor");
  for_each_codes(call, [&](const QuantizedTensor& codes) { tensors += number_tensors(codes); });
  if (tensors > kMaxTensors)
    fail(call.name, ErrorCode::invalid_argument,
         std::to_string(tensors) + " tensors are read, scales and zero points counted, and at most " +
             std::to_string(kMaxTensors) + " can be; split the chain");
}

void check_places(const ElementwiseCall& call) {
  for (std::size_t i = 0; i < call.steps.size(); ++i) {
    const Step& step = call.steps[i];
    if (step.running < 0 || step.running >= operands_of(step.operation) || (i == 0 && step.running != 0))
      fail(call.name, ErrorCode::invalid_argument,
           std::string(name_of(step.operation)) + " has no running value as operand " +
               std::to_string(step.running));
    const Kind kind = rule_of(step.operation).kind;
    const bool after_bool = i > 0 && gives_bool(rule_of(call.steps[i - 1].operation).kind);
    if ((kind == Kind::logical && call.steps.size() > 1) ||
        (after_bool && (kind != Kind::select || step.running != 0)))
      fail(call.name, ErrorCode::invalid_argument,
           std::string(name_of(step.operation)) + " cannot stand at this place of a chain");
  }
}

void check_operand_types(const ElementwiseCall& call, const ElementwiseTypes& types) {
  const bool alone = call.steps.size() == 1 && call.steps[0].operation == Operation::where;
  for (std::size_t i = 0; i < call.operands.size(); ++i) {
    if (call.operands[i].is_literal()) continue;
    const DType type = call.operands[i].tensor().dtype();
    const bool chosen = alone && !types.as_bool_value[i] && type != DType::b128;
    check_operand_type(chosen ? Kind::select : Kind::arithmetic, type, call.name);
  }
  for_each_codes(call, [&](const QuantizedTensor& codes) { check_code_types(call.name, codes); });
}

void check_beside_codes(const ElementwiseCall& call, DType common) {
  if (!works_in_f32(call)) return;
  if (common != DType::f32)
    fail(call.name, ErrorCode::dtype,
         std::string("codes stand for f32, and ") + name_of(common) + " is wider; cast it first");
  for (const Step& step : call.steps) {
    if (rule_of(step.operation).kind == Kind::logical)
      fail(call.name, ErrorCode::dtype,
           std::string(name_of(step.operation)) + " does not take codes; compare them with 0 first");
  }
}

void check_output_type(const ElementwiseCall& call, DType result) {
  const DType out = call.out.tensor().dtype();
  if (call.out.quantized() != nullptr) {
    if (result == DType::bool_) fail(call.name, ErrorCode::dtype, "the result is a bool, which has no scale");
    if (call.options.cast_out)
      fail(call.name, ErrorCode::dtype, "cast_out is for tensors, and the output is codes");
    return;
  }
  if (!call.options.cast_out) {
    if (out != result)
      fail(call.name, ErrorCode::dtype,
           std::string("the result is ") + name_of(result) + " and the output " + name_of(out) +
               "; give an output of that type, or set cast_out");
    return;
  }
  CopyPlanOptions options;
  options.cast = call.options.cast;
  check_cast_options(call.name.c_str(), result, out, options);
}

void check_options(const ElementwiseCall& call, DType common) {
  const ElementwiseOptions& options = call.options;
  const char* const name = call.name.c_str();
  check_enumerator(name, "the rounding", options.rounding, Rounding::up);
  check_enumerator(name, "the precision", options.precision, Precision::approximate);
  check_enumerator(name, "the broadcasting", options.broadcasting, Broadcasting::repeat);
  const auto takes = [&](std::initializer_list<Operation> those) {
    return std::all_of(call.steps.begin(), call.steps.end(), [&](const Step& step) {
      return std::find(those.begin(), those.end(), step.operation) != those.end();
    });
  };
  if (options.rounding != Rounding::nearest_even) {
    const std::string rounding = std::string("the rounding ") + name_of(options.rounding);
    if (options.rounding == Rounding::nearest_away)
      fail(call.name, ErrorCode::rounding_mode, rounding + " is for casts only");
    if (!is_floating(common) ||
        !takes({Operation::add, Operation::sub, Operation::mul, Operation::truediv, Operation::sqrt}))
      fail(call.name, ErrorCode::rounding_mode,
           rounding + " is for add, sub, mul, truediv and sqrt on floating types");
  }
  if (options.precision != Precision::accurate) {
    const bool taken = std::any_of(call.steps.begin(), call.steps.end(), [&](const Step& step) {
      return is_approximated(step.operation, Precision::approximate) &&
             (step.operation != Operation::sqrt || options.precision == Precision::approximate);
    });
    if (!taken || common != DType::f32 || options.rounding != Rounding::nearest_even)
      fail(call.name, ErrorCode::rounding_mode,
           options.precision == Precision::full
               ? "full precision is for truediv, tanh and exp on f32, rounded to nearest"
               : "approximate precision is for truediv, sqrt, tanh and exp on f32, rounded to nearest");
  }
  if (options.flush_to_zero &&
      (common != DType::f32 ||
       !takes({Operation::add, Operation::sub, Operation::mul, Operation::truediv, Operation::maximum,
               Operation::minimum, Operation::sqrt, Operation::rsqrt, Operation::exp2})))
    fail(call.name, ErrorCode::rounding_mode,
         "flush_to_zero is for add, sub, mul, truediv, maximum, minimum, sqrt, rsqrt and exp2 on f32");
  check_tolerances(call);
}

}  // namespace relayout
