#include "relayout/depthwise.hpp"

#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "core/kernel_table.hpp"
#include "host/api/checks.hpp"
#include "host/api/depthwise.hpp"
#include "host/api/depthwise_checks.hpp"
#include "host/api/plan_checks.hpp"
#include "host/plan/depthwise/depthwise_plan.hpp"
#include "host/plan/plan_words.hpp"
#include "relayout/error.hpp"

namespace relayout {
namespace {

constexpr const char *kConv = "depthwise_conv1d", *kUpdate = "depthwise_update";

void set_state(DepthwiseParams& params, const TensorView& state) {
  params.state = state.data();
  params.state_length = state.extent(2);
  params.state_batch = used_stride(state, 0);
  params.state_channel = used_stride(state, 1);
  params.state_time = used_stride(state, 2);
}

/// The views of one call: in, out, and what else was given.
struct DepthwiseViews {
  TensorView in, out;
  std::vector<TensorView> inputs, outputs;
};

/// Checks everything but memory.
DepthwiseParams conv_problem(const TensorView& in, const TensorView& weights, const TensorView& bias,
                             Activation activation, const TensorView& initial_state, const TensorView& out,
                             const TensorView& final_state, const TensorView& sequence_ids) {
  const DepthwiseCheck check(kConv);
  const std::int64_t taps = check.common(in, weights, bias, out);
  const Dims state_shape{in.extent(0), in.extent(1), taps - 1};
  const std::vector<std::pair<const char*, const TensorView*>> states{{"the initial state", &initial_state},
                                                                      {"the final state", &final_state}};
  for (const auto& [name, state] : states)
    if (is_given(*state)) check.signal(name, *state, in, state_shape);
  if (is_given(sequence_ids)) check.sequence_ids(sequence_ids, in, states);
  const bool wants_state = is_given(final_state) && final_state.elements() > 0;
  DepthwiseParams params = depthwise_params(in, weights, bias, activation, out);
  if (is_given(initial_state)) set_initial_state(params, initial_state);
  if (wants_state) set_state(params, final_state);
  if (is_given(sequence_ids)) set_sequence_ids(params, sequence_ids);
  return params;
}

/// Checks everything but memory.
DepthwiseParams update_problem(const TensorView& state, const TensorView& samples, const TensorView& weights,
                               const TensorView& bias, Activation activation, const TensorView& out) {
  const DepthwiseCheck check(kUpdate);
  const std::int64_t taps = check.common(samples, weights, bias, out);
  check_rank(kUpdate, "the state", state, 3);
  check.same_type("the state", state, samples);
  const std::int64_t columns = state.extent(2);
  if (columns < taps - 1) {
    check.fail(ErrorCode::shape, "the state " + to_string(state.shape()) + " has fewer columns than the " +
                                     std::to_string(taps - 1) + " samples before " + std::to_string(taps) +
                                     " taps");
  }
  check.shape("the state", state, {samples.extent(0), samples.extent(1), columns});
  DepthwiseParams params = depthwise_params(samples, weights, bias, activation, out);
  params.update = true;
  set_initial_state(params, state.slice(2, columns - (taps - 1), columns));
  set_state(params, state);
  return params;
}

void launch_depthwise(const Stream& stream, const DepthwiseParams& params) {
  if (params.kernel == DepthwiseKernel::nothing) return;
  kernels_of(stream).depthwise(context_of(stream), params);
}

void run_now(const Stream& stream, DepthwiseParams& problem) {
  const Device& device = stream.device();
  plan::plan_depthwise(device.properties(), is_native(device), problem);
  launch_depthwise(stream, problem);
}

std::vector<const TensorView*> pointers_to(const std::vector<TensorView>& views, const TensorView& one) {
  std::vector<const TensorView*> pointers{&one};
  for (const TensorView& view : views) pointers.push_back(&view);
  return pointers;
}

}  // namespace

DepthwiseParams depthwise_params(const TensorView& in, const TensorView& weights, const TensorView& bias,
                                 Activation activation, const TensorView& out) {
  DepthwiseParams params;
  params.in = in.data();
  params.weights = weights.data();
  params.out = out.data();
  params.type = in.dtype();
  params.weight_type = weights.dtype();
  params.batch = in.extent(0);
  params.channels = in.extent(1);
  params.length = in.extent(2);
  params.taps = weights.extent(1);
  params.in_batch = used_stride(in, 0);
  params.in_channel = used_stride(in, 1);
  params.in_time = used_stride(in, 2);
  if (is_given(out)) {
    params.out_batch = used_stride(out, 0);
    params.out_channel = used_stride(out, 1);
    params.out_time = used_stride(out, 2);
  }
  params.weight_channel = used_stride(weights, 0);
  params.weight_tap = used_stride(weights, 1);
  if (is_given(bias)) {
    params.bias = bias.data();
    params.bias_type = bias.dtype();
    params.bias_channel = used_stride(bias, 0);
  }
  params.silu = activation == Activation::silu;
  return params;
}

void set_initial_state(DepthwiseParams& params, const TensorView& state) {
  params.initial_state = state.data();
  params.initial_batch = used_stride(state, 0);
  params.initial_channel = used_stride(state, 1);
  params.initial_time = used_stride(state, 2);
}

void set_sequence_ids(DepthwiseParams& params, const TensorView& ids) {
  params.ids = static_cast<const std::int32_t*>(ids.data());
  params.id_batch = used_stride(ids, 0);
  params.id_time = used_stride(ids, 1);
}

struct DepthwisePlan::State {
  const char* operation = "";
  DepthwiseParams params;
  DepthwiseViews views;
  std::optional<Device> device;  // none: planned from properties alone
  DeviceProperties properties;

