// From a call to the function of relayout.h that plans it.
#include "bindings/python/src/call.hpp"

namespace relayout::python {

namespace {

/// The tensors of a backward pass but its output.
relayout_depthwise_gradients gradients_of(const Call& call) {
  const auto operand = [&](std::size_t i) { return call.operands[i].tensor; };
  relayout_depthwise_gradients gradients;
  check(relayout_depthwise_gradients_init(&gradients, sizeof gradients));
  gradients.in = operand(0);
  gradients.d_out = operand(1);
  gradients.workspace = operand(2);
  gradients.weights = operand(3);
  gradients.bias = operand(4);
  gradients.initial_state = operand(5);
  gradients.sequence_ids = operand(6);
  gradients.d_final_state = operand(7);
  gradients.d_weights = operand(8);
  gradients.d_bias = operand(9);
  gradients.d_initial_state = operand(10);
  gradients.silu = call.options.silu;
  return gradients;
}

}  // namespace

std::uint64_t workspace_bytes(const Call& call, const relayout_device* device) {
  if (call.op != Op::depthwise_conv1d_backward)
    fail(RELAYOUT_INVALID_ARGUMENT, "only depthwise_conv1d_backward needs a workspace");
  const relayout_depthwise_gradients gradients = gradients_of(call);
  std::uint64_t bytes = 0;
  check(relayout_depthwise_conv1d_backward_workspace_bytes(device, &gradients, &bytes));
  return bytes;
}

relayout_status plan_call(const Call& call, const relayout_device* device, const relayout_stream* stream,
                          relayout_plan** plan) {
  const Options& o = call.options;
  const auto operand = [&](std::size_t i) { return call.operands[i].tensor; };
  const auto count = static_cast<std::int32_t>(call.operands.size());
  const relayout_tensor* const out = &call.out->dl;
  relayout_sequence_options sequences{};
  if (call.op == Op::depthwise_update || call.op == Op::depthwise_varlen) {
    const relayout_status status = relayout_sequence_options_init(&sequences, sizeof sequences);
    if (status != RELAYOUT_OK) return status;
    const bool is_update = call.op == Op::depthwise_update;
    sequences.null_index = o.null_index;
    sequences.null_untouched = o.null_untouched;
    sequences.state_indices = operand(is_update ? 4 : 5);
    sequences.cache_seqlens = is_update ? operand(5) : nullptr;
    sequences.num_accepted_tokens = is_update ? operand(6) : nullptr;
    sequences.query_start_loc = is_update ? operand(7) : nullptr;
    sequences.has_initial_state = is_update ? nullptr : operand(6);
    sequences.initial_block = operand(is_update ? 8 : 7);
    sequences.last_block = operand(is_update ? 9 : 8);
    sequences.first_block = is_update ? nullptr : operand(9);
    sequences.computed_tokens = is_update ? nullptr : operand(10);
    sequences.block_size = o.block_size;
  }
  switch (call.op) {
    case Op::permute:
      return relayout_plan_permute(device, operand(0), o.axes, o.axis_count, out, &o.copy, plan);
    case Op::transpose:
      return relayout_plan_transpose(device, operand(0), out, &o.copy, plan);
    case Op::copy:
      return relayout_plan_copy(device, operand(0), out, &o.copy, plan);
    case Op::cast:
      return relayout_plan_cast(device, operand(0), out, &o.copy, plan);
    case Op::fill:
      return relayout_plan_fill(device, &call.operands[0], out, &o.copy, plan);
    case Op::quantized:
      return relayout_plan_quantized(device, call.steps[0].operation, call.operands.data(), count,
                                     &call.out_operand, plan);
    case Op::quantize:
      return relayout_plan_quantize(device, operand(0), &call.out_operand, plan);
    case Op::dequantize:
      return relayout_plan_dequantize(device, &call.operands[0], out, plan);
    case Op::pad:
      return relayout_plan_pad(device, operand(0), &o.pad, out, plan);
    case Op::img2col:
      return relayout_plan_img2col(device, operand(0), &o.window, &o.pad, out, plan);
    case Op::rearrange_weights:
      return relayout_plan_rearrange_weights(device, operand(0), o.window.channel_outer, out, plan);
    case Op::depthwise_conv1d:
      return relayout_plan_depthwise_conv1d(device, operand(0), operand(1), operand(2), o.silu, operand(3),
                                            out, operand(4), operand(5), plan);
    case Op::depthwise_update:
      return relayout_plan_depthwise_update_sequences(device, operand(0), operand(1), operand(2), operand(3),
                                                      o.silu, out, &sequences, plan);
    case Op::depthwise_varlen:
      return relayout_plan_depthwise_varlen(device, operand(0), operand(1), operand(2), operand(3), o.silu,
                                            operand(4), out, &sequences, plan);
    case Op::depthwise_varlen_states:
      return relayout_plan_depthwise_varlen_states(device, operand(0), operand(1), out, plan);
    case Op::gemm:
      return relayout_plan_gemm(device, operand(0), operand(1), operand(2), out, operand(3), plan);
    case Op::conv1d:
      return relayout_plan_conv1d(stream, operand(0), operand(1), operand(2), &o.window, &o.pad, o.route, out,
                                  plan);
    case Op::depthwise_conv1d_backward: {
      relayout_depthwise_gradients gradients = gradients_of(call);
      gradients.d_in = out;
      return relayout_plan_depthwise_conv1d_backward(device, &gradients, plan);
    }
    default:
      return relayout_plan_chain(device, call.steps.data(), static_cast<std::int32_t>(call.steps.size()),
                                 call.operands.data(), count, &call.out_operand, &o.elementwise, plan);
  }
}

}  // namespace relayout::python
