// Depthwise operations on sequences.
#include "bindings/c/src/handles.hpp"
#include "bindings/c/src/options.hpp"
#include "bindings/c/src/tensors.hpp"
#include "relayout/depthwise_varlen.hpp"

using namespace relayout;
using c::activation_of;
using c::guarded;
using c::optional_view;
using c::planned;
using c::view_of;

namespace {

/// What both functions of sequences take.
template <class Options>
Options state_options(const Device& on, const relayout_sequence_options& read) {
  Options all;
  all.state_indices = optional_view(on, read.state_indices, "state_indices");
  all.initial_block = optional_view(on, read.initial_block, "initial_block");
  all.last_block = optional_view(on, read.last_block, "last_block");
  all.null_index = read.null_index;
  all.null_output = read.null_untouched != 0 ? NullOutput::untouched : NullOutput::zeros;
  return all;
}

void check_absent(const relayout_tensor* tensor, const char* operation, const char* name) {
  if (tensor == nullptr) return;
  throw Error(ErrorCode::invalid_argument, std::string(operation) + ": options." + name +
                                               " is of the other function of sequences, and must be null");
}

DepthwiseUpdateOptions update_options(const Device& on, const relayout_sequence_options* options) {
  const relayout_sequence_options read = c::read_options(options, c::kSequenceDefaults);
  check_absent(read.has_initial_state, "depthwise_update", "has_initial_state");
  check_absent(read.first_block, "depthwise_update", "first_block");
  check_absent(read.computed_tokens, "depthwise_update", "computed_tokens");
  if (read.block_size != 0) {
    throw Error(ErrorCode::invalid_argument,
                "depthwise_update: options.block_size is of depthwise_varlen, and must be 0");
  }
  auto all = state_options<DepthwiseUpdateOptions>(on, read);
  all.cache_seqlens = optional_view(on, read.cache_seqlens, "cache_seqlens");
  all.num_accepted_tokens = optional_view(on, read.num_accepted_tokens, "num_accepted_tokens");
  all.query_start_loc = optional_view(on, read.query_start_loc, "query_start_loc");
  return all;
}

DepthwiseVarlenOptions varlen_options(const Device& on, const relayout_sequence_options* options) {
  const relayout_sequence_options read = c::read_options(options, c::kSequenceDefaults);
  check_absent(read.cache_seqlens, "depthwise_varlen", "cache_seqlens");
  check_absent(read.num_accepted_tokens, "depthwise_varlen", "num_accepted_tokens");
  check_absent(read.query_start_loc, "depthwise_varlen", "query_start_loc");
  auto all = state_options<DepthwiseVarlenOptions>(on, read);
  all.has_initial_state = optional_view(on, read.has_initial_state, "has_initial_state");
  all.first_block = optional_view(on, read.first_block, "first_block");
  all.computed_tokens = optional_view(on, read.computed_tokens, "computed_tokens");
  all.block_size = read.block_size;
  return all;
}

}  // namespace

extern "C" {

relayout_status relayout_depthwise_update_sequences(
    const relayout_stream* stream, const relayout_tensor* state, const relayout_tensor* samples,
    const relayout_tensor* weights, const relayout_tensor* bias, int32_t silu, const relayout_tensor* out,
    const relayout_sequence_options* options) {
  return guarded([&] {
    const Stream& on = c::stream_of(stream);
    const Device& device = on.device();
    depthwise_update(on, view_of(device, state, "state"), view_of(device, samples, "samples"),
                     view_of(device, weights, "weights"), optional_view(device, bias, "bias"),
                     activation_of(silu), view_of(device, out, "out"), update_options(device, options));
  });
}

relayout_status relayout_plan_depthwise_update_sequences(
    const relayout_device* device, const relayout_tensor* state, const relayout_tensor* samples,
    const relayout_tensor* weights, const relayout_tensor* bias, int32_t silu, const relayout_tensor* out,
    const relayout_sequence_options* options, relayout_plan** plan) {
  return planned(plan, [&] {
    const Device& on = c::device_of(device);
    return plan_depthwise_update(on, view_of(on, state, "state"), view_of(on, samples, "samples"),
                                 view_of(on, weights, "weights"), optional_view(on, bias, "bias"),
                                 activation_of(silu), view_of(on, out, "out"), update_options(on, options));
  });
}

relayout_status relayout_depthwise_varlen(const relayout_stream* stream, const relayout_tensor* in,
                                          const relayout_tensor* query_start_loc,
                                          const relayout_tensor* weights, const relayout_tensor* bias,
                                          int32_t silu, const relayout_tensor* states,
                                          const relayout_tensor* out,
                                          const relayout_sequence_options* options) {
  return guarded([&] {
    const Stream& on = c::stream_of(stream);
    const Device& device = on.device();
    depthwise_varlen(on, view_of(device, in, "in"), view_of(device, query_start_loc, "query_start_loc"),
                     view_of(device, weights, "weights"), optional_view(device, bias, "bias"),
                     activation_of(silu), optional_view(device, states, "states"),
                     view_of(device, out, "out"), varlen_options(device, options));
  });
}

relayout_status relayout_plan_depthwise_varlen(
    const relayout_device* device, const relayout_tensor* in, const relayout_tensor* query_start_loc,
    const relayout_tensor* weights, const relayout_tensor* bias, int32_t silu, const relayout_tensor* states,
    const relayout_tensor* out, const relayout_sequence_options* options, relayout_plan** plan) {
  return planned(plan, [&] {
    const Device& on = c::device_of(device);
    return plan_depthwise_varlen(on, view_of(on, in, "in"), view_of(on, query_start_loc, "query_start_loc"),
                                 view_of(on, weights, "weights"), optional_view(on, bias, "bias"),
                                 activation_of(silu), optional_view(on, states, "states"),
                                 view_of(on, out, "out"), varlen_options(on, options));
  });
}

relayout_status relayout_depthwise_varlen_states(const relayout_stream* stream, const relayout_tensor* in,
                                                 const relayout_tensor* query_start_loc,
                                                 const relayout_tensor* states) {
  return guarded([&] {
    const Stream& on = c::stream_of(stream);
    const Device& device = on.device();
    depthwise_varlen_states(on, view_of(device, in, "in"),
                            view_of(device, query_start_loc, "query_start_loc"),
                            view_of(device, states, "states"));
  });
}

relayout_status relayout_plan_depthwise_varlen_states(const relayout_device* device,
                                                      const relayout_tensor* in,
                                                      const relayout_tensor* query_start_loc,
                                                      const relayout_tensor* states, relayout_plan** plan) {
  return planned(plan, [&] {
    const Device& on = c::device_of(device);
    return plan_depthwise_varlen_states(on, view_of(on, in, "in"),
                                        view_of(on, query_start_loc, "query_start_loc"),
                                        view_of(on, states, "states"));
  });
}

}  // extern "C"
