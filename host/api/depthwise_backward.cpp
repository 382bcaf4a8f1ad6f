#include "relayout/depthwise_backward.hpp"

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "core/bytes.hpp"
#include "core/kernel_table.hpp"
#include "host/api/checks.hpp"
#include "host/api/depthwise.hpp"
#include "host/api/depthwise_checks.hpp"
#include "host/api/plan_checks.hpp"
#include "host/api/planned_for.hpp"
#include "host/plan/depthwise/depthwise_backward_plan.hpp"
#include "host/plan/plan_words.hpp"
#include "relayout/error.hpp"

namespace relayout {
namespace {

constexpr const char* kOperation = "depthwise_conv1d_backward";

/// Checks everything but memory, and plans.
DepthwiseBackwardParams planned(bool native, const DeviceProperties& device, const DepthwiseForward& forward,
                                const DepthwiseGradients& d) {
  const DepthwiseCheck check(kOperation);
  const TensorView& in = forward.in;
  const std::int64_t taps = check.backward_operands(in, forward.weights, forward.bias, forward.activation);
  const Dims state_shape{in.extent(0), in.extent(1), taps - 1};
  check.signal("the gradient of the output", d.d_out, in, in.shape());
  check.signal("the gradient of the input", d.d_in, in, in.shape());
  const std::vector<std::pair<const char*, const TensorView*>> states{
      {"the initial state", &forward.initial_state},
      {"the gradient of the final state", &d.d_final_state},
      {"the gradient of the initial state", &d.d_initial_state}};
  for (const auto& [name, state] : states)
    if (is_given(*state)) check.signal(name, *state, in, state_shape);
  if (is_given(forward.sequence_ids)) check.sequence_ids(forward.sequence_ids, in, states);
  if (is_given(d.d_weights))
    check.number("the gradient of the weights", d.d_weights, forward.weights.shape());
  if (is_given(d.d_bias)) check.number("the gradient of the bias", d.d_bias, {in.extent(1)});

  DepthwiseBackwardParams p;
  p.forward = depthwise_params(in, forward.weights, forward.bias, forward.activation, TensorView());
  if (is_given(forward.initial_state) && taps > 1) set_initial_state(p.forward, forward.initial_state);
  if (is_given(forward.sequence_ids)) set_sequence_ids(p.forward, forward.sequence_ids);
  p.warp_size = device.warp_size;
  p.has_ids = is_given(forward.sequence_ids);
  p.wants_sums = is_given(d.d_weights) || is_given(d.d_bias);
  const auto set_signal = [](const TensorView& view, auto& data, std::int64_t& batch, std::int64_t& channel,
                             std::int64_t& time) {
    data = view.data();
    batch = used_stride(view, 0);
    channel = used_stride(view, 1);
    time = used_stride(view, 2);
  };
  set_signal(d.d_out, p.d_out, p.d_out_batch, p.d_out_channel, p.d_out_time);
  set_signal(d.d_in, p.d_in, p.d_in_batch, p.d_in_channel, p.d_in_time);
  if (is_given(d.d_final_state) && taps > 1)
    set_signal(d.d_final_state, p.d_final, p.d_final_batch, p.d_final_channel, p.d_final_time);
  if (is_given(d.d_initial_state) && taps > 1) {
    p.wants_initial = true;
    set_signal(d.d_initial_state, p.d_initial, p.d_initial_batch, p.d_initial_channel, p.d_initial_time);
  }
  if (is_given(d.d_weights)) {
    p.d_weights = d.d_weights.data();
    p.d_weights_type = d.d_weights.dtype();
    p.d_weight_channel = used_stride(d.d_weights, 0);
    p.d_weight_tap = used_stride(d.d_weights, 1);
  }
  if (is_given(d.d_bias)) {
    p.d_bias = d.d_bias.data();
    p.d_bias_type = d.d_bias.dtype();
    p.d_bias_channel = used_stride(d.d_bias, 0);
  }
  for (const TensorView* view : {&in, &forward.weights, &d.d_out, &d.d_in})
    check_reach(kOperation, "the input", *view);
  plan::plan_depthwise_backward(native, p);
  if (plan::depthwise_backward_workspace(p) < 0) {
    check.fail(ErrorCode::invalid_shape, "the sums for the weights " + forward.weights.to_string() + " and " +
                                             in.to_string() + " take more bytes than any memory has");
  }
  return p;
}

/// The views of one call.
struct BackwardViews {
  DepthwiseForward forward;
  DepthwiseGradients gradients;
  TensorView workspace;

