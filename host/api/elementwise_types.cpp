#include "host/api/elementwise_types.hpp"

#include <algorithm>
#include <numeric>

#include "core/convert_bits.hpp"
#include "host/api/cast_rule.hpp"
#include "host/api/promotion_rules.hpp"
#include "relayout/error.hpp"

namespace relayout {
namespace {

using Kind = OperationKind;

[[noreturn]] void fail(const ElementwiseCall& call, ErrorCode code, const std::string& what) {
  throw Error(code, call.name + ": " + what);
}

void check_counts(const ElementwiseCall& call) {
  if (call.operations.empty() || call.operations.size() > kMaxSteps)
    fail(call, ErrorCode::invalid_argument,
         "a chain has 1 to " + std::to_string(kMaxSteps) + " operations, not " +
             std::to_string(call.operations.size()));
  int wanted = 1;
  for (const Operation operation : call.operations) wanted += operands_of(operation) - 1;
  const auto given = static_cast<int>(call.operands.size());
  if (given != wanted)
    fail(call, ErrorCode::invalid_argument,
         "it takes " + std::to_string(wanted) + " operands, not " + std::to_string(given));
  const auto is_tensor = [](const Operand& operand) { return !operand.is_literal(); };
  const auto tensors = std::count_if(call.operands.begin(), call.operands.end(), is_tensor);
  if (tensors == 0) fail(call, ErrorCode::invalid_argument, "one operand at least must be a tensor");
  if (tensors > kMaxTensors || given > kMaxArguments)
    fail(call, ErrorCode::invalid_argument,
         "it takes at most " + std::to_string(kMaxTensors) + " tensors and " + std::to_string(kMaxArguments) +
             " operands at once; split the chain");
  for (std::size_t i = 0; i < call.operations.size(); ++i) {
    const Kind kind = rule_of(call.operations[i]).kind;
    const bool last = i + 1 == call.operations.size();
    if ((kind == Kind::logical && call.operations.size() > 1) || (gives_bool(kind) && !last) ||
        (kind == Kind::select && i > 0))
      fail(call, ErrorCode::invalid_argument,
           std::string(name_of(call.operations[i])) + " cannot stand at this place of a chain");
  }
}

/// Of all operands but those of which only the truth counts.
DType common_of(const ElementwiseCall& call, const ElementwiseTypes& types, bool equal) {
  Promotion promotion(call.name, equal);
  for (const bool literals : {false, true}) {
    for (std::size_t i = 0; i < call.operands.size(); ++i) {
      const Operand& operand = call.operands[i];
      if (types.as_bool_value[i] || operand.is_literal() != literals) continue;
      literals ? promotion.add(operand.literal()) : promotion.add(operand.tensor().dtype());
    }
  }
  return promotion.common();
}

void check_options(const ElementwiseCall& call, DType common) {
  const ElementwiseOptions& options = call.options;
  const auto takes = [&](std::initializer_list<Operation> those) {
    return std::all_of(call.operations.begin(), call.operations.end(), [&](Operation operation) {
      return std::find(those.begin(), those.end(), operation) != those.end();
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
    const bool taken = std::any_of(call.operations.begin(), call.operations.end(), [&](Operation operation) {
      return is_approximated(operation, Precision::approximate) &&
             (operation != Operation::sqrt || options.precision == Precision::approximate);
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
  if (call.operations.size() != 1 || call.operations[0] != Operation::where) return false;
  if (types.common == DType::bool_) return false;  // other bytes than 0 and 1 become 1
  for (std::size_t i = 1; i < call.operands.size(); ++i) {
    if (!call.operands[i].is_literal() && call.operands[i].tensor().dtype() != types.common) return false;
  }
  return true;
}

}  // namespace

ElementwiseTypes resolve_types(const ElementwiseCall& call) {
  check_counts(call);
  const Kind first = rule_of(call.operations.front()).kind;
  ElementwiseTypes types;
  types.as_bool_value.assign(call.operands.size(), first == Kind::logical);
  if (first == Kind::select) types.as_bool_value[0] = true;
  for (std::size_t i = 0; i < call.operands.size(); ++i) {
    if (call.operands[i].is_literal()) continue;
    const DType type = call.operands[i].tensor().dtype();
    const bool chosen = first == Kind::select && !types.as_bool_value[i] && call.operations.size() == 1;
    check_operand_type(chosen && type != DType::b128 ? Kind::select : Kind::arithmetic, type, call.name);
  }
  const auto has = [&](Kind kind) {
    return std::any_of(call.operations.begin(), call.operations.end(),
                       [kind](Operation operation) { return rule_of(operation).kind == kind; });
  };
  types.common = common_of(call, types, has(Kind::bits) || has(Kind::shift));
  for (const Kind kind : {Kind::floating, Kind::predicate}) {
    if (has(kind)) types.common = working_type(kind, types.common, call.name, call.name);
  }
  for (const Operation operation : call.operations)
    static_cast<void>(working_type(rule_of(operation).kind, types.common, call.name, name_of(operation)));
  check_options(call, types.common);
  types.result = given_type(rule_of(call.operations.back()).kind, types.common);
  return types;
}

void check_output_type(const ElementwiseCall& call, DType result, DType out) {
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

ElementwiseParams typed_params(const ElementwiseCall& call, const ElementwiseTypes& types, DType out) {
  const bool raw = moves_bits(call, types);
  const DType common = raw ? unsigned_of(types.common) : types.common;
  ElementwiseParams p;
  p.compute = class_of(common);
  p.common = common;
  p.result = raw ? common : types.result;
  p.out_type = out;
  const ElementwiseOptions& options = call.options;
  if (out == types.result) {
    p.out_type = p.result;
  } else if (!raw && types.result == DType::f32 && (out == DType::f16 || out == DType::bf16) &&
             !needs_generic_cast(types.result, out, options.cast)) {
    // The class is stored with the one rounding that the cast has.
  } else {
    p.convert = true;
    p.cast = element_cast(types.result, out, options.cast);
  }
  for (const Operation operation : call.operations) {
    p.step[p.steps].operation = operation;
    p.step[p.steps++].operands = operands_of(operation);
  }
  for (std::size_t i = 0; i < call.operands.size(); ++i) {
    Argument& argument = p.argument[i];
    const Operand& operand = call.operands[i];
    if (operand.is_literal()) {
      const DType type = p.common;
      argument.bits = types.as_bool_value[i]
                          ? converted(DType::bool_, type, is_true(operand.literal()) ? 1 : 0)
                          : constant_bits(operand.literal(), types.common, raw);
      if (types.as_bool_value[i] && (type == DType::f16 || type == DType::bf16))
        argument.bits = converted(type, DType::f32, argument.bits);
      continue;
    }
    argument.tensor = p.tensors;
    TensorOperand& tensor = p.tensor[p.tensors++];
    const DType type = operand.tensor().dtype();
    tensor.type = raw && !types.as_bool_value[i] ? common : type;
    tensor.bytes = static_cast<std::int32_t>(size_of(type));
    if (types.as_bool_value[i]) {
      tensor.reading = Reading::as_bool;
    } else if ((common == DType::f16 || common == DType::bf16) && is_integral(type)) {
      tensor.reading = Reading::round_to_half;
    }
  }
  p.out_bytes = static_cast<std::int32_t>(size_of(p.out_type));
  p.result_bytes = static_cast<std::int32_t>(size_of(p.result));
  p.common_bytes = static_cast<std::int32_t>(size_of(p.common));
  p.rounding = options.rounding;
  if (p.compute == ComputeClass::f32 && options.rounding != Rounding::nearest_even) {
    CastOptions directed;
    directed.rounding = options.rounding;
    p.rounding_cast = element_cast(DType::f64, common, directed);
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
