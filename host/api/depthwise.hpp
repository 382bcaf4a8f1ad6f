// The parameters of depthwise operations, from views that were checked, and what runs them.
#pragma once

#include <variant>
#include <vector>

#include "core/depthwise_params.hpp"
#include "core/depthwise_sequence_params.hpp"
#include "relayout/depthwise.hpp"
#include "relayout/tensor_view.hpp"

namespace relayout {

/// The parameters that the public functions have in common; a default TensorView says that there is no bias
/// or no output.
DepthwiseParams depthwise_params(const TensorView& in, const TensorView& weights, const TensorView& bias,
                                 Activation activation, const TensorView& out);

/// What a plan or a call runs.
using DepthwiseWork = std::variant<DepthwiseParams, DepthwiseSequenceParams>;

/// The views of one call: in, out, and what else was given.
struct DepthwiseViews {
  TensorView in, out;
  std::vector<TensorView> inputs, outputs;
  bool may_be_in_place = false;  // out may be in, the same view
};

/// Whether both are the same elements in the same order.
bool is_same_place(const TensorView& a, const TensorView& b);

/// Queues planned work, whose memory was checked.
void launch_depthwise(const Stream& stream, const DepthwiseParams& params);
/// Plans and queues the work, whose memory was checked.
void run_depthwise(const Stream& stream, DepthwiseWork work);
/// Checks the memory that is there, and plans.
DepthwisePlan make_depthwise_plan(const char* operation, const PlanTarget& target, const DepthwiseWork& work,
                                  DepthwiseViews views);

/// The parameters of an update whose states are found by the options, or that may run in place. Checks
/// everything but memory.
DepthwiseSequenceParams sequence_update(const TensorView& state, const TensorView& samples,
                                        const TensorView& weights, const TensorView& bias,
                                        Activation activation, const TensorView& out,
                                        const DepthwiseUpdateOptions& options);

/// The samples in front of the signal's first one, [batch, channels, taps - 1].
void set_initial_state(DepthwiseParams& params, const TensorView& state);
/// The state that receives samples.
void set_state(DepthwiseParams& params, const TensorView& state);

void set_sequence_ids(DepthwiseParams& params, const TensorView& ids);

}  // namespace relayout
