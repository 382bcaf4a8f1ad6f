#include "relayout/promotion.hpp"

#include <algorithm>
#include <limits>
#include <string>

#include "host/api/checks.hpp"
#include "host/api/promotion_rules.hpp"
#include "relayout/error.hpp"

namespace relayout {
namespace {

bool is_opaque(DType type) { return is_restricted(type) || type == DType::b128; }

Literal::Kind kind_of(DType type) {
  if (type == DType::bool_) return Literal::Kind::boolean;
  return is_integral(type) ? Literal::Kind::integer : Literal::Kind::floating;
}

[[noreturn]] void fail_promotion(const char* operation, DType a, DType b, const std::string& why) {
  fail(operation, ErrorCode::promotion, std::string(name_of(a)) + " and " + name_of(b) + " " + why);
}

std::string text_of(const Literal& literal) {
  return (literal.is_negative() ? "-" : "") + std::to_string(literal.magnitude());
}

/// Whether an integer type holds an integer or a boolean.
bool holds(DType type, const Literal& literal) {
  const int bits = 8 * static_cast<int>(size_of(type));
  const std::uint64_t most =
      std::numeric_limits<std::uint64_t>::max() >> (64 - bits + (is_signed(type) ? 1 : 0));
  if (!literal.is_negative()) return literal.magnitude() <= most;
  return is_signed(type) && literal.magnitude() <= most + 1;
}

OperationKind kind_of(OperationClass operation_class) {
  switch (operation_class) {
    case OperationClass::arithmetic:
      return OperationKind::arithmetic;
    case OperationClass::true_division:
      return OperationKind::floating;
    case OperationClass::relational:
      return OperationKind::relational;
    case OperationClass::bitwise:
      return OperationKind::bits;
    case OperationClass::select:
      break;
  }
  return OperationKind::select;
}

/// The type of an operation's result, for a tensor beside another one or a constant.
template <class B>
DType result_of(OperationClass operation_class, DType a, const B& b, const char* operation) {
  check_enumerator(operation, "the class of operations", operation_class, OperationClass::select);
  const OperationKind kind = kind_of(operation_class);
  Promotion promotion(operation, kind == OperationKind::bits);
  promotion.add(a);
  promotion.add(b);
  return given_type(kind, working_type(kind, promotion.common(), operation, operation));
}

}  // namespace

DType Literal::dtype() const noexcept {
  if (kind_ == Kind::boolean) return DType::bool_;
  if (kind_ == Kind::floating) return DType::f32;
  for (const DType type : {DType::i32, DType::i64}) {
    if (holds(type, *this)) return type;
  }
  return DType::u64;
}

DType common_type(DType a, DType b, const char* operation) {
  for (const DType type : {a, b}) check_is_type(operation, "an element type", type);
  if (a == b) return a;
  if (is_opaque(a) || is_opaque(b)) {
    fail_promotion(operation, a, b,
                   std::string("have no type in common, as ") + name_of(is_opaque(a) ? a : b) +
                       " goes with nothing but itself; cast one of them first");
  }
  if (kind_of(a) != kind_of(b)) return kind_of(a) < kind_of(b) ? b : a;
  if (is_integral(a) && is_signed(a) != is_signed(b))
    fail_promotion(operation, a, b, "have no type in common, as only one has a sign; cast one of them first");
  if (size_of(a) == size_of(b))
    fail_promotion(operation, a, b, "have no type in common; cast one of them, or both to f32, first");
  return size_of(a) < size_of(b) ? b : a;
}

DType common_type(DType a, const Literal& b, const char* operation) {
  check_is_type(operation, "the element type", a);
  if (a == DType::b128) return common_type(a, b.dtype(), operation);
  if (kind_of(a) < b.kind()) return b.dtype();
  if (is_integral(a) && !holds(a, b)) {
    fail(operation, ErrorCode::literal_range,
         "the constant " + text_of(b) + " does not fit " + name_of(a) +
             "; cast the tensor to a wider type first");
  }
  return a;
}

DType result_type(OperationClass operation_class, DType a, DType b, const char* operation) {
  check_operand_type(kind_of(operation_class), a, operation);
  check_operand_type(kind_of(operation_class), b, operation);
  return result_of(operation_class, a, b, operation);
}

DType result_type(OperationClass operation_class, DType a, const Literal& b, const char* operation) {
  check_operand_type(kind_of(operation_class), a, operation);
  return result_of(operation_class, a, b, operation);
}

void Promotion::add(DType type) {
  if (type_ && equal_ && type != *type_)
    fail_promotion(operation_.c_str(), *type_, type,
                   "are two types, and operations on bits take one; cast one of them first");
  type_ = type_ ? common_type(*type_, type, operation_.c_str()) : type;
}

void Promotion::add(const Literal& literal) {
  kind_ = kind_ ? std::max(*kind_, literal.kind()) : literal.kind();
  if (literal.kind() == Literal::Kind::floating) return;
  std::optional<Literal>& farthest = literal.is_negative() ? least_ : greatest_;
  if (!farthest || farthest->magnitude() < literal.magnitude()) farthest = literal;
}

DType Promotion::common() const {
  if (!kind_) return type_.value_or(DType::bool_);
  if (type_ && *type_ == DType::b128) return common_type(*type_, type_of_constants(), operation_.c_str());
  if (!type_ || kind_of(*type_) < *kind_) return type_of_constants();
  for (const std::optional<Literal>& literal : {least_, greatest_}) {
    if (literal) common_type(*type_, *literal, operation_.c_str());
  }
  return *type_;
}

DType Promotion::type_of_constants() const {
  if (*kind_ == Literal::Kind::boolean) return DType::bool_;
  if (*kind_ == Literal::Kind::floating) return DType::f32;
  for (const DType type : {DType::i32, DType::i64, DType::u64}) {
    if ((!least_ || holds(type, *least_)) && (!greatest_ || holds(type, *greatest_))) return type;
  }
  fail(operation_, ErrorCode::literal_range,
       "no integer type holds the constants " + text_of(*least_) + " and " + text_of(*greatest_));
}

void check_operand_type(OperationKind kind, DType type, const std::string& operation) {
  if (!is_opaque(type) || kind == OperationKind::select) return;
  fail(operation, ErrorCode::dtype,
       std::string("no operation on ") + name_of(type) +
           (type == DType::b128
                ? ", which is only copied and permuted"
                : ", which is only copied, filled and cast; cast it to f16, bf16 or f32 first"));
}

DType working_type(OperationKind kind, DType common, const std::string& operation, const std::string& name) {
  const auto refuse = [&](const char* why) {
    fail(operation, ErrorCode::dtype, name + " does not take " + name_of(common) + why);
  };
  switch (kind) {
    case OperationKind::arithmetic:
      if (common == DType::bool_) refuse("; cast it to an integer type first");
      break;
    case OperationKind::floating:
    case OperationKind::predicate:
      return is_floating(common) ? common : DType::f32;
    case OperationKind::bits:
      if (!is_integral(common) && common != DType::bool_)
        refuse(", whose bits have no meaning on their own; it takes integers and bool");
      break;
    case OperationKind::shift:
      if (!is_integral(common)) refuse("; it takes integers");
      break;
    case OperationKind::relational:
    case OperationKind::logical:
    case OperationKind::select:
      break;
  }
  return common;
}

}  // namespace relayout
