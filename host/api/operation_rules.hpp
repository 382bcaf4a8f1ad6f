// What the element-wise operations have in common: how many operands they take and of which types.
#pragma once

#include <relayout/operation.hpp>

namespace relayout {

enum class OperationKind : std::uint8_t {
  arithmetic,  // integers and floating types, to the same type
  floating,    // floating types, to the same type; bool and integers are made f32 first
  bits,        // integers and bool, to the same type
  shift,       // integers, to the same type
  relational,  // any type with arithmetic, and bool, to bool
  predicate,   // floating types, to bool; bool and integers are made f32 first
  logical,     // operands of any types, each made bool on its own, to bool
  select       // the first operand made bool; the others of any one type, to the same type
};

constexpr bool gives_bool(OperationKind kind) noexcept {
  return kind == OperationKind::relational || kind == OperationKind::predicate ||
         kind == OperationKind::logical;
}

struct OperationRule {
  const char* name;
  int operands;
  OperationKind kind;
  const char* meaning;
};

const OperationRule& rule_of(Operation operation) noexcept;

}  // namespace relayout