  void check_memory(Pointers pointers) const {
    const DepthwiseForward& f = forward;
    const DepthwiseGradients& d = gradients;
    DepthwiseCheck(kOperation)
        .memory({&f.in, &f.weights, &f.bias, &f.initial_state, &f.sequence_ids, &d.d_out, &d.d_final_state},
                {&d.d_in, &d.d_weights, &d.d_bias, &d.d_initial_state, &workspace}, pointers);
  }
};

/// The workspace that the pass uses, as f32; a default view where it needs none.
TensorView used_workspace(const DepthwiseBackwardParams& p, const TensorView& workspace) {
  const std::int64_t wanted = plan::depthwise_backward_workspace(p);
  if (wanted == 0) return TensorView();
  const DepthwiseCheck check(kOperation);
  const std::string needs = "needs a workspace of " + plan::plural(wanted, "byte");
  if (!is_given(workspace)) check.fail(ErrorCode::invalid_argument, needs);
  if (!workspace.is_contiguous())
    check.fail(ErrorCode::invalid_argument, needs + ", and " + workspace.to_string() + " is not contiguous");
  const std::int64_t bytes = bytes_of(workspace);
  if (bytes < wanted)
    check.fail(ErrorCode::invalid_argument,
               needs + ", and " + workspace.to_string() + " has " + plan::plural(bytes, "byte"));
  return TensorView(workspace.data(), DType::f32, {wanted / static_cast<std::int64_t>(sizeof(float))});
}

void launch_backward(const Stream& stream, DepthwiseBackwardParams p, void* workspace) {
  if (p.kernel == DepthwiseBackwardKernel::nothing) return;
  plan::set_depthwise_backward_workspace(workspace, p);
  kernels_of(stream).depthwise_backward(context_of(stream), p);
}

}  // namespace

struct DepthwiseBackwardPlan::State {
  DepthwiseBackwardParams params;
  BackwardViews views;
  PlannedFor target;
};

void DepthwiseBackwardPlan::run(const Stream& stream) const {
  const State& s = *state_;
  s.target.check(kOperation, stream);
  s.views.check_memory(Pointers::given);
  launch_backward(stream, s.params, s.views.workspace.data());
}

void DepthwiseBackwardPlan::run(const Stream& stream, const void* in, const void* d_out, void* d_in,
                                void* workspace) const {
  const State& s = *state_;
  s.target.check(kOperation, stream);
  BackwardViews views = s.views;
  views.forward.in = at_address(views.forward.in, in);
  views.gradients.d_out = at_address(views.gradients.d_out, d_out);
  views.gradients.d_in = at_address(views.gradients.d_in, d_in);
  if (is_given(views.workspace)) views.workspace = at_address(views.workspace, workspace);
  views.check_memory(Pointers::given);
  DepthwiseBackwardParams params = s.params;
  params.forward.in = in;
  params.d_out = d_out;
  params.d_in = d_in;
  launch_backward(stream, params, workspace);
}

std::size_t DepthwiseBackwardPlan::workspace_bytes() const noexcept {
  return static_cast<std::size_t>(plan::depthwise_backward_workspace(state_->params));
}

std::string DepthwiseBackwardPlan::explain() const {
  const State& s = *state_;
  const BackwardViews& v = s.views;
  return plan::heading(kOperation, {&v.forward.in, &v.forward.weights, &v.gradients.d_out}, v.gradients.d_in,
                       s.target.name(), s.target.properties()) +
         plan::explain_depthwise_backward(s.params);
}

void depthwise_conv1d_backward(const Stream& stream, const DepthwiseForward& forward,
                               const DepthwiseGradients& gradients, const TensorView& workspace) {
  const DepthwiseBackwardParams params =
      planned(is_native(stream.device()), stream.device().properties(), forward, gradients);
  const TensorView used = used_workspace(params, workspace);
  BackwardViews{forward, gradients, used}.check_memory(Pointers::given);
  launch_backward(stream, params, used.data());
}

DepthwiseBackwardPlan plan_depthwise_conv1d_backward(const PlanTarget& target,
                                                     const DepthwiseForward& forward,
                                                     const DepthwiseGradients& gradients,
                                                     const TensorView& workspace) {
  auto state = std::make_shared<DepthwiseBackwardPlan::State>();
  state->target = PlannedFor(target);
  state->params = planned(is_native(target), target.properties(), forward, gradients);
  state->views = {forward, gradients, used_workspace(state->params, workspace)};
  state->views.check_memory(Pointers::may_be_null);
  return DepthwiseBackwardPlan(std::move(state));
}

std::size_t depthwise_conv1d_backward_workspace_bytes(const PlanTarget& target,
                                                      const DepthwiseForward& forward,
                                                      const DepthwiseGradients& gradients) {
  return static_cast<std::size_t>(plan::depthwise_backward_workspace(
      planned(is_native(target), target.properties(), forward, gradients)));
}

}  // namespace relayout
