// The table of what is supported is true: each row is planned, on devices that are present and on ones that
// are not.
#include <gtest/gtest.h>

#include <map>
#include <string>
#include <vector>

#include "tests/support/devices.hpp"
#include "tests/support/expect_error.hpp"

namespace relayout::test {
namespace {

std::map<std::string, Operation> operations_by_name() {
  std::map<std::string, Operation> operations;
  for (int i = 0; i < kOperations; ++i) {
    const auto operation = static_cast<Operation>(i);
    operations[name_of(operation)] = operation;
  }
  return operations;
}

/// Plans the row's operation to an output of the type that it promises.
void plan_row(const SupportRow& row, const PlanTarget& target) {
  static const std::map<std::string, Operation> operations = operations_by_name();
  const auto view = [](DType type) { return TensorView(nullptr, type, {3, 5}); };
  const TensorView in = view(row.type), out = view(row.gives.value_or(DType::f32));
  if (row.operation == "copy") return static_cast<void>(plan_copy(target, in, out));
  if (row.operation == "cast") return static_cast<void>(plan_cast(target, in, out));
  if (row.operation == "fill") return static_cast<void>(plan_fill(target, 1, out));
  const Operation operation = operations.at(row.operation);
  std::vector<Operand> operands(static_cast<std::size_t>(operands_of(operation)), in);
  if (operation == Operation::where) operands[0] = view(DType::bool_);
  const ElementwisePlan plan = plan_elementwise(target, operation, operands, out);
  if (!row.supported) return;
  EXPECT_EQ(plan.result_type(), row.gives);
  EXPECT_EQ(plan.common_type(), row.computes_in);
}

void expect_true(const SupportRow& row, const PlanTarget& target) {
  SCOPED_TRACE(row.operation + " on " + name_of(row.type));
  if (row.supported) {
    EXPECT_NO_THROW(plan_row(row, target));
  } else {
    expect_error(ErrorCode::dtype, {row.operation}, [&] { plan_row(row, target); });
  }
}

TEST(SupportTest, EveryRowIsTrue) {
  const std::vector<Device> devices = test_devices();
  const DeviceProperties gpus[] = {DeviceProperties::h200(), DeviceProperties::mi300x()};
  for (const SupportRow& row : support_table()) {
    for (const Device& device : devices) {
      if (device.kind() == row.device) expect_true(row, device);
    }
    if (row.device != DeviceKind::gpu) continue;
    for (const DeviceProperties& gpu : gpus) expect_true(row, gpu);
  }
}

TEST(SupportTest, EveryOperationOnEveryTypeHasOneRow) {
  std::map<std::string, int> rows;
  for (const SupportRow& row : support_table())
    ++rows[row.operation + " " + name_of(row.type) + " " + std::to_string(static_cast<int>(row.device))];
  EXPECT_EQ(rows.size(), (kOperations + 3u) * 17 * 3);
  for (const auto& [name, count] : rows) EXPECT_EQ(count, 1) << name;
}

}  // namespace
}  // namespace relayout::test
