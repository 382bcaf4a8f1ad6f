// What the element-wise operations have in common: how many operands they take and of which types.
#pragma once

#include "core/operation_kind.hpp"

namespace relayout {

struct OperationRule {
  const char* name;
  int operands;
  OperationKind kind;
  const char* meaning;
};

const OperationRule& rule_of(Operation operation) noexcept;

}  // namespace relayout
