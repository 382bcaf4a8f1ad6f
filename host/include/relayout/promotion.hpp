// The common type of two operands, and the type of an operation's result. Pure logic. Operands are cast to
// the common type first (integers to floating types with one rounding), and the operation works in it.
#pragma once

#include <cstdint>

#include <relayout/dtype.hpp>
#include <relayout/export.hpp>

namespace relayout {

/// A constant beside tensors: true or false, an integer, or a floating number. It takes the element type of
/// the other operand where that is of the same category or a higher one (bool < integers < floating).
class RELAYOUT_API Literal {
 public:
  /// Its category, in rising order.
  enum class Kind : std::uint8_t {
    boolean,  ///< true or false
    integer,  ///< any number of i64 or u64
    floating  ///< an f64
  };

  /// A boolean.
  constexpr Literal(bool value) : kind_(Kind::boolean), magnitude_(value ? 1 : 0) {}
  /// An integer.
  constexpr Literal(int value) : Literal(static_cast<long long>(value)) {}
  /// An integer.
  constexpr Literal(unsigned value) : Literal(static_cast<unsigned long long>(value)) {}
  /// An integer.
  constexpr Literal(long value) : Literal(static_cast<long long>(value)) {}
  /// An integer.
  constexpr Literal(unsigned long value) : Literal(static_cast<unsigned long long>(value)) {}
  /// An integer.
  constexpr Literal(long long value)
      : kind_(Kind::integer),
        negative_(value < 0),
        magnitude_(value < 0 ? 0 - static_cast<std::uint64_t>(value) : static_cast<std::uint64_t>(value)) {}
  /// An integer.
  constexpr Literal(unsigned long long value) : kind_(Kind::integer), magnitude_(value) {}
  /// A floating number.
  constexpr Literal(double value) : kind_(Kind::floating), floating_(value) {}

  /// Its category.
  constexpr Kind kind() const noexcept { return kind_; }
  /// Whether an integer is below 0.
  constexpr bool is_negative() const noexcept { return negative_; }
  /// The absolute value of an integer; 1 or 0 for a boolean.
  constexpr std::uint64_t magnitude() const noexcept { return magnitude_; }
  /// The number of a Kind::floating.
  constexpr double floating() const noexcept { return floating_; }
  /// The type that it has where no other operand decides: bool for booleans; the first of i32, i64 and u64
  /// that holds an integer; f32 for floating numbers.
  DType dtype() const noexcept;

 private:
  Kind kind_;
  bool negative_ = false;
  std::uint64_t magnitude_ = 0;
  double floating_ = 0;
};

/// Which type an operation gives, from the common type.
enum class OperationClass : std::uint8_t {
  arithmetic,     ///< add, sub, mul, div, mod, pow, max, min: the common type, which must not be bool
  true_division,  ///< the common type where that is floating, else f32
  relational,     ///< bool
  bitwise,        ///< the type, which both operands must have: integers and bool
  select          ///< the common type, any
};

/// The common type of two types. Equal types have themselves in common; across categories (bool < integers <
/// floating) it is the type of the higher one; two signed, two unsigned or two floating types have the wider
/// one. Signed with unsigned integers, f16 with bf16, and tf32, e4m3fn, e5m2 and b128 with any other type are
/// Error{promotion}, which names `operation`, both types and a way out.
RELAYOUT_API DType common_type(DType a, DType b, const char* operation = "common_type");
/// The common type of a tensor and a constant: the tensor's, unless the constant is of a higher category;
/// then it is the constant's dtype(). Error{literal_range} for an integer that the tensor's integer type does
/// not hold.
RELAYOUT_API DType common_type(DType a, const Literal& b, const char* operation = "common_type");
/// The category of two constants together: the higher one.
constexpr Literal::Kind common_kind(const Literal& a, const Literal& b) noexcept {
  return a.kind() < b.kind() ? b.kind() : a.kind();
}

/// The result's type, as element-wise operations have it. Errors, in the order of their checks: dtype for
/// tf32, e4m3fn, e5m2 and b128 in anything but select; those of common_type, and promotion for bitwise
/// operands of two types; dtype for bool in arithmetic and for floating types in bitwise.
RELAYOUT_API DType result_type(OperationClass operation_class, DType a, DType b,
                               const char* operation = "result_type");
/// The same for a tensor and a constant.
RELAYOUT_API DType result_type(OperationClass operation_class, DType a, const Literal& b,
                               const char* operation = "result_type");

}  // namespace relayout
