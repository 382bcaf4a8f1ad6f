#include "relayout/operation.hpp"

#include "host/api/operation_rules.hpp"

namespace relayout {
namespace {

using Kind = OperationKind;

constexpr OperationRule kRules[] = {
#define RELAYOUT_OPERATION(name, operands, kind, cost, meaning) {#name, operands, Kind::kind, meaning},
#include <relayout/operations.def>
};
static_assert(sizeof kRules / sizeof kRules[0] == kOperations, "a rule for every operation");

/// Calls are named before they are checked, and these functions cannot throw.
constexpr OperationRule kUnknown = {"unknown", 0, Kind::arithmetic, "unknown"};

}  // namespace

const OperationRule& rule_of(Operation operation) noexcept {
  const int row = static_cast<int>(operation);
  return row < kOperations ? kRules[row] : kUnknown;
}
const char* name_of(Operation operation) noexcept { return rule_of(operation).name; }
int operands_of(Operation operation) noexcept { return rule_of(operation).operands; }
const char* meaning_of(Operation operation) noexcept { return rule_of(operation).meaning; }

}  // namespace relayout
