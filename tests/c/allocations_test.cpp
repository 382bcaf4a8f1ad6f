// Every function of relayout.h that may allocate, with the n-th allocation failing, for each n: a status, no
// exception, no lost memory, and the next call works.
#include <relayout.h>

#include <cstdio>
#include <string>
#include <vector>

#include "tests/support/failing_allocations.hpp"

namespace {

int failures = 0;

/// call: returns a status. Runs it as it is first, so that what is kept for good is there.
template <class Call>
void check(const char* what, const Call& call) {
  for (int i = 0; i < 2; ++i) {
    if (call() == RELAYOUT_OK) continue;
    std::printf("%s: %s\n", what, relayout_last_error());
    ++failures;
    return;
  }
  for (long n = 0;; ++n) {
    const long before = alive;
    left_until_failure = n;
    const relayout_status status = call();
    const bool reached = left_until_failure < 0;
    left_until_failure = -1;
    if ((status != RELAYOUT_OK && status != RELAYOUT_OUT_OF_MEMORY) || alive > before || n > 20000) {
      std::printf("%s, allocation %ld fails: %s, %ld allocations lost\n", what, n,
                  relayout_status_name(status), alive - before);
      ++failures;
      return;
    }
    if (!reached) return;
  }
}

/// make(&plan): a function that makes a plan, which is run and explained where it was made.
template <class Make>
void check_plan(const char* what, const relayout_stream* stream, const Make& make) {
  check(what, [&] {
    relayout_plan* plan = nullptr;
    const char* text = nullptr;
    relayout_status status = make(&plan);
    if ((status == RELAYOUT_OK) != (plan != nullptr)) return static_cast<relayout_status>(RELAYOUT_INTERNAL);
    if (status == RELAYOUT_OK) status = relayout_run(plan, stream);
    if (status == RELAYOUT_OK) status = relayout_explain(plan, &text);
    relayout_plan_destroy(plan);
    return status;
  });
}

struct Tensor {
  std::vector<double> memory;
  std::vector<int64_t> shape, strides;
  relayout_tensor tensor;