  void check_memory(const TensorView& in, const TensorView& out, Pointers pointers) const {
    DepthwiseCheck(operation).memory(pointers_to(views.inputs, in), pointers_to(views.outputs, out),
                                     pointers);
  }
};

namespace {

DepthwisePlan keep(const char* operation, const PlanTarget& target, const DepthwiseParams& problem,
                   DepthwiseViews views) {
  auto state = std::make_shared<DepthwisePlan::State>();
  state->operation = operation;
  state->params = problem;
  state->views = std::move(views);
  if (target.device() != nullptr) state->device = *target.device();
  state->properties = target.properties();
  state->check_memory(state->views.in, state->views.out, Pointers::may_be_null);
  plan::plan_depthwise(state->properties, state->device && is_native(*state->device), state->params);
  return DepthwisePlan(std::move(state));
}

}  // namespace

void DepthwisePlan::run(const Stream& stream) const {
  check_plan_device(state_->operation, state_->device, state_->properties, stream);
  state_->check_memory(state_->views.in, state_->views.out, Pointers::given);
  launch_depthwise(stream, state_->params);
}

void DepthwisePlan::run(const Stream& stream, const void* in, void* out) const {
  const State& state = *state_;
  check_plan_device(state.operation, state.device, state.properties, stream);
  const std::int64_t alignment = plan::depthwise_alignment(state.params);
  check_plan_alignment(state.operation, "input", alignment, in);
  check_plan_alignment(state.operation, "output", alignment, out);
  state.check_memory(at_address(state.views.in, in), at_address(state.views.out, out), Pointers::given);
  DepthwiseParams params = state.params;
  params.in = in;
  params.out = out;
  launch_depthwise(stream, params);
}

std::string DepthwisePlan::explain() const {
  const State& state = *state_;
  return plan::heading(state.operation, {&state.views.in, &state.views.inputs[0]}, state.views.out,
                       state.device ? state.device->to_string() : "", state.properties) +
         plan::explain_depthwise(state.properties, state.params);
}

void depthwise_conv1d(const Stream& stream, const TensorView& in, const TensorView& weights,
                      const TensorView& bias, Activation activation, const TensorView& initial_state,
                      const TensorView& out, const TensorView& final_state, const TensorView& sequence_ids) {
  DepthwiseParams problem =
      conv_problem(in, weights, bias, activation, initial_state, out, final_state, sequence_ids);
  DepthwiseCheck(kConv).memory({&in, &weights, &bias, &initial_state, &sequence_ids}, {&out, &final_state});
  run_now(stream, problem);
}

DepthwisePlan plan_depthwise_conv1d(const PlanTarget& target, const TensorView& in, const TensorView& weights,
                                    const TensorView& bias, Activation activation,
                                    const TensorView& initial_state, const TensorView& out,
                                    const TensorView& final_state, const TensorView& sequence_ids) {
  return keep(kConv, target,
              conv_problem(in, weights, bias, activation, initial_state, out, final_state, sequence_ids),
              {in, out, {weights, bias, initial_state, sequence_ids}, {final_state}});
}

void depthwise_update(const Stream& stream, const TensorView& state, const TensorView& samples,
                      const TensorView& weights, const TensorView& bias, Activation activation,
                      const TensorView& out) {
  DepthwiseParams problem = update_problem(state, samples, weights, bias, activation, out);
  DepthwiseCheck(kUpdate).memory({&samples, &weights, &bias}, {&out, &state});
  run_now(stream, problem);
}

DepthwisePlan plan_depthwise_update(const PlanTarget& target, const TensorView& state,
                                    const TensorView& samples, const TensorView& weights,
                                    const TensorView& bias, Activation activation, const TensorView& out) {
  return keep(kUpdate, target, update_problem(state, samples, weights, bias, activation, out),
              {samples, out, {weights, bias}, {state}});
}

}  // namespace relayout
