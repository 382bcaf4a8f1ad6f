// What kind of operation each is, and what it takes, as relayout/operations.def says.
#pragma once

#include <cstdint>

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

constexpr OperationKind kind_of(Operation operation) noexcept {
  switch (operation) {
#define RELAYOUT_OPERATION(name, operands, kind, cost, meaning) \
  case Operation::name:                                         \
    return OperationKind::kind;
#include <relayout/operations.def>
  }
  return OperationKind::arithmetic;
}

/// How many instructions an operation takes (relayout/operations.def).
enum class OperationCost : std::uint8_t { cheap, rounded, divided, activation, costly };

constexpr OperationCost cost_of(Operation operation) {
  switch (operation) {
#define RELAYOUT_OPERATION(name, operands, kind, cost, meaning) \
  case Operation::name:                                         \
    return OperationCost::cost;
#include <relayout/operations.def>
  }
  return OperationCost::cheap;
}

}  // namespace relayout
