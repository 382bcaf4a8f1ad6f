#include "relayout/promotion.hpp"

#include <limits>
#include <string>

#include "relayout/error.hpp"

namespace relayout {
namespace {

bool is_opaque(DType type) { return is_restricted(type) || type == DType::b128; }

Literal::Kind kind_of(DType type) {
  if (type == DType::bool_) return Literal::Kind::boolean;
  return is_integral(type) ? Literal::Kind::integer : Literal::Kind::floating;
}

[[noreturn]] void fail_promotion(const char* operation, DType a, DType b, const std::string& why) {
  throw Error(ErrorCode::promotion,
              std::string(operation) + ": " + name_of(a) + " and " + name_of(b) + " " + why);
}

std::string text_of(const Literal& literal) {
  return (literal.is_negative() ? "-" : "") + std::to_string(literal.magnitude());
}

/// Of an integer or a boolean, in an integer type.
bool holds(DType type, const Literal& literal) {
  const int bits = 8 * static_cast<int>(size_of(type));
  const std::uint64_t most =
      std::numeric_limits<std::uint64_t>::max() >> (64 - bits + (is_signed(type) ? 1 : 0));
  if (!literal.is_negative()) return literal.magnitude() <= most;
  return is_signed(type) && literal.magnitude() <= most + 1;
}

DType checked_result(OperationClass operation_class, DType common, const char* operation) {
  const auto fail = [&](const std::string& why) {
    throw Error(ErrorCode::dtype,
                std::string(operation) + ": no operation on " + name_of(common) + ", " + why);
  };
  if (operation_class == OperationClass::select) return common;
  if (is_opaque(common)) {
    fail(common == DType::b128 ? "which is only copied and permuted"
                               : "which is only copied, filled and cast; cast it to f16, bf16 or f32 first");
  }
  switch (operation_class) {
    case OperationClass::arithmetic:
      if (common == DType::bool_) fail("which has no arithmetic; cast it to an integer type first");
      return common;
    case OperationClass::true_division:
      return is_floating(common) ? common : DType::f32;
    case OperationClass::relational:
      return DType::bool_;
    case OperationClass::bitwise:
      if (is_floating(common)) fail("whose bits have no meaning on their own; it takes integers and bool");
      return common;
    case OperationClass::select:
      break;
  }
  return common;
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
  if (a == DType::b128) return common_type(a, b.dtype(), operation);
  if (kind_of(a) < b.kind()) return b.dtype();
  if (is_integral(a) && !holds(a, b)) {
    throw Error(ErrorCode::literal_range, std::string(operation) + ": the constant " + text_of(b) +
                                              " does not fit " + name_of(a) +
                                              "; cast the tensor to a wider type first");
  }
  return a;
}

DType result_type(OperationClass operation_class, DType a, DType b, const char* operation) {
  if (operation_class == OperationClass::bitwise && a != b)
    fail_promotion(operation, a, b, "are two types, and operations on bits take one; cast one of them first");
  return checked_result(operation_class, common_type(a, b, operation), operation);
}

DType result_type(OperationClass operation_class, DType a, const Literal& b, const char* operation) {
  return checked_result(operation_class, common_type(a, b, operation), operation);
}

}  // namespace relayout
