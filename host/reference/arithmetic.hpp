// The oracle of the element-wise operations, for one element and for whole tensors. It shares no code with
// the implementation. accuracy.hpp says how far a result may be from the oracle's.
#pragma once

#include <cmath>
#include <cstdint>
#include <stdexcept>
#include <vector>

#include "host/reference/float_arithmetic.hpp"
#include "host/reference/integer_arithmetic.hpp"
#include "host/reference/scalar.hpp"

#include <relayout/operation.hpp>

namespace relayout::reference {

/// x != 0, as the bits of a bool; a NaN is true.
inline std::uint64_t truth(DType type, std::uint64_t bits) { return exact_value(type, bits) != 0 ? 1 : 0; }

inline bool is_relational(Operation operation) {
  return operation >= Operation::equal && operation <= Operation::greater_equal;
}

/// Whether each operand is made bool on its own; logical_not is among these operations.
inline bool is_logical(Operation operation) {
  return operation == Operation::logical_and || operation == Operation::logical_or ||
         operation == Operation::logical_xor || operation == Operation::logical_not;
}

inline bool is_predicate(Operation operation) {
  return operation == Operation::isclose || operation == Operation::isnan || operation == Operation::isinf ||
         operation == Operation::isfinite;
}

/// The type of the result of an operation whose operands have the common type `common`.
inline DType result_type(Operation operation, DType common) {
  return is_relational(operation) || is_logical(operation) || is_predicate(operation) ? DType::bool_ : common;
}

inline bool logical_result(Operation operation, bool a, bool b) {
  switch (operation) {
    case Operation::logical_and:
      return a && b;
    case Operation::logical_or:
      return a || b;
    case Operation::logical_xor:
      return a != b;
    default:
      return !a;
  }
}

inline bool predicate_result(Operation operation, DType type, long double a, long double b,
                             const IsCloseTolerance& tolerance) {
  switch (operation) {
    case Operation::isclose:
      return is_close(type, a, b, tolerance);
    case Operation::isnan:
      return std::isnan(a);
    case Operation::isinf:
      return std::isinf(a);
    default:
      return std::isfinite(a);
  }
}

inline bool has_rounding(Operation operation, DType type) {
  return is_floating(type) &&
         (operation == Operation::add || operation == Operation::sub || operation == Operation::mul ||
          operation == Operation::div || operation == Operation::truediv || operation == Operation::sqrt);
}

/// One element: bits of operands of one type give bits of result_type(). The operands of logical operations,
/// and the first one of `where`, are bits of bools (truth()). An operation with fewer operands ignores the
/// others. Throws std::invalid_argument where the operation does not take the type or the rounding.
inline std::uint64_t apply(Operation operation, DType type, std::uint64_t a, std::uint64_t b = 0,
                           std::uint64_t c = 0, const IsCloseTolerance& tolerance = {},
                           Rounding rounding = Rounding::nearest_even) {
  if (is_logical(operation)) return logical_result(operation, a != 0, b != 0) ? 1 : 0;
  const bool directed = rounding != Rounding::nearest_even;
  if (directed && (rounding == Rounding::nearest_away || !has_rounding(operation, type)))
    throw std::invalid_argument("no such rounding of this operation");
  if (operation == Operation::where) {
    const std::uint64_t chosen = a != 0 ? b : c;
    return type == DType::bool_ ? truth(type, chosen) : chosen;
  }
  if (!is_floating(type) && !is_integral(type) && type != DType::bool_)
    throw std::invalid_argument("a type without arithmetic");
  if (is_floating(type)) {
    const long double x = exact_value(type, a), y = exact_value(type, b);
    if (is_relational(operation)) return related(operation, x, y) ? 1 : 0;
    if (is_predicate(operation)) return predicate_result(operation, type, x, y, tolerance) ? 1 : 0;
    return apply_to_floats(operation, type, a, b, c, rounding);
  }
  if (is_relational(operation))
    return related(operation, integer_value(type, a), integer_value(type, b)) ? 1 : 0;
  return apply_to_integers(operation, type, a, b, c);
}

/// out[i] = operation(operands[i] ...). The operands have out's shape and any castable types, and are
/// converted to `common`. The result is converted once more where out has another type.
inline void elementwise(Operation operation, const std::vector<TensorView>& operands, DType common,
                        const TensorView& out, const IsCloseTolerance& tolerance = {},
                        Rounding rounding = Rounding::nearest_even) {
  for_each_index(out.shape(), [&](const Dims& index) {
    std::uint64_t bits[3] = {};
    for (std::size_t i = 0; i < operands.size(); ++i) {
      const bool to_bool = is_logical(operation) || (operation == Operation::where && i == 0);
      const DType type = operands[i].dtype();
      const std::uint64_t element = load_bits(operands[i], index);
      bits[i] = to_bool ? truth(type, element) : convert_bits(element, type, common);
    }
    const std::uint64_t result = apply(operation, common, bits[0], bits[1], bits[2], tolerance, rounding);
    store_bits(out, index, convert_bits(result, result_type(operation, common), out.dtype()));
  });
}

}  // namespace relayout::reference
