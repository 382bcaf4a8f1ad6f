// What an ElementwisePlan keeps, and the one way of every element-wise operation: views -> check -> nest ->
// parameters -> launch.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "host/api/elementwise_types.hpp"
#include "host/plan/loop_nest.hpp"

namespace relayout {

struct ElementwisePlan::State {
  std::string name;  // of the operations, for messages
  ElementwiseTypes types;
  std::vector<TensorView> tensors;  // the operands', broadcast to the output's shape
  TensorView out;
  plan::LoopNest nest;           // operand 0: the output; no extents but {0}: nothing to do
  ElementwiseParams params;      // all but pointers, and what cut_rows sets
  std::optional<Device> device;  // none: planned from properties alone
  DeviceProperties properties;
};

/// Checks and plans. Null pointers are an error of launch_elementwise.
ElementwisePlan::State plan_elementwise_of(const PlanTarget& target, const std::vector<Operation>& operations,
                                           const std::vector<Operand>& operands, const TensorView& out,
                                           const ElementwiseOptions& options);

/// Of a state that has its tensors, output and typed parameters: all that is not yet set.
void set_nest(const PlanTarget& target, ElementwisePlan::State& state);

/// The parameters of a run on this memory: inputs in the order of State::tensors.
ElementwiseParams launch_params(const ElementwisePlan::State& state, const std::vector<const void*>& inputs,
                                void* out);

/// Error{null_pointer}, {invalid_argument} for addresses, {partial_overlap}.
void check_elementwise_memory(const ElementwisePlan::State& state, const std::vector<const void*>& inputs,
                              void* out);

/// Queues the operation on checked memory.
void launch_elementwise(const Stream& stream, const ElementwisePlan::State& state,
                        const std::vector<const void*>& inputs, void* out);

/// The pointers of the planned views.
std::vector<const void*> planned_inputs(const ElementwisePlan::State& state);

}  // namespace relayout
