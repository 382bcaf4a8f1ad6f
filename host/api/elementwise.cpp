#include "relayout/elementwise.hpp"

#include "host/api/checks.hpp"
#include "host/api/elementwise_plan.hpp"
#include "host/api/row_explain.hpp"

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
  return explain_rows(state_->name + " in " + name_of(state_->types.common), *state_, [this] {
    return explain_vectors("elementwise",
                           launch_params(*state_, planned_inputs(*state_), state_->out.data()));
  });
}

}  // namespace relayout
