#include "relayout/support.hpp"

#include "host/api/operation_rules.hpp"

namespace relayout {
namespace {

using Kind = OperationKind;

constexpr DeviceKind kDevices[] = {DeviceKind::cpu, DeviceKind::emulated, DeviceKind::gpu};
constexpr int kTypes = static_cast<int>(DType::b128) + 1;

bool has_arithmetic(DType type) { return !is_restricted(type) && type != DType::b128; }

bool takes(Kind kind, DType type) {
  switch (kind) {
    case Kind::arithmetic:
      return is_integral(type) || is_floating(type);
    case Kind::bits:
      return is_integral(type) || type == DType::bool_;
    case Kind::shift:
      return is_integral(type);
    case Kind::floating:
    case Kind::relational:
    case Kind::predicate:
    case Kind::logical:
      return has_arithmetic(type);
    case Kind::select:
      return is_castable(type);
  }
  return false;
}

SupportRow row_of(Operation operation, DType type, DeviceKind device) {
  const OperationRule& rule = rule_of(operation);
  SupportRow row{rule.name, type, device, takes(rule.kind, type), type, type};
  const bool real = rule.kind == Kind::floating || rule.kind == Kind::predicate;
  if (real && !is_floating(type)) row.computes_in = DType::f32;
  if (rule.kind == Kind::logical) row.computes_in = DType::bool_;
  row.gives = gives_bool(rule.kind) ? DType::bool_ : row.computes_in;
  return row;
}

}  // namespace

std::vector<SupportRow> support_table() {
  std::vector<SupportRow> table;
  for (const DeviceKind device : kDevices) {
    const auto add_types = [&](const auto& make) {
      for (int type = 0; type < kTypes; ++type) table.push_back(make(static_cast<DType>(type)));
    };
    add_types([&](DType type) { return SupportRow{"copy", type, device, true, type, type}; });
    add_types([&](DType type) { return SupportRow{"cast", type, device, is_castable(type), type, {}}; });
    add_types([&](DType type) { return SupportRow{"fill", type, device, is_castable(type), type, type}; });
    for (int i = 0; i < kOperations; ++i)
      add_types([&](DType type) { return row_of(static_cast<Operation>(i), type, device); });
  }
  return table;
}

}  // namespace relayout
