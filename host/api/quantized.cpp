#include "relayout/quantized.hpp"

#include <sstream>

#include "host/api/checks.hpp"
#include "host/api/quantized_plan.hpp"

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
  const State& state = *state_;
  std::ostringstream text;
  text << state.name << " of 8-bit codes, to " << relayout::name_of(state.out.dtype()) << ".\n";
  if (state.out.elements() == 0) {
    text << "No elements: nothing to do.\n";
    return text.str();
  }
  text << "Loop nest: extents " << to_string(state.nest.extents) << ", the output's strides "
       << to_string(state.nest.strides[0]);
  for (std::size_t t = 0; t < state.tensors.size(); ++t)
    text << ", tensor " << t + 1 << "'s (" << relayout::name_of(state.tensors[t].dtype()) << ") "
         << to_string(state.nest.strides[t + 1]);
  text << ".\n";
  if (state.device && state.device->kind() == DeviceKind::cpu) {
    text << "Native code, pieces of rows.\n";
    return text.str();
  }
  const QuantizedParams& p = state.params;
  text << "Kernel quantized" << (p.kernel == QuantizedKernel::arithmetic ? " arithmetic: " : ": ")
       << p.vectors << " vectors of " << p.width << " elements, " << p.row_vectors << " a row"
       << (p.streaming ? ", stored past the caches" : "") << ".\n";
  return text.str();
}

}  // namespace relayout
