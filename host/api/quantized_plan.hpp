// What a QuantizedPlan keeps: views -> check -> nest -> parameters -> launch.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "core/quantized_params.hpp"
#include "host/plan/loop_nest.hpp"
#include "relayout/quantized.hpp"

namespace relayout {

struct QuantizedPlan::State {
  std::string name;                 // of the operation, for messages
  std::vector<TensorView> tensors;  // those of QuantizedParams, broadcast to the output's shape
  TensorView out;
  plan::LoopNest nest;  // operand 0: the output; then the tensors
  QuantizedParams params;
  std::optional<Device> device;  // none: planned from properties alone
  DeviceProperties properties;
};

/// One call: an operation, or a conversion (none).
struct QuantizedCall {
  std::optional<Operation> operation;
  const std::vector<QuantizedOperand>& operands;
  QuantizedOperand out;  // no constant
};

/// Checks and plans. What pointers are is checked by launch_quantized.
QuantizedPlan::State plan_quantized_of(const PlanTarget& target, const QuantizedCall& call);

/// Error{null_pointer} or {invalid_argument}; then queues the operation.
void launch_quantized(const Stream& stream, const QuantizedPlan::State& state);

}  // namespace relayout
