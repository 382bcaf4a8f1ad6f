#include "host/api/elementwise_types.hpp"

#include <algorithm>
#include <numeric>

#include "core/convert_bits.hpp"
#include "host/api/cast_rule.hpp"
#include "host/api/codes.hpp"
#include "host/api/promotion_rules.hpp"
#include "relayout/error.hpp"

namespace relayout {
namespace {

using Kind = OperationKind;

[[noreturn]] void fail(const ElementwiseCall& call, ErrorCode code, const std::string& what) {
  throw Error(code, call.name + ": " + what);
}

/// Calls check(QuantizedTensor) for all codes of the call, the output's last.
template <class Check>
void for_each_codes(const ElementwiseCall& call, const Check& check) {
  for (const Operand& operand : call.operands) {
    if (operand.quantized() != nullptr) check(*operand.quantized());
  }
  if (call.out.quantized() != nullptr) check(*call.out.quantized());
}

/// Whether everything is f32, as codes are.
bool works_in_f32(const ElementwiseCall& call) {
  bool codes = call.in_f32;
  for_each_codes(call, [&](const QuantizedTensor&) { codes = true; });
  return codes;
}

int tensors_of(const ElementwiseCall& call) {
  const auto is_tensor = [](const Operand& operand) { return !operand.is_literal(); };
  return static_cast<int>(std::count_if(call.operands.begin(), call.operands.end(), is_tensor));
}

void check_counts(const ElementwiseCall& call) {
  if (call.steps.size() > kMaxSteps || (call.steps.empty() && !call.converts))
    fail(call, ErrorCode::invalid_argument,
         "a chain has 1 to " + std::to_string(kMaxSteps) + " operations, not " +
             std::to_string(call.steps.size()));
  int wanted = 1;
  for (const Step& step : call.steps) wanted += operands_of(step.operation) - 1;
  const auto given = static_cast<int>(call.operands.size());
  if (given != wanted)
    fail(call, ErrorCode::invalid_argument,
         "it takes " + std::to_string(wanted) + " operands, not " + std::to_string(given));
  int tensors = tensors_of(call);
  if (tensors == 0) fail(call, ErrorCode::invalid_argument, "one operand at least must be a tensor");
  for_each_codes(call, [&](const QuantizedTensor& codes) { tensors += number_tensors(codes); });
  if (tensors > kMaxTensors)
    fail(call, ErrorCode::invalid_argument,
         std::to_string(tensors) + " tensors are read, scales and zero points counted, and at most " +
             std::to_string(kMaxTensors) + " can be; split the chain");
}

/// Results that are bool are chosen by; the truth of operands counts in operations that stand alone.
void check_places(const ElementwiseCall& call) {
  for (std::size_t i = 0; i < call.steps.size(); ++i) {
    const Step& step = call.steps[i];
    if (step.running < 0 || step.running >= operands_of(step.operation) || (i == 0 && step.running != 0))
      fail(call, ErrorCode::invalid_argument,
           std::string(name_of(step.operation)) + " has no running value as operand " +
               std::to_string(step.running));
    const Kind kind = rule_of(step.operation).kind;
    const bool after_bool = i > 0 && gives_bool(rule_of(call.steps[i - 1].operation).kind);
    if ((kind == Kind::logical && call.steps.size() > 1) ||
        (after_bool && (kind != Kind::select || step.running != 0)))
      fail(call, ErrorCode::invalid_argument,
           std::string(name_of(step.operation)) + " cannot stand at this place of a chain");
  }
}

/// Of all operands but those of which only the truth counts.
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

void check_options(const ElementwiseCall& call, DType common) {
  const ElementwiseOptions& options = call.options;
  const auto takes = [&](std::initializer_list<Operation> those) {
    return std::all_of(call.steps.begin(), call.steps.end(), [&](const Step& step) {
      return std::find(those.begin(), those.end(), step.operation) != those.end();
    });
  };
  if (options.rounding != Rounding::nearest_even) {
    const std::string name = std::string("the rounding ") + name_of(options.rounding);
    if (options.rounding == Rounding::nearest_away)
      fail(call, ErrorCode::rounding_mode, name + " is for casts only");
    if (!is_floating(common) ||
        !takes({Operation::add, Operation::sub, Operation::mul, Operation::truediv, Operation::sqrt}))
      fail(call, ErrorCode::rounding_mode,
           name + " is for add, sub, mul, truediv and sqrt on floating types");
  }
  if (options.precision != Precision::accurate) {
    const bool taken = std::any_of(call.steps.begin(), call.steps.end(), [&](const Step& step) {
      return is_approximated(step.operation, Precision::approximate) &&
             (step.operation != Operation::sqrt || options.precision == Precision::approximate);
    });
    if (!taken || common != DType::f32 || options.rounding != Rounding::nearest_even)
      fail(call, ErrorCode::rounding_mode,
           options.precision == Precision::full
               ? "full precision is for truediv, tanh and exp on f32, rounded to nearest"
               : "approximate precision is for truediv, sqrt, tanh and exp on f32, rounded to nearest");
  }
  if (options.flush_to_zero &&
      (common != DType::f32 ||
       !takes({Operation::add, Operation::sub, Operation::mul, Operation::truediv, Operation::maximum,
               Operation::minimum, Operation::sqrt, Operation::rsqrt, Operation::exp2})))
    fail(call, ErrorCode::rounding_mode,
         "flush_to_zero is for add, sub, mul, truediv, maximum, minimum, sqrt, rsqrt and exp2 on f32");
}

ComputeClass class_of(DType common) {
  if (common == DType::f64) return ComputeClass::f64;
  if (is_floating(common)) return ComputeClass::f32;
  return size_of(common) == 8 ? ComputeClass::i64 : ComputeClass::i32;
}

/// `bits` of `from` as bits of `to`.
std::uint64_t converted(DType from, DType to, std::uint64_t bits) {
  const std::uint64_t mask = ~std::uint64_t{0} >> (64 - 8 * size_of(to));
  return convert_bits<std::uint64_t>(element_cast(from, to, {}), bits) & mask;
}

/// The constant in the class of the common type: integers by their bits, floats widened.
std::uint64_t constant_bits(const Literal& literal, DType common, bool raw) {
  std::uint64_t bits = 0;
  if (literal.kind() == Literal::Kind::floating) {
    bits = converted(DType::f64, common, detail::bit_cast<std::uint64_t>(literal.floating()));
  } else if (literal.is_negative()) {
    bits = converted(DType::i64, common, 0 - literal.magnitude());
  } else {
    bits = converted(DType::u64, common, literal.magnitude());
  }
  if (raw) return bits;
  if (common == DType::f16 || common == DType::bf16) return converted(common, DType::f32, bits);
  if (is_signed(common)) return converted(common, DType::i64, bits);
  return bits;
}

bool is_true(const Literal& literal) {
  return literal.kind() == Literal::Kind::floating ? literal.floating() != 0 : literal.magnitude() != 0;
}

DType unsigned_of(DType type) {
  constexpr DType kTypes[] = {DType::u8, DType::u16, DType::u32, DType::u64};
  for (const DType candidate : kTypes) {
    if (size_of(candidate) == size_of(type)) return candidate;
  }
  return type;
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

/// Of each operand: whether only its truth counts.
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

/// Of what is f32 for the codes' sake.
void check_beside_codes(const ElementwiseCall& call, DType common) {
  if (!works_in_f32(call)) return;
  if (common != DType::f32)
    fail(call, ErrorCode::dtype,
         std::string("codes stand for f32, and ") + name_of(common) + " is wider; cast it first");
  for (const Step& step : call.steps) {
    if (rule_of(step.operation).kind == Kind::logical)
      fail(call, ErrorCode::dtype,
           std::string(name_of(step.operation)) + " does not take codes; compare them with 0 first");
  }
}

/// Error{dtype} or {rounding_mode} for an output that the result does not go to.
void check_output_type(const ElementwiseCall& call, DType result) {
  const DType out = call.out.tensor().dtype();
  if (call.out.quantized() != nullptr) {
    if (result == DType::bool_) fail(call, ErrorCode::dtype, "the result is a bool, which has no scale");
    if (call.options.cast_out)
      fail(call, ErrorCode::dtype, "cast_out is for tensors, and the output is codes");
    return;
  }
  if (!call.options.cast_out) {
    if (out != result)
      fail(call, ErrorCode::dtype,
           std::string("the result is ") + name_of(result) + " and the output " + name_of(out) +
               "; give an output of that type, or set cast_out");
    return;
  }
  CopyPlanOptions options;
  options.cast = call.options.cast;
  check_cast_options(call.name.c_str(), result, out, options);
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
    // The class is stored with the one rounding that the cast has.
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
      std::uint64_t bits = truth ? converted(DType::bool_, p.common, is_true(operand.literal()) ? 1 : 0)
                                 : constant_bits(operand.literal(), types.common, raw);
      if (truth && half) bits = converted(p.common, DType::f32, bits);
      argument.set_bits(bits);
      continue;
    }
    argument.tensor = p.tensors;
    TensorOperand& tensor = p.tensor[p.tensors++];
    const DType type = operand.tensor().dtype();
    tensor.type = raw && !truth ? p.common : type;
    tensor.bytes = static_cast<std::int16_t>(size_of(type));
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
    tensor.bytes = static_cast<std::int16_t>(size_of(view.dtype()));
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
  p.common = raw ? unsigned_of(types.common) : types.common;
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
