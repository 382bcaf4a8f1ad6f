#include "relayout/elementwise.hpp"

#include "host/api/checks.hpp"
#include "host/api/elementwise_plan.hpp"
#include "host/api/plan_checks.hpp"
#include "host/plan/elementwise/elementwise_nest.hpp"
#include "host/plan/plan_words.hpp"
#include "relayout/quantized.hpp"

namespace relayout {
namespace {

void run_now(const Stream& stream, const ElementwiseCall& call) {
  const ElementwisePlan::State state = plan_elementwise_of(stream.device(), call);
  const std::vector<const void*> inputs = planned_inputs(state);
  check_elementwise_memory(state, inputs, state.out.data());
  launch_elementwise(stream, state, inputs, state.out.data());
}

ElementwisePlan keep(const PlanTarget& target, const ElementwiseCall& call) {
  return ElementwisePlan(kept(plan_elementwise_of(target, call)));
}

/// The call that a function on codes makes: one operation, or none for a conversion.
ElementwiseCall quantized_call(const char* name, const std::vector<Step>& steps,
                               const std::vector<Operand>& operands, const Output& out) {
  static const ElementwiseOptions options;
  return {steps.empty() ? name : "quantized " + name_of(steps),
          steps,
          operands,
          out,
          options,
          true,
          steps.empty()};
}

}  // namespace

void elementwise(const Stream& stream, Operation operation, const std::vector<Operand>& operands,
                 const Output& out, const ElementwiseOptions& options) {
  chain(stream, Program({Step(operation)}), operands, out, options);
}

ElementwisePlan plan_elementwise(const PlanTarget& target, Operation operation,
                                 const std::vector<Operand>& operands, const Output& out,
                                 const ElementwiseOptions& options) {
  return plan_chain(target, Program({Step(operation)}), operands, out, options);
}

void chain(const Stream& stream, const Program& program, const std::vector<Operand>& operands,
           const Output& out, const ElementwiseOptions& options) {
  run_now(stream, {name_of(program.steps()), program.steps(), operands, out, options});
}

ElementwisePlan plan_chain(const PlanTarget& target, const Program& program,
                           const std::vector<Operand>& operands, const Output& out,
                           const ElementwiseOptions& options) {
  return keep(target, {name_of(program.steps()), program.steps(), operands, out, options});
}

void quantized(const Stream& stream, Operation operation, const std::vector<Operand>& operands,
               const Output& out) {
  run_now(stream, quantized_call("", {operation}, operands, out));
}

ElementwisePlan plan_quantized(const PlanTarget& target, Operation operation,
                               const std::vector<Operand>& operands, const Output& out) {
  return keep(target, quantized_call("", {operation}, operands, out));
}

void quantize(const Stream& stream, const TensorView& x, const QuantizedTensor& out) {
  run_now(stream, quantized_call("quantize", {}, {x}, out));
}

ElementwisePlan plan_quantize(const PlanTarget& target, const TensorView& x, const QuantizedTensor& out) {
  return keep(target, quantized_call("quantize", {}, {x}, out));
}

void dequantize(const Stream& stream, const QuantizedTensor& x, const TensorView& out) {
  run_now(stream, quantized_call("dequantize", {}, {x}, out));
}

ElementwisePlan plan_dequantize(const PlanTarget& target, const QuantizedTensor& x, const TensorView& out) {
  return keep(target, quantized_call("dequantize", {}, {x}, out));
}

void ElementwisePlan::run(const Stream& stream) const {
  run(stream, planned_inputs(*state_), state_->out.data());
}

void ElementwisePlan::run(const Stream& stream, const std::vector<const void*>& inputs, void* out) const {
  state_->target.check(state_->name, stream);
  check_elementwise_memory(*state_, inputs, out);
  launch_elementwise(stream, *state_, inputs, out);
}

DType ElementwisePlan::common_type() const noexcept { return state_->types.common; }
DType ElementwisePlan::result_type() const noexcept { return state_->types.result; }

std::string ElementwisePlan::explain() const {
  const State& state = *state_;
  plan::SentenceStream text;
  text << state.name << " in " << name_of(state.types.common) << ", to " << name_of(state.out.dtype())
       << (state.params.out_coded ? " codes" : "") << ".\n";
  if (state.out.elements() == 0) return text.str() + "No elements: nothing to do.\n";
  text << "Loop nest: extents " << to_string(state.nest.extents) << ", the output's strides "
       << to_string(state.nest.strides[0]);
  for (std::size_t t = 0; t < state.tensors.size(); ++t)
    text << ", tensor " << t + 1 << "'s (" << name_of(state.tensors[t].dtype()) << ") "
         << to_string(state.nest.strides[t + 1]);
  text << ".\n";
  if (state.target.is_native()) return text.str() + "Native code, pieces of rows.\n";
  const std::vector<const void*> inputs = planned_inputs(state);
  const char* const obstacle = obstacle_to_table(state, inputs, state.out.data());
  if (obstacle == nullptr) {
    text << "Table of 256 bytes: the processor has computed all results, and a copy looks them up.\n"
         << plan::explain_copy(*state.table_copy, state.tensors[0], state.out, state.target.name(),
                               state.target.properties(), {});
    return text.str();
  }
  text << plan::explain_kernel(state.target.properties(), launch_params(state, inputs, state.out.data()));
  if (has_codes(state.params)) text << " Not a table of bytes: " << obstacle << ".";
  return text.str() + "\n";
}

}  // namespace relayout