  Tensor(relayout_dl_dtype dtype, std::vector<int64_t> extents, std::vector<int64_t> steps = {})
      : memory(512), shape(std::move(extents)), strides(std::move(steps)) {
    tensor = {memory.data(),
              {RELAYOUT_DL_CPU, 0},
              static_cast<int32_t>(shape.size()),
              dtype,
              shape.data(),
              strides.empty() ? nullptr : strides.data(),
              0};
  }
  Tensor(const Tensor&) = delete;
  Tensor& operator=(const Tensor&) = delete;
  const relayout_tensor* operator&() const { return &tensor; }
  relayout_operand operand() const {
    relayout_operand operand{};
    operand.tensor = &tensor;
    return operand;
  }
  relayout_operand codes() const {
    relayout_operand operand = this->operand();
    operand.kind = RELAYOUT_OPERAND_CODES;
    operand.scale = 0.5f;
    return operand;
  }
};

constexpr relayout_dl_dtype kF16{RELAYOUT_DL_FLOAT, 16, 1}, kF32{RELAYOUT_DL_FLOAT, 32, 1},
    kI32{RELAYOUT_DL_INT, 32, 1}, kI8{RELAYOUT_DL_INT, 8, 1};

void copies(const relayout_device* device, const relayout_stream* stream) {
  const Tensor in(kF16, {6, 10}), out(kF16, {10, 6}), wide(kF32, {6, 10});
  const int32_t axes[] = {1, 0};
  check("permute", [&] { return relayout_permute(stream, &in, axes, 2, &out, nullptr); });
  check("transpose", [&] { return relayout_transpose(stream, &in, &out, nullptr); });
  check("copy", [&] { return relayout_copy(stream, &in, &wide, nullptr); });
  check("contiguous", [&] { return relayout_contiguous(stream, &in, out.tensor.data); });
  check("cast", [&] { return relayout_cast(stream, &in, &wide, nullptr); });
  check_plan("plan_permute", stream, [&](relayout_plan** plan) {
    return relayout_plan_permute(device, &in, axes, 2, &out, nullptr, plan);
  });
  check_plan("plan_transpose", stream,
             [&](relayout_plan** plan) { return relayout_plan_transpose(device, &in, &out, nullptr, plan); });
  check_plan("plan_copy", stream,
             [&](relayout_plan** plan) { return relayout_plan_copy(device, &in, &wide, nullptr, plan); });
  check_plan("plan_contiguous", stream, [&](relayout_plan** plan) {
    return relayout_plan_contiguous(device, &in, out.tensor.data, plan);
  });
  check_plan("plan_cast", stream,
             [&](relayout_plan** plan) { return relayout_plan_cast(device, &in, &wide, nullptr, plan); });
  relayout_plan* plan = nullptr;
  relayout_plan_transpose(device, &in, &out, nullptr, &plan);
  const void* inputs[] = {in.tensor.data};
  check("run_on", [&] { return relayout_run_on(plan, stream, inputs, 1, out.tensor.data); });
  relayout_plan_destroy(plan);
}

void elementwise(const relayout_device* device, const relayout_stream* stream) {
  const Tensor x(kF32, {3, 20}), y(kF32, {20}), z(kF32, {3, 20}), codes(kI8, {3, 20});
  const relayout_operand operands[] = {x.operand(), y.operand()}, out = z.operand(), code = codes.codes(),
                         coded[] = {code, y.operand()};
  const relayout_step steps[] = {{"add", 0, 0}, {"relu", 0, 0}};
  relayout_dl_dtype dtype;
  int32_t ndim = 0;
  int64_t shape[32];
  check("elementwise", [&] { return relayout_elementwise(stream, "sub", operands, 2, &out, nullptr); });
  check("chain", [&] { return relayout_chain(stream, steps, 2, operands, 2, &out, nullptr); });
  check("chain_result",
        [&] { return relayout_chain_result(steps, 2, operands, 2, nullptr, &dtype, &ndim, shape); });
  check("quantized", [&] { return relayout_quantized(stream, "mul", coded, 2, &code); });
  check("quantize", [&] { return relayout_quantize(stream, &x, &code); });
  check("dequantize", [&] { return relayout_dequantize(stream, &code, &z); });
  relayout_operand one{};
  one.kind = RELAYOUT_OPERAND_FLOATING;
  one.floating = 1;
  check("fill", [&] { return relayout_fill(stream, &one, &z, nullptr); });
  check_plan("plan_elementwise", stream, [&](relayout_plan** plan) {
    return relayout_plan_elementwise(device, "sub", operands, 2, &out, nullptr, plan);
  });
  check_plan("plan_chain", stream, [&](relayout_plan** plan) {
    return relayout_plan_chain(device, steps, 2, operands, 2, &out, nullptr, plan);
  });
  check_plan("plan_quantized", stream, [&](relayout_plan** plan) {
    return relayout_plan_quantized(device, "mul", coded, 2, &code, plan);
  });
  check_plan("plan_quantize", stream,
             [&](relayout_plan** plan) { return relayout_plan_quantize(device, &x, &code, plan); });
  check_plan("plan_dequantize", stream,
             [&](relayout_plan** plan) { return relayout_plan_dequantize(device, &code, &z, plan); });
  check_plan("plan_fill", stream,
             [&](relayout_plan** plan) { return relayout_plan_fill(device, &one, &z, nullptr, plan); });
}

void windows(const relayout_device* device, const relayout_stream* stream) {
  const Tensor in(kF32, {1, 4, 9}), padded(kF32, {1, 4, 11}), rows(kF16, {9, 12}), weights(kF32, {5, 4, 3}),
      matrix(kF16, {5, 12}), y(kF16, {1, 9, 5}), result(kF16, {9, 5});
  relayout_pad_options pad;
  relayout_window_options window;
  relayout_pad_options_init(&pad, sizeof pad);
  relayout_window_options_init(&window, sizeof window);
  pad.left = 2;
  window.taps = 3;
  int64_t positions = 0;
  uint64_t bytes = 0;
  check("pad", [&] { return relayout_pad(stream, &in, &pad, &padded); });
  check("output_length", [&] { return relayout_output_length(9, &window, &pad, &positions); });
  check("img2col", [&] { return relayout_img2col(stream, &in, &window, &pad, &rows); });
  check("rearrange_weights", [&] { return relayout_rearrange_weights(stream, &weights, 0, &matrix); });
  check("gemm", [&] { return relayout_gemm(stream, &rows, &matrix, nullptr, &result, nullptr); });
  check("gemm_workspace_bytes", [&] { return relayout_gemm_workspace_bytes(device, &result, 1, &bytes); });
  check_plan("plan_pad", stream,
             [&](relayout_plan** plan) { return relayout_plan_pad(device, &in, &pad, &padded, plan); });
  check_plan("plan_img2col", stream, [&](relayout_plan** plan) {
    return relayout_plan_img2col(device, &in, &window, &pad, &rows, plan);
  });
  check_plan("plan_rearrange_weights", stream, [&](relayout_plan** plan) {
    return relayout_plan_rearrange_weights(device, &weights, 0, &matrix, plan);
  });
  check_plan("plan_gemm", stream, [&](relayout_plan** plan) {
    return relayout_plan_gemm(device, &rows, &matrix, nullptr, &result, nullptr, plan);
  });
  for (const int32_t route : {RELAYOUT_ROUTE_OPERAND, RELAYOUT_ROUTE_STRIDED_GEMM, RELAYOUT_ROUTE_DIRECT})
    check_plan("plan_conv1d", stream, [&](relayout_plan** plan) {
      return relayout_plan_conv1d(stream, &in, &weights, nullptr, &window, &pad, route, &y, plan);
    });
}

void depthwise(const relayout_device* device, const relayout_stream* stream) {
  const Tensor in(kF32, {1, 4, 9}), taps(kF32, {4, 3}), out(kF32, {1, 4, 9}), state(kF32, {1, 4, 2}),
      samples(kF32, {4, 9}), results(kF32, {4, 9}), starts(kI32, {2}), index(kI32, {1}),
      d_out(kF32, {1, 4, 9}), d_in(kF32, {1, 4, 9}), d_weights(kF32, {4, 3}), workspace(kF32, {200});
  relayout_sequence_options options;
  relayout_sequence_options_init(&options, sizeof options);
  options.state_indices = &index;
  relayout_depthwise_gradients gradients;
  relayout_depthwise_gradients_init(&gradients, sizeof gradients);
  gradients.in = &in;
  gradients.weights = &taps;
  gradients.d_out = &d_out;
  gradients.d_in = &d_in;
  gradients.d_weights = &d_weights;
  gradients.workspace = &workspace;
  uint64_t bytes = 0;
  check("depthwise_conv1d", [&] {
    return relayout_depthwise_conv1d(stream, &in, &taps, nullptr, 1, nullptr, &out, &state, nullptr);
  });
  check("depthwise_update",
        [&] { return relayout_depthwise_update(stream, &state, &in, &taps, nullptr, 1, &out); });
  check("depthwise_update_sequences", [&] {
    return relayout_depthwise_update_sequences(stream, &state, &in, &taps, nullptr, 1, &out, &options);
  });
  check("depthwise_varlen", [&] {
    return relayout_depthwise_varlen(stream, &samples, &starts, &taps, nullptr, 1, &state, &results,
                                     &options);
  });
  check("depthwise_varlen_states",
        [&] { return relayout_depthwise_varlen_states(stream, &samples, &starts, &state); });
  check("depthwise_conv1d_backward", [&] { return relayout_depthwise_conv1d_backward(stream, &gradients); });
  check("depthwise_conv1d_backward_workspace_bytes",
        [&] { return relayout_depthwise_conv1d_backward_workspace_bytes(device, &gradients, &bytes); });
  check_plan("plan_depthwise_conv1d", stream, [&](relayout_plan** plan) {
    return relayout_plan_depthwise_conv1d(device, &in, &taps, nullptr, 1, nullptr, &out, &state, nullptr,
                                          plan);
  });
  check_plan("plan_depthwise_update", stream, [&](relayout_plan** plan) {
    return relayout_plan_depthwise_update(device, &state, &in, &taps, nullptr, 1, &out, plan);
  });
  check_plan("plan_depthwise_update_sequences", stream, [&](relayout_plan** plan) {
    return relayout_plan_depthwise_update_sequences(device, &state, &in, &taps, nullptr, 1, &out, &options,
                                                    plan);
  });
  check_plan("plan_depthwise_varlen", stream, [&](relayout_plan** plan) {
    return relayout_plan_depthwise_varlen(device, &samples, &starts, &taps, nullptr, 1, &state, &results,
                                          &options, plan);
  });
  check_plan("plan_depthwise_varlen_states", stream, [&](relayout_plan** plan) {
    return relayout_plan_depthwise_varlen_states(device, &samples, &starts, &state, plan);
  });
  check_plan("plan_depthwise_conv1d_backward", stream, [&](relayout_plan** plan) {
    return relayout_plan_depthwise_conv1d_backward(device, &gradients, plan);
  });
}

/// A handle that was not made is null.
template <class Handle, class Make, class Destroy>
void check_handle(const char* what, const Make& make, const Destroy& destroy) {
  check(what, [&] {
    Handle* handle = nullptr;
    const relayout_status status = make(&handle);
    if ((status == RELAYOUT_OK) != (handle != nullptr))
      return static_cast<relayout_status>(RELAYOUT_INTERNAL);
    destroy(handle);
    return status;
  });
}

void redistributions(const relayout_device* device, const relayout_stream* stream) {
  const int64_t shape[] = {6, 10}, turned[] = {10, 6}, begins[] = {0, 0, 3, 0}, ends[] = {3, 10, 6, 10};
  const Tensor ins[] = {{kF32, {3, 10}}, {kF32, {3, 10}}}, outs[] = {{kF16, {5, 6}}, {kF16, {5, 6}}};
  const relayout_tensor in[] = {ins[0].tensor, ins[1].tensor}, out[] = {outs[0].tensor, outs[1].tensor};
  const int32_t axes[] = {1, 0};
  const auto made = [&](relayout_distribution** rows) {
    return relayout_distribution_create(2, shape, 2, begins, ends, rows);
  };
  check_handle<relayout_distribution>("distribution_create", made, relayout_distribution_destroy);
  check_handle<relayout_distribution>(
      "distribution_split",
      [&](relayout_distribution** split) { return relayout_distribution_split(2, turned, 0, 2, split); },
      relayout_distribution_destroy);
  check_handle<relayout_distribution>(
      "distribution_replicated",
      [&](relayout_distribution** all) { return relayout_distribution_replicated(2, shape, 2, all); },
      relayout_distribution_destroy);
  const relayout_stream* const streams[] = {stream, stream};
  check_handle<relayout_group>(
      "group_create", [&](relayout_group** group) { return relayout_group_create(streams, 2, group); },
      relayout_group_destroy);
  check_handle<relayout_group>(
      "group_emulated", [&](relayout_group** group) { return relayout_group_emulated(device, 2, group); },
      relayout_group_destroy);
  relayout_distribution *rows = nullptr, *columns = nullptr;
  relayout_group* group = nullptr;
  made(&rows);
  relayout_distribution_split(2, turned, 0, 2, &columns);
  relayout_group_emulated(device, 2, &group);
  int64_t begin[2], end[2];
  int32_t ranks = 0, local_ranks = 0;
  check("distribution_box", [&] { return relayout_distribution_box(rows, 1, begin, end); });
  check("group_ranks", [&] { return relayout_group_ranks(group, &ranks, &local_ranks); });
  check("group_local_rank", [&] { return relayout_group_local_rank(group, 1, &ranks); });
  check("group_set_time_limit", [&] { return relayout_group_set_time_limit(group, 10); });
  check("group_register_output", [&] {
    return relayout_group_register_output(group, out[0].data, 8);
  });  // of one process: nothing to do
  check("group_register_workspace", [&] { return relayout_group_register_workspace(group, out[0].data, 8); });
  check("group_close", [&] { return relayout_group_close(group); });
  check("group_synchronize", [&] { return relayout_group_synchronize(group); });
  check("redistribute",
        [&] { return relayout_redistribute(group, rows, in, axes, 2, columns, out, nullptr); });
  relayout_redistribute_options options;
  relayout_redistribute_options_init(&options, sizeof options);
  options.workspace_limit = 0;
  const void* const from[] = {in[0].data, in[1].data};
  void* const to[] = {out[0].data, out[1].data};
  check("plan_redistribute", [&] {
    relayout_redistribution* plan = nullptr;
    const char* text = nullptr;
    uint64_t bytes = 0;
    relayout_status status =
        relayout_plan_redistribute(group, rows, in, axes, 2, columns, out, &options, &plan);
    if ((status == RELAYOUT_OK) != (plan != nullptr)) return static_cast<relayout_status>(RELAYOUT_INTERNAL);
    if (status == RELAYOUT_OK) status = relayout_redistribution_run(plan, nullptr);
    if (status == RELAYOUT_OK) status = relayout_redistribution_run_on(plan, from, to, nullptr);
    if (status == RELAYOUT_OK) status = relayout_redistribution_workspace_bytes(plan, 1, &bytes);
    if (status == RELAYOUT_OK) status = relayout_redistribution_explain(plan, &text);
    relayout_redistribution_destroy(plan);
    return status;
  });
  relayout_distribution_destroy(rows);
  relayout_distribution_destroy(columns);
  relayout_group_destroy(group);
}

}  // namespace

