// Which element type two operands meet in, and which one an operation gives. Pure logic; operands are cast to
// the common type first, integers to floating types with one rounding, and the operation is done in it.
#pragma once

#include <cstdint>

#include <relayout/dtype.hpp>

namespace relayout {

/// A constant beside tensors: true or false, an integer, a floating number. It has no element type of its own
/// where the other operand's is of its category or a higher one (bool < integers < floating).
class Literal {
 public:
  enum class Kind : std::uint8_t { boolean, integer, floating };

  constexpr Literal(bool value) : kind_(Kind::boolean), magnitude_(value ? 1 : 0) {}
  constexpr Literal(int value) : Literal(static_cast<long long>(value)) {}
  constexpr Literal(unsigned value) : Literal(static_cast<unsigned long long>(value)) {}
  constexpr Literal(long value) : Literal(static_cast<long long>(value)) {}
  constexpr Literal(unsigned long value) : Literal(static_cast<unsigned long long>(value)) {}
  constexpr Literal(long long value)
      : kind_(Kind::integer),
        negative_(value < 0),
        magnitude_(value < 0 ? 0 - static_cast<std::uint64_t>(value) : static_cast<std::uint64_t>(value)) {}
  constexpr Literal(unsigned long long value) : kind_(Kind::integer), magnitude_(value) {}
  constexpr Literal(double value) : kind_(Kind::floating), floating_(value) {}

  constexpr Kind kind() const noexcept { return kind_; }
  /// Of the integer, and 1 or 0 of a boolean.
  constexpr bool is_negative() const noexcept { return negative_; }
  constexpr std::uint64_t magnitude() const noexcept { return magnitude_; }
  /// Of Kind::floating.
  constexpr double floating() const noexcept { return floating_; }
  /// The type where nothing else gives one: bool; i32, else i64, else u64, whichever holds the integer; f32.
  DType dtype() const noexcept;

 private:
  Kind kind_;
  bool negative_ = false;
  std::uint64_t magnitude_ = 0;
  double floating_ = 0;
};

/// What an operation does with the common type.
enum class OperationClass : std::uint8_t {
  arithmetic,     // add, sub, mul, div, mod, pow, max, min: the common type; not of bool
  true_division,  // the common type where that is floating, else f32
  relational,     // bool
  bitwise,        // the type, which both operands must have: integers and bool
  select          // the common type, of any
};

/// The common type: a type with itself; a higher category's (bool < integers < floating); of two signed, two
/// unsigned or two floating types the wider. Error{promotion}, which names `operation`, both types and a way
/// out: signed with unsigned integers, f16 with bf16, and tf32, e4m3fn, e5m2 and b128 with any other type.
DType common_type(DType a, DType b, const char* operation = "common_type");
/// Of a tensor's type with a literal: the tensor's unless the literal is of a higher category, then the
/// literal's dtype(). Error{literal_range} for an integer that the tensor's integer type does not hold.
DType common_type(DType a, const Literal& b, const char* operation = "common_type");
/// Two literals stay one, of the higher kind.
constexpr Literal::Kind common_kind(const Literal& a, const Literal& b) noexcept {
  return a.kind() < b.kind() ? b.kind() : a.kind();
}

/// The result's type, as element-wise operations have it. Errors, in the order of their checks: dtype for
/// tf32, e4m3fn, e5m2 and b128 in anything but select; those of common_type, and promotion for bitwise
/// operands of two types; dtype for bool in arithmetic and for floating types in bitwise.
DType result_type(OperationClass operation_class, DType a, DType b, const char* operation = "result_type");
DType result_type(OperationClass operation_class, DType a, const Literal& b,
                  const char* operation = "result_type");

}  // namespace relayout
