#include "relayout/depthwise.hpp"

#include <string>
#include <utility>
#include <vector>

#include "host/api/checks.hpp"
#include "host/api/depthwise.hpp"
#include "host/api/depthwise_checks.hpp"
#include "relayout/error.hpp"

namespace relayout {
namespace {

constexpr const char *kConv = "depthwise_conv1d", *kUpdate = "depthwise_update";

/// Checks everything but memory.
DepthwiseParams conv_problem(const TensorView& in, const TensorView& weights, const TensorView& bias,
                             Activation activation, const TensorView& initial_state, const TensorView& out,
                             const TensorView& final_state, const TensorView& sequence_ids) {
  const DepthwiseCheck check(kConv);
  const std::int64_t taps = check.common(in, weights, bias, activation, out);
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
  const std::int64_t taps = check.common(samples, weights, bias, activation, out);
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

/// The fast kernels for updates know no options, and read a sample after its output is stored.
bool is_plain(const TensorView& samples, const TensorView& out, const DepthwiseUpdateOptions& options) {
  return !is_given(options.state_indices) && !is_given(options.cache_seqlens) &&
         !is_given(options.num_accepted_tokens) && !is_given(options.query_start_loc) &&
         !is_given(options.initial_block) && !is_given(options.last_block) && !is_same_place(samples, out);
}

DepthwiseWork update_work(const TensorView& state, const TensorView& samples, const TensorView& weights,
                          const TensorView& bias, Activation activation, const TensorView& out,
                          const DepthwiseUpdateOptions& options) {
  if (is_plain(samples, out, options)) return update_problem(state, samples, weights, bias, activation, out);
  return sequence_update(state, samples, weights, bias, activation, out, options);
}

DepthwiseViews update_views(const TensorView& state, const TensorView& samples, const TensorView& weights,
                            const TensorView& bias, const TensorView& out,
                            const DepthwiseUpdateOptions& options) {
  return {samples,
          out,
          {weights, bias, options.state_indices, options.cache_seqlens, options.num_accepted_tokens,
           options.query_start_loc, options.initial_block, options.last_block},
          {state},
          !is_plain(samples, out, options)};
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

void set_state(DepthwiseParams& params, const TensorView& state) {
  params.state = state.data();
  params.state_length = state.extent(2);
  params.state_batch = used_stride(state, 0);
  params.state_channel = used_stride(state, 1);
  params.state_time = used_stride(state, 2);
}

void depthwise_conv1d(const Stream& stream, const TensorView& in, const TensorView& weights,
                      const TensorView& bias, Activation activation, const TensorView& initial_state,
                      const TensorView& out, const TensorView& final_state, const TensorView& sequence_ids) {
  const DepthwiseParams problem =
      conv_problem(in, weights, bias, activation, initial_state, out, final_state, sequence_ids);
  DepthwiseCheck(kConv).memory({&in, &weights, &bias, &initial_state, &sequence_ids}, {&out, &final_state});
  run_depthwise(stream, problem);
}

DepthwisePlan plan_depthwise_conv1d(const PlanTarget& target, const TensorView& in, const TensorView& weights,
                                    const TensorView& bias, Activation activation,
                                    const TensorView& initial_state, const TensorView& out,
                                    const TensorView& final_state, const TensorView& sequence_ids) {
  return make_depthwise_plan(
      kConv, target,
      conv_problem(in, weights, bias, activation, initial_state, out, final_state, sequence_ids),
      {in, out, {weights, bias, initial_state, sequence_ids}, {final_state}});
}

void depthwise_update(const Stream& stream, const TensorView& state, const TensorView& samples,
                      const TensorView& weights, const TensorView& bias, Activation activation,
                      const TensorView& out, const DepthwiseUpdateOptions& options) {
  const DepthwiseWork work = update_work(state, samples, weights, bias, activation, out, options);
  std::vector<const TensorView*> inputs{&weights,
                                        &bias,
                                        &options.state_indices,
                                        &options.cache_seqlens,
                                        &options.num_accepted_tokens,
                                        &options.query_start_loc,
                                        &options.initial_block,
                                        &options.last_block};
  if (!is_same_place(samples, out)) inputs.push_back(&samples);
  DepthwiseCheck(kUpdate).memory(inputs, {&out, &state});
  run_depthwise(stream, work);
}

DepthwisePlan plan_depthwise_update(const PlanTarget& target, const TensorView& state,
                                    const TensorView& samples, const TensorView& weights,
                                    const TensorView& bias, Activation activation, const TensorView& out,
                                    const DepthwiseUpdateOptions& options) {
  return make_depthwise_plan(kUpdate, target,
                             update_work(state, samples, weights, bias, activation, out, options),
                             update_views(state, samples, weights, bias, out, options));
}

}  // namespace relayout
