#include "host/api/elementwise_types.hpp"

#include <algorithm>

#include "core/bytes.hpp"
#include "host/api/codes.hpp"
#include "host/api/elementwise_checks.hpp"
#include "host/api/promotion_rules.hpp"
#include "host/plan/copy/cast_rule.hpp"
#include "relayout/error.hpp"

namespace relayout {
namespace {

using Kind = OperationKind;

/// The common type of the operands, without those that are only asked whether they are 0.
DType common_of(const ElementwiseCall& call, const ElementwiseTypes& types, bool equal) {
  Promotion promotion(call.name, equal);
  if (works_in_f32(call)) promotion.add(DType::f32);
  for (const bool literals : {false, true}) {
    for (std::size_t i = 0; i < call.operands.size(); ++i) {
      const Operand& operand = call.operands[i];
      if (types.as_bool_value[i] || operand.is_literal() != literals) continue;
      if (literals) promotion.add(operand.literal());
      if (!literals && operand.quantized() == nullptr) promotion.add(operand.tensor().dtype());
    }
  }
  return promotion.common();
}

ComputeClass class_of(DType common) {
  if (common == DType::f64) return ComputeClass::f64;
  if (is_floating(common)) return ComputeClass::f32;
  return size_of(common) == 8 ? ComputeClass::i64 : ComputeClass::i32;
}

/// The constant in the type that the common type is computed in: integers keep their bits, floats are
/// widened.
std::uint64_t constant_bits(const Literal& literal, DType common, bool raw) {
  std::uint64_t bits = 0;
  if (literal.kind() == Literal::Kind::floating) {
    bits = converted_bits(DType::f64, common, {}, detail::bit_cast<std::uint64_t>(literal.floating()));
  } else if (literal.is_negative()) {
    bits = converted_bits(DType::i64, common, {}, 0 - literal.magnitude());
  } else {
    bits = converted_bits(DType::u64, common, {}, literal.magnitude());
  }
  if (raw) return bits;
  if (common == DType::f16 || common == DType::bf16) return converted_bits(common, DType::f32, {}, bits);
  if (is_signed(common)) return converted_bits(common, DType::i64, {}, bits);
  return bits;
}

bool is_true(const Literal& literal) {
  return literal.kind() == Literal::Kind::floating ? literal.floating() != 0 : literal.magnitude() != 0;
}

/// Whether nothing is computed, so that elements keep their bits: a choice between operands of one type.
bool moves_bits(const ElementwiseCall& call, const ElementwiseTypes& types) {
  if (call.steps.size() != 1 || call.steps[0].operation != Operation::where || works_in_f32(call))
    return false;
  if (types.common == DType::bool_) return false;  // other bytes than 0 and 1 become 1
  for (std::size_t i = 1; i < call.operands.size(); ++i) {
    if (!call.operands[i].is_literal() && call.operands[i].tensor().dtype() != types.common) return false;
  }
  return true;
}

/// For each operand, whether only its truth counts.
std::vector<bool> truths_of(const ElementwiseCall& call) {
  std::vector<bool> truths;
  for (std::size_t i = 0; i < call.steps.size(); ++i) {
    const Step& step = call.steps[i];
    const Kind kind = rule_of(step.operation).kind;
    for (int k = 0; k < operands_of(step.operation); ++k) {
      if (i > 0 && k == step.running) continue;
      truths.push_back(kind == Kind::logical || (kind == Kind::select && k == 0));
    }
  }
  truths.resize(call.operands.size());  // of a conversion
  return truths;
}

/// How the result becomes the output's elements.
void set_output(const ElementwiseCall& call, DType result, bool raw, ElementwiseParams& p) {
  const DType out = call.out.tensor().dtype();
  p.out_type = out;
  p.out_bytes = static_cast<std::int32_t>(size_of(out));
  if (call.out.quantized() != nullptr) {
    p.out_coded = true;
  } else if (out == result) {
    p.out_type = p.result;
  } else if (!raw && result == DType::f32 && (out == DType::f16 || out == DType::bf16) &&
             !needs_generic_cast(result, out, call.options.cast)) {
    // The number that was computed is stored with the one rounding of the cast.
  } else {
    p.convert = true;
    p.cast = element_cast(result, out, call.options.cast);
  }
}

void set_operands(const ElementwiseCall& call, const ElementwiseTypes& types, bool raw,
                  ElementwiseParams& p) {
  const bool half = p.common == DType::f16 || p.common == DType::bf16;
  p.arguments = static_cast<std::int32_t>(call.operands.size());
  for (std::size_t i = 0; i < call.operands.size(); ++i) {
    Argument& argument = p.argument[i];
    const Operand& operand = call.operands[i];
    const bool truth = types.as_bool_value[i];
    if (operand.is_literal()) {
      std::uint64_t bits =
          truth ? converted_bits(DType::bool_, p.common, {}, is_true(operand.literal()) ? 1 : 0)
                : constant_bits(operand.literal(), types.common, raw);
      if (truth && half) bits = converted_bits(p.common, DType::f32, {}, bits);
      argument.set_bits(bits);
      continue;
    }
    argument.tensor = p.tensors;
    TensorOperand& tensor = p.tensor[p.tensors++];
    const DType type = operand.tensor().dtype();
    tensor.type = raw && !truth ? p.common : type;
    tensor.bytes = static_cast<std::int8_t>(size_of(type));
    if (operand.quantized() != nullptr) {
      tensor.reading = Reading::codes;
    } else if (truth) {
      tensor.reading = Reading::as_bool;
    } else if (half && is_integral(type)) {
      tensor.reading = Reading::round_to_half;
    }
  }
}

/// Scales and zero points, which are tensors behind the operands.
CodeNumbers numbers_of(const QuantizedTensor& codes, ElementwiseParams& p) {
  CodeNumbers numbers;
  numbers.is_signed = codes.codes.dtype() == DType::i8;
  const auto add = [&](const TensorView& view) {
    TensorOperand& tensor = p.tensor[p.tensors];
    tensor.type = view.dtype();
    tensor.bytes = static_cast<std::int8_t>(size_of(view.dtype()));
    return static_cast<std::int8_t>(p.tensors++);
  };
  if (const float* scale = std::get_if<float>(&codes.scale)) numbers.scale = *scale;
  if (const int* zero = std::get_if<int>(&codes.zero)) numbers.zero = *zero;
  if (const auto* scale = std::get_if<TensorView>(&codes.scale)) numbers.scale_tensor = add(*scale);
  if (const auto* zero = std::get_if<TensorView>(&codes.zero)) numbers.zero_tensor = add(*zero);
  return numbers;
}

void set_codes(const ElementwiseCall& call, ElementwiseParams& p) {
  for (std::size_t i = 0; i < call.operands.size(); ++i) {
    if (const QuantizedTensor* codes = call.operands[i].quantized())
      p.codes[p.argument[i].tensor] = numbers_of(*codes, p);
  }
  if (const QuantizedTensor* codes = call.out.quantized()) p.out_codes = numbers_of(*codes, p);
}

}  // namespace

ElementwiseTypes resolve_types(const ElementwiseCall& call) {
  check_counts(call);
  check_places(call);
  ElementwiseTypes types;
  types.as_bool_value = truths_of(call);
  check_operand_types(call, types);
  const auto has = [&](Kind kind) {
    return std::any_of(call.steps.begin(), call.steps.end(),
                       [kind](const Step& step) { return rule_of(step.operation).kind == kind; });
  };
  const bool bits = (has(Kind::bits) || has(Kind::shift)) && !works_in_f32(call);
  types.common = common_of(call, types, bits);
  for (const Kind kind : {Kind::floating, Kind::predicate}) {
    if (has(kind)) types.common = working_type(kind, types.common, call.name, call.name);
  }
  for (const Step& step : call.steps)
    static_cast<void>(
        working_type(rule_of(step.operation).kind, types.common, call.name, name_of(step.operation)));
  check_beside_codes(call, types.common);
  types.result = types.common;
  if (!call.steps.empty()) types.result = given_type(rule_of(call.steps.back().operation).kind, types.common);
  if (call.out.quantized() != nullptr) check_output_type(call, types.result);
  for_each_codes(call, [&](const QuantizedTensor& codes) { check_code_numbers(call.name, codes); });
  check_options(call, types.common);
  if (call.out.quantized() == nullptr) check_output_type(call, types.result);
  return types;
}

ElementwiseParams typed_params(const ElementwiseCall& call, const ElementwiseTypes& types) {
  const bool raw = moves_bits(call, types);
  const ElementwiseOptions& options = call.options;
  ElementwiseParams p;
  p.common = raw ? unsigned_of(bytes_of(types.common)) : types.common;
  p.compute = class_of(p.common);
  p.result = raw ? p.common : types.result;
  p.result_bytes = static_cast<std::int32_t>(size_of(p.result));
  p.common_bytes = static_cast<std::int32_t>(size_of(p.common));
  set_output(call, types.result, raw, p);
  for (const Step& step : call.steps)
    p.step[p.steps++] = {step.operation, static_cast<std::int8_t>(step.running), operands_of(step.operation)};
  set_operands(call, types, raw, p);
  set_codes(call, p);
  p.rounding = options.rounding;
  if (p.compute == ComputeClass::f32 && options.rounding != Rounding::nearest_even) {
    CastOptions directed;
    directed.rounding = options.rounding;
    p.rounding_cast = element_cast(DType::f64, p.common, directed);
  }
  p.precision = options.precision;
  // Approximations have kernels beside cheap operations only: with others everything is accurate.
  if (has_costly(p)) p.precision = Precision::accurate;
  p.flush_to_zero = options.flush_to_zero;
  p.rtol = options.rtol;
  p.atol = options.atol;
  p.equal_nan = options.equal_nan;
  return p;
}

}  // namespace relayout
