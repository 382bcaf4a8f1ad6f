#include "relayout/elementwise.hpp"

#include <sstream>

#include "host/api/checks.hpp"
#include "host/api/elementwise_plan.hpp"

namespace relayout {
namespace {

void run_now(const Stream& stream, const std::vector<Operation>& operations,
             const std::vector<Operand>& operands, const TensorView& out, const ElementwiseOptions& options) {
  const ElementwisePlan::State state =
      plan_elementwise_of(stream.device(), operations, operands, out, options);
  const std::vector<const void*> inputs = planned_inputs(state);
  check_elementwise_memory(state, inputs, out.data());
  launch_elementwise(stream, state, inputs, out.data());
}

ElementwisePlan keep(const PlanTarget& target, const std::vector<Operation>& operations,
                     const std::vector<Operand>& operands, const TensorView& out,
                     const ElementwiseOptions& options) {
  return ElementwisePlan(std::make_shared<const ElementwisePlan::State>(
      plan_elementwise_of(target, operations, operands, out, options)));
}

}  // namespace

void elementwise(const Stream& stream, Operation operation, const std::vector<Operand>& operands,
                 const TensorView& out, const ElementwiseOptions& options) {
  run_now(stream, {operation}, operands, out, options);
}

ElementwisePlan plan_elementwise(const PlanTarget& target, Operation operation,
                                 const std::vector<Operand>& operands, const TensorView& out,
                                 const ElementwiseOptions& options) {
  return keep(target, {operation}, operands, out, options);
}

void chain(const Stream& stream, const std::vector<Operation>& operations,
           const std::vector<Operand>& operands, const TensorView& out, const ElementwiseOptions& options) {
  run_now(stream, operations, operands, out, options);
}

ElementwisePlan plan_chain(const PlanTarget& target, const std::vector<Operation>& operations,
                           const std::vector<Operand>& operands, const TensorView& out,
                           const ElementwiseOptions& options) {
  return keep(target, operations, operands, out, options);
}

void ElementwisePlan::run(const Stream& stream) const {
  run(stream, planned_inputs(*state_), state_->out.data());
}

void ElementwisePlan::run(const Stream& stream, const std::vector<const void*>& inputs, void* out) const {
  check_plan_device(state_->name, state_->device, state_->properties, stream);
  check_elementwise_memory(*state_, inputs, out);
  launch_elementwise(stream, *state_, inputs, out);
}

DType ElementwisePlan::common_type() const noexcept { return state_->types.common; }
DType ElementwisePlan::result_type() const noexcept { return state_->types.result; }

std::string ElementwisePlan::explain() const {
  const State& state = *state_;
  std::ostringstream text;
  text << state.name << " in " << name_of(state.types.common) << ", to " << name_of(state.out.dtype())
       << ".\n";
  if (state.out.elements() == 0) {
    text << "No elements: nothing to do.\n";
    return text.str();
  }
  text << "Loop nest: extents " << to_string(state.nest.extents) << ", the output's strides "
       << to_string(state.nest.strides[0]);
  for (std::size_t t = 0; t < state.tensors.size(); ++t)
    text << ", operand " << t + 1 << "'s (" << name_of(state.tensors[t].dtype()) << ") "
         << to_string(state.nest.strides[t + 1]);
  text << ".\n";
  if (state.device && state.device->kind() == DeviceKind::cpu) {
    text << "Native code, pieces of rows.\n";
    return text.str();
  }
  const ElementwiseParams p = launch_params(state, planned_inputs(state), state.out.data());
  text << "Kernel elementwise: " << p.vectors << " vectors of " << p.width << " elements, " << p.row_vectors
       << " a row" << (p.streaming ? ", stored past the caches" : "") << ".\n";
  return text.str();
}

}  // namespace relayout
