// What an ElementwisePlan keeps, and the one way of every element-wise operation: views -> check -> nest ->
// parameters -> launch.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "host/api/elementwise_types.hpp"
#include "host/api/planned_for.hpp"
#include "host/plan/copy/copy_plan.hpp"
#include "host/plan/loop_nest.hpp"

namespace relayout {

struct ElementwisePlan::State {
  std::string name;  // of the operations, for messages
  ElementwiseTypes types;
  /// The tensors that are read, over the output's shape: the operands', then scales and zero points of codes.
  std::vector<TensorView> tensors;
  int operands = 0;  // tensors of the first kind
  TensorView out;
  plan::LoopNest nest;       // operand 0: the output; no extents but {0}: nothing to do
  ElementwiseParams params;  // all but pointers, rows and kernel
  PlannedFor target;
  /// `params` with the kernel for the planned memory. Runs on other memory take that kernel, too, where their
  /// memory lies alike: choosing one takes a large part of the host's time. None for devices without kernels,
  /// and for codes.
  std::optional<ElementwiseParams> planned_params;
  /// The same as a copy with a table of bytes, for devices with kernels, where the operation is one
  /// (host/plan/elementwise/byte_table.hpp); else why it is none.
  std::optional<plan::PlannedCopy> table_copy;
  const char* no_table = "there are no codes";
};

/// "add+relu".
std::string name_of(const std::vector<Step>& steps);

/// Checks and plans. Null pointers are an error of launch_elementwise.
ElementwisePlan::State plan_elementwise_of(const PlanTarget& target, const ElementwiseCall& call);

/// A state for many runs.
std::shared_ptr<const ElementwisePlan::State> kept(ElementwisePlan::State state);

/// Sets the rest of a state that has its tensors, its output and its typed parameters.
void set_nest(const PlanTarget& target, ElementwisePlan::State& state);

/// The parameters of a run on this memory, a pointer for each operand's tensor; no rows, no kernel.
ElementwiseParams launch_params(const ElementwisePlan::State& state, const std::vector<const void*>& inputs,
                                void* out);

/// What keeps a run on this memory from being a copy with a table of bytes. Null: it is one.
const char* obstacle_to_table(const ElementwisePlan::State& state, const std::vector<const void*>& inputs,
                              const void* out);

/// Error{null_pointer}, {invalid_argument} for addresses, {partial_overlap}.
void check_elementwise_memory(const ElementwisePlan::State& state, const std::vector<const void*>& inputs,
                              void* out);

/// Queues the operation on checked memory.
void launch_elementwise(const Stream& stream, const ElementwisePlan::State& state,
                        const std::vector<const void*>& inputs, void* out);

/// The pointers of the operands' planned views.
std::vector<const void*> planned_inputs(const ElementwisePlan::State& state);

}  // namespace relayout