int main() {
  relayout_device* none = nullptr;
  // The longest sentence: relayout_last_error() keeps its memory.
  relayout_elementwise(nullptr, std::string(4000, 'x').c_str(), nullptr, 0, nullptr, nullptr);
  relayout_device_emulated(-1, &none);
  check_handle<relayout_device>("device_cpu", relayout_device_cpu, relayout_device_destroy);
  check_handle<relayout_device>("device_best", relayout_device_best, relayout_device_destroy);
  relayout_device* device = nullptr;
  relayout_device_cpu(&device);
  check_handle<relayout_stream>(
      "stream_create", [&](relayout_stream** stream) { return relayout_stream_create(device, stream); },
      relayout_stream_destroy);
  const char* name = nullptr;
  check("device_name", [&] { return relayout_device_name(device, &name); });
  int32_t count = 0;
  check("gpu_count", [&] { return relayout_gpu_count(&count); });
  relayout_stream* stream = nullptr;
  relayout_stream_create(device, &stream);
  check("stream_synchronize", [&] { return relayout_stream_synchronize(stream); });
  copies(device, stream);
  elementwise(device, stream);
  windows(device, stream);
  depthwise(device, stream);
  redistributions(device, stream);
  relayout_stream_destroy(stream);
  relayout_device_destroy(device);
  return failures == 0 ? 0 : 1;
}
