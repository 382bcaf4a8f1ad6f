// The promotion of types, for relayout/promotion.hpp and for every element-wise operation.
#pragma once

#include <optional>
#include <string>

#include "host/api/operation_rules.hpp"
#include "relayout/promotion.hpp"

namespace relayout {

/// Finds the operands' common type, in whatever order they are added. `operation` is for messages.
class Promotion {
 public:
  /// With `equal`, all types must be the same, as operations on bits need it.
  Promotion(std::string operation, bool equal) : operation_(std::move(operation)), equal_(equal) {}

  /// Errors: those of common_type.
  void add(DType type);
  void add(const Literal& literal);
  /// The tensors' type, or that of the constants where these are of a higher category or alone. Errors: those
  /// of common_type; Error{literal_range} for integers that no type holds together.
  DType common() const;

 private:
  DType type_of_constants() const;

  std::string operation_;
  bool equal_;
  std::optional<DType> type_;                // of the tensors
  std::optional<Literal::Kind> kind_;        // the highest category of the constants
  std::optional<Literal> least_, greatest_;  // integers below 0 and others that are the farthest from it
};

/// Error{dtype} for the type of an operand that no operation of the kind takes.
void check_operand_type(OperationKind kind, DType type, const std::string& operation);

/// The type that an operation of the kind works in where its operands' common type is `common`: that, or f32
/// for functions of bool and integers. Error{dtype} where it does not take it; `name` is the operation's.
DType working_type(OperationKind kind, DType common, const std::string& operation, const std::string& name);

/// The type of its result.
constexpr DType given_type(OperationKind kind, DType working) {
  return gives_bool(kind) ? DType::bool_ : working;
}

}  // namespace relayout
