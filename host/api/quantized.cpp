#include "relayout/quantized.hpp"

#include "host/api/checks.hpp"
#include "host/api/quantized_plan.hpp"
#include "host/api/row_explain.hpp"

namespace relayout {
namespace {

void run_now(const Stream& stream, const QuantizedCall& call) {
  launch_quantized(stream, plan_quantized_of(stream.device(), call));
}

QuantizedPlan keep(const PlanTarget& target, const QuantizedCall& call) {
  return QuantizedPlan(std::make_shared<const QuantizedPlan::State>(plan_quantized_of(target, call)));
}

}  // namespace

void quantized(const Stream& stream, Operation operation, const std::vector<QuantizedOperand>& operands,
               const QuantizedTensor& out) {
  run_now(stream, {operation, operands, out});
}

void quantized(const Stream& stream, Operation operation, const std::vector<QuantizedOperand>& operands,
               const TensorView& out) {
  run_now(stream, {operation, operands, out});
}

QuantizedPlan plan_quantized(const PlanTarget& target, Operation operation,
                             const std::vector<QuantizedOperand>& operands, const QuantizedTensor& out) {
  return keep(target, {operation, operands, out});
}

QuantizedPlan plan_quantized(const PlanTarget& target, Operation operation,
                             const std::vector<QuantizedOperand>& operands, const TensorView& out) {
  return keep(target, {operation, operands, out});
}

void quantize(const Stream& stream, const TensorView& x, const QuantizedTensor& out) {
  run_now(stream, {std::nullopt, {x}, out});
}

void dequantize(const Stream& stream, const QuantizedTensor& x, const TensorView& out) {
  run_now(stream, {std::nullopt, {x}, out});
}

void QuantizedPlan::run(const Stream& stream) const {
  check_plan_device(state_->name, state_->device, state_->properties, stream);
  launch_quantized(stream, *state_);
}

std::string QuantizedPlan::explain() const {
  return explain_rows(state_->name + " of 8-bit codes", *state_, [this] {
    const bool arithmetic = state_->params.kernel == QuantizedKernel::arithmetic;
    return explain_vectors(arithmetic ? "quantized arithmetic" : "quantized", state_->params);
  });
}

}  // namespace relayout
