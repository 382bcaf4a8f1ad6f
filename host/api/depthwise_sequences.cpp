// Depthwise operations on sequences, whose states and lengths only the device knows.
#include <algorithm>
#include <string>

#include "host/api/checks.hpp"
#include "host/api/depthwise.hpp"
#include "host/api/depthwise_checks.hpp"
#include "relayout/depthwise_varlen.hpp"
#include "relayout/error.hpp"

namespace relayout {
namespace {

/// The view [channels, total] as one item of a batch.
TensorView as_one_item(const TensorView& view) {
  return TensorView(view.data(), view.dtype(), {1, view.extent(0), view.extent(1)},
                    {0, view.stride(0), view.stride(1)});
}

/// A view with one number for each of `count` sequences; null where it was not given.
template <class T>
PerSequence<T> numbers_of(const DepthwiseCheck& check, const char* name, const TensorView& view, DType type,
                          std::int64_t count) {
  if (!is_given(view)) return {};
  if (view.dtype() != type) {
    check.fail(ErrorCode::dtype,
               std::string(name) + " are " + name_of(view.dtype()) + " and must be " + name_of(type));
  }
  check.shape(name, view, {count});
  // A plan's pointers may come later, but whether there are any is known now.
  return {static_cast<const T*>(view.data()), used_stride(view, 0)};
}

/// Sets which rows of the table are used: an index for each sequence, or for each of its blocks.
void set_indices(DepthwiseSequenceParams& params, const DepthwiseCheck& check, const TensorView& indices,
                 const TensorView& initial_block, const TensorView& last_block) {
  const std::int64_t batch = params.conv.batch;
  const bool has_blocks = is_given(indices) && indices.rank() == 2;
  if (has_blocks != is_given(initial_block) || has_blocks != is_given(last_block)) {
    check.fail(ErrorCode::invalid_argument,
               "initial_block and last_block go together with state indices [batch, blocks]");
  }
  if (!has_blocks) {
    params.indices = numbers_of<std::int32_t>(check, "the state indices", indices, DType::i32, batch);
    return;
  }
  if (indices.dtype() != DType::i32) {
    check.fail(ErrorCode::dtype,
               std::string("the state indices are ") + name_of(indices.dtype()) + " and must be i32");
  }
  check.shape("the state indices", indices, {batch, indices.extent(1)});
  params.indices = {static_cast<const std::int32_t*>(indices.data()), used_stride(indices, 0)};
  params.blocks = indices.extent(1);
  params.block_stride = used_stride(indices, 1);
  params.initial_block =
      numbers_of<std::int32_t>(check, "the numbers of initial_block", initial_block, DType::i32, batch);
  params.last_block =
      numbers_of<std::int32_t>(check, "the numbers of last_block", last_block, DType::i32, batch);
  if (params.blocks == 0) {
    check.fail(ErrorCode::shape, "the state indices " + to_string(indices.shape()) + " have no blocks");
  }
}

/// How many sequences there are.
std::int64_t sequences_in(const char* operation, const DepthwiseCheck& check, const TensorView& starts) {
  check_rank(operation, "query_start_loc", starts, 1);
  if (starts.extent(0) < 1) {
    check.fail(ErrorCode::shape,
               "query_start_loc has no numbers and must have one more than there are sequences");
  }
  return starts.extent(0) - 1;
}

}  // namespace

DepthwiseSequenceParams sequence_update(const TensorView& state, const TensorView& samples,
                                        const TensorView& weights, const TensorView& bias,
                                        Activation activation, const TensorView& out,
                                        const DepthwiseUpdateOptions& options) {
  constexpr const char* kOperation = "depthwise_update";
  const DepthwiseCheck check(kOperation);
  const bool has_starts = is_given(options.query_start_loc);
  if (has_starts) {
    check_rank(kOperation, "the input", samples, 2);
    check.shape("the output", out, samples.shape());
  }
  const TensorView in = has_starts ? as_one_item(samples) : samples, to = has_starts ? as_one_item(out) : out;
  const std::int64_t taps = check.common(in, weights, bias, activation, to);
  const std::int64_t batch =
      has_starts ? sequences_in(kOperation, check, options.query_start_loc) : samples.extent(0);

  DepthwiseSequenceParams params;
  params.conv = depthwise_params(in, weights, bias, activation, to);
  params.conv.update = true;
  params.conv.batch = batch;
  params.starts = numbers_of<std::int32_t>(check, "the numbers of query_start_loc", options.query_start_loc,
                                           DType::i32, batch + 1);
  set_indices(params, check, options.state_indices, options.initial_block, options.last_block);
  params.positions = numbers_of<std::int32_t>(check, "the numbers of cache_seqlens", options.cache_seqlens,
                                              DType::i32, batch);
  params.accepted = numbers_of<std::int32_t>(check, "the numbers of accepted tokens",
                                             options.num_accepted_tokens, DType::i32, batch);
  check.null_output(options.null_output);
  params.null_index = options.null_index;
  params.zero_null = options.null_output == NullOutput::zeros;

  check_rank(kOperation, "the state", state, 3);
  check.same_type("the state", state, samples);
  params.slots = is_given(options.state_indices) ? state.extent(0) : batch;
  check.shape("the state", state, {params.slots, in.extent(1), state.extent(2)});
  const bool speculates = is_given(options.num_accepted_tokens);
  if (speculates && is_given(options.cache_seqlens)) {
    check.fail(ErrorCode::invalid_argument,
               "cache_seqlens and num_accepted_tokens cannot be given together: a ring moves no columns");
  }
  if (params.blocks > 0 && is_given(options.cache_seqlens)) {
    check.fail(ErrorCode::invalid_argument,
               "cache_seqlens and blocks cannot be given together: a ring stays in its row");
  }
  const std::int64_t more =
      speculates && !has_starts && samples.extent(2) > 1 && batch > 0 ? samples.extent(2) - 1 : 0;
  if (state.extent(2) - (taps - 1) < more) {
    check.fail(ErrorCode::shape,
               "the state " + to_string(state.shape()) + " has fewer columns than the " +
                   std::to_string(taps - 1) + " samples before " + std::to_string(taps) + " taps" +
                   (more > 0 ? " and the " + std::to_string(more) + " that may not be accepted" : ""));
  }
  set_state(params.conv, state);
  return params;
}

namespace {

constexpr const char *kVarlen = "depthwise_varlen", *kStates = "depthwise_varlen_states";

/// The parameters that both operations on packed sequences have in common.
DepthwiseSequenceParams samples_of_sequences(const char* operation, const DepthwiseCheck& check,
                                             const DepthwiseParams& conv, const TensorView& starts) {
  DepthwiseSequenceParams params;
  params.conv = conv;
  params.conv.batch = sequences_in(operation, check, starts);
  params.starts = numbers_of<std::int32_t>(check, "the numbers of query_start_loc", starts, DType::i32,
                                           params.conv.batch + 1);
  params.slots = params.conv.batch;
  return params;
}

/// Checks everything but memory.
DepthwiseSequenceParams varlen_problem(const TensorView& in, const TensorView& starts,
                                       const TensorView& weights, const TensorView& bias,
                                       Activation activation, const TensorView& states, const TensorView& out,
                                       const DepthwiseVarlenOptions& options) {
  const DepthwiseCheck check(kVarlen);
  check_rank(kVarlen, "the input", in, 2);
  check.shape("the output", out, in.shape());
  const TensorView signal = as_one_item(in), to = as_one_item(out);
  const std::int64_t taps = check.common(signal, weights, bias, activation, to);
  DepthwiseSequenceParams params =
      samples_of_sequences(kVarlen, check, depthwise_params(signal, weights, bias, activation, to), starts);
  params.task = DepthwiseSequenceTask::varlen;
  const std::int64_t batch = params.conv.batch;
  if (!is_given(states)) {
    const bool of_states = is_given(options.state_indices) || is_given(options.has_initial_state) ||
                           is_given(options.initial_block) || is_given(options.last_block) ||
                           is_given(options.first_block) || is_given(options.computed_tokens);
    if (of_states || options.block_size != 0) {
      check.fail(ErrorCode::invalid_argument,
                 "state indices, initial states and blocks need states, and there are none");
    }
    return params;
  }
  set_indices(params, check, options.state_indices, options.initial_block, options.last_block);
  const bool is_bool = options.has_initial_state.dtype() == DType::bool_;
  params.has_initial =
      numbers_of<std::uint8_t>(check, "the numbers of has_initial_state", options.has_initial_state,
                               is_bool ? DType::bool_ : DType::u8, batch);
  check.null_output(options.null_output);
  params.null_index = options.null_index;
  params.zero_null = options.null_output == NullOutput::zeros;
  check_rank(kVarlen, "the table of states", states, 3);
  check.same_type("the table of states", states, in);
  if (is_given(options.state_indices)) params.slots = states.extent(0);
  check.shape("the table of states", states, {params.slots, in.extent(0), taps - 1});
  const bool has_size = options.block_size != 0;
  if (has_size != is_given(options.first_block) || has_size != is_given(options.computed_tokens) ||
      (has_size && (params.blocks == 0 || options.block_size < std::max<std::int64_t>(1, taps - 1)))) {
    check.fail(ErrorCode::invalid_argument,
               "a block size of at least taps-1 goes together with first_block, computed_tokens and state "
               "indices [batch, blocks]; it is " +
                   std::to_string(options.block_size));
  }
  params.block_size = options.block_size;
  params.first_block =
      numbers_of<std::int32_t>(check, "the numbers of first_block", options.first_block, DType::i32, batch);
  params.computed = numbers_of<std::int32_t>(check, "the numbers of computed tokens", options.computed_tokens,
                                             DType::i32, batch);
  set_state(params.conv, states);
  return params;
}

/// Checks everything but memory.
DepthwiseSequenceParams states_problem(const TensorView& in, const TensorView& starts,
                                       const TensorView& states) {
  const DepthwiseCheck check(kStates);
  check_rank(kStates, "the input", in, 2);
  check.floating_type("the input", in);
  check_rank(kStates, "the table of states", states, 3);
  check.same_type("the table of states", states, in);
  const TensorView signal = as_one_item(in);
  DepthwiseParams conv;
  conv.in = in.data();
  conv.type = in.dtype();
  conv.channels = in.extent(0);
  conv.length = in.extent(1);
  conv.in_channel = used_stride(signal, 1);
  conv.in_time = used_stride(signal, 2);
  DepthwiseSequenceParams params = samples_of_sequences(kStates, check, conv, starts);
  params.task = DepthwiseSequenceTask::states;
  check.shape("the table of states", states, {params.conv.batch, in.extent(0), states.extent(2)});
  set_state(params.conv, states);
  return params;
}

}  // namespace

void depthwise_varlen(const Stream& stream, const TensorView& in, const TensorView& query_start_loc,
                      const TensorView& weights, const TensorView& bias, Activation activation,
                      const TensorView& states, const TensorView& out,
                      const DepthwiseVarlenOptions& options) {
  const DepthwiseSequenceParams problem =
      varlen_problem(in, query_start_loc, weights, bias, activation, states, out, options);
  DepthwiseCheck(kVarlen).memory(
      {&in, &query_start_loc, &weights, &bias, &options.state_indices, &options.has_initial_state,
       &options.initial_block, &options.last_block, &options.first_block, &options.computed_tokens},
      {&out, &states});
  run_depthwise(stream, problem);
}

DepthwisePlan plan_depthwise_varlen(const PlanTarget& target, const TensorView& in,
                                    const TensorView& query_start_loc, const TensorView& weights,
                                    const TensorView& bias, Activation activation, const TensorView& states,
                                    const TensorView& out, const DepthwiseVarlenOptions& options) {
  return make_depthwise_plan(
      kVarlen, target, varlen_problem(in, query_start_loc, weights, bias, activation, states, out, options),
      {in,
       out,
       {weights, query_start_loc, bias, options.state_indices, options.has_initial_state,
        options.initial_block, options.last_block, options.first_block, options.computed_tokens},
       {states}});
}

void depthwise_varlen_states(const Stream& stream, const TensorView& in, const TensorView& query_start_loc,
                             const TensorView& states) {
  const DepthwiseSequenceParams problem = states_problem(in, query_start_loc, states);
  DepthwiseCheck(kStates).memory({&in, &query_start_loc}, {&states});
  run_depthwise(stream, problem);
}

DepthwisePlan plan_depthwise_varlen_states(const PlanTarget& target, const TensorView& in,
                                           const TensorView& query_start_loc, const TensorView& states) {
  return make_depthwise_plan(kStates, target, states_problem(in, query_start_loc, states),
                             {in, states, {query_start_loc}, {}});
}

}  // namespace relayout
