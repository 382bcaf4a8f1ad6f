/* pad, img2col, the weights, the depthwise convolution, its gradients and its update, the GEMM and the whole
 * convolution. */
#include "check.h"

static void windows(relayout_device* device, relayout_stream* stream) {
  float in[4] = {1, 2, 3, 4}, padded[7], rows[8];
  const relayout_tensor signal = tensor_of(in, kF32, 3, EXTENTS(1, 1, 4));
  const relayout_tensor to = tensor_of(padded, kF32, 3, EXTENTS(1, 1, 7));
  relayout_pad_options pad;
  relayout_window_options window;
  relayout_plan* plan = NULL;
  int64_t positions = 0;

  CHECK_OK(relayout_pad_options_init(&pad, sizeof pad));
  pad.left = 2;
  pad.right = 1;
  pad.value = 9;
  CHECK_OK(relayout_pad(stream, &signal, &pad, &to));
  CHECK(memcmp(padded, (float[]){9, 9, 1, 2, 3, 4, 9}, sizeof padded) == 0);
  pad.mode = RELAYOUT_PAD_REFLECT;
  CHECK_OK(relayout_plan_pad(device, &signal, &pad, &to, &plan));
  CHECK_OK(relayout_run(plan, stream));
  relayout_plan_destroy(plan);
  CHECK(memcmp(padded, (float[]){3, 2, 1, 2, 3, 4, 3}, sizeof padded) == 0);
  pad.mode = 6;
  CHECK_FAILS(relayout_pad(stream, &signal, &pad, &to), RELAYOUT_INVALID_ARGUMENT, "pad.mode");
  pad.mode = RELAYOUT_PAD_REFLECT;
  pad.left = 4; /* reflect needs pads below the length */
  pad.right = -1;
  CHECK_FAILS(relayout_pad(stream, &signal, &pad, &to), RELAYOUT_PAD_TOO_LARGE, "");

  CHECK_OK(relayout_pad_options_init(&pad, sizeof pad));
  CHECK_OK(relayout_window_options_init(&window, sizeof window));
  pad.left = 1;
  window.taps = 2;
  CHECK_OK(relayout_output_length(4, &window, &pad, &positions));
  CHECK(positions == 4);
  const relayout_tensor matrix = tensor_of(rows, kF32, 2, EXTENTS(4, 2));
  CHECK_OK(relayout_img2col(stream, &signal, &window, &pad, &matrix));
  CHECK(memcmp(rows, (float[]){0, 1, 1, 2, 2, 3, 3, 4}, sizeof rows) == 0);
  memset(rows, 0, sizeof rows);
  CHECK_OK(relayout_plan_img2col(device, &signal, &window, &pad, &matrix, &plan));
  CHECK_OK(relayout_run(plan, stream));
  relayout_plan_destroy(plan);
  CHECK(rows[7] == 4);
  window.taps = 0;
  CHECK_FAILS(relayout_img2col(stream, &signal, &window, &pad, &matrix), RELAYOUT_INVALID_ARGUMENT, "");

  float weights[4] = {1, 2, 3, 4}, turned[4]; /* one output, two channels, two taps */
  const relayout_tensor taps = tensor_of(weights, kF32, 3, EXTENTS(1, 2, 2));
  const relayout_tensor row = tensor_of(turned, kF32, 2, EXTENTS(1, 4));
  CHECK_OK(relayout_rearrange_weights(stream, &taps, 0, &row));
  CHECK(memcmp(turned, (float[]){1, 3, 2, 4}, sizeof turned) == 0);
  CHECK_OK(relayout_plan_rearrange_weights(device, &taps, 1, &row, &plan));
  CHECK_OK(relayout_run(plan, stream));
  relayout_plan_destroy(plan);
  CHECK(memcmp(turned, weights, sizeof turned) == 0);
}

static void depthwise(relayout_device* device, relayout_stream* stream) {
  float in[4] = {1, 2, 3, 4}, weights[2] = {10, 1}, bias[1] = {100}, out[4], last[1], first[1] = {5},
        state[1] = {4};
  int32_t ids[4] = {0, 0, 1, -1};
  const relayout_tensor signal = tensor_of(in, kF32, 3, EXTENTS(1, 1, 4)),
                        to = tensor_of(out, kF32, 3, EXTENTS(1, 1, 4));
  const relayout_tensor taps = tensor_of(weights, kF32, 2, EXTENTS(1, 2)),
                        shift = tensor_of(bias, kF32, 1, EXTENTS(1));
  const relayout_tensor begin = tensor_of(first, kF32, 3, EXTENTS(1, 1, 1)),
                        end = tensor_of(last, kF32, 3, EXTENTS(1, 1, 1));
  const relayout_tensor names = tensor_of(ids, kI32, 2, EXTENTS(1, 4));
  relayout_plan* plan = NULL;

  CHECK_OK(relayout_depthwise_conv1d(stream, &signal, &taps, NULL, 0, NULL, &to, NULL, NULL));
  CHECK(memcmp(out, (float[]){1, 12, 23, 34}, sizeof out) == 0);
  CHECK_OK(relayout_plan_depthwise_conv1d(device, &signal, &taps, &shift, 0, &begin, &to, &end, NULL, &plan));
  CHECK_OK(relayout_run(plan, stream));
  relayout_plan_destroy(plan);
  CHECK(memcmp(out, (float[]){151, 112, 123, 134}, sizeof out) == 0);
  CHECK(last[0] == 4);
  CHECK_OK(relayout_depthwise_conv1d(stream, &signal, &taps, NULL, 0, NULL, &to, NULL, &names));
  CHECK(memcmp(out, (float[]){1, 12, 3, 0}, sizeof out) == 0);
  const relayout_tensor no_axes = tensor_of(bias, kF32, 0, NULL);
  CHECK_FAILS(relayout_depthwise_conv1d(stream, &signal, &taps, &no_axes, 0, NULL, &to, NULL, NULL),
              RELAYOUT_RANK, "bias has no axes");

  const relayout_tensor cache = tensor_of(state, kF32, 3, EXTENTS(1, 1, 1));
  const relayout_tensor sample = tensor_of(in, kF32, 3, EXTENTS(1, 1, 1)),
                        one = tensor_of(out, kF32, 3, EXTENTS(1, 1, 1));
  CHECK_OK(relayout_depthwise_update(stream, &cache, &sample, &taps, NULL, 0, &one));
  CHECK(out[0] == 41 && state[0] == 1);
  CHECK_OK(relayout_plan_depthwise_update(device, &cache, &sample, &taps, &shift, 0, &one, &plan));
  const void* inputs[1] = {&in[1]};
  CHECK_OK(relayout_run_on(plan, stream, inputs, 1, out));
  relayout_plan_destroy(plan);
  CHECK(out[0] == 112 && state[0] == 2);
}

static void sequences(relayout_device* device, relayout_stream* stream) {
  float in[6] = {1, 2, 3, 4, 5, 6}, weights[2] = {10, 1}, out[6] = {0}, states[3] = {7, 8, 9}, last[4];
  int32_t starts[3] = {0, 2, 5}, rows[2] = {2, 0}, places[2] = {0, 1};
  uint8_t flags[2] = {1, 0};
  const relayout_tensor signal = tensor_of(in, kF32, 2, EXTENTS(1, 6)),
                        to = tensor_of(out, kF32, 2, EXTENTS(1, 6));
  const relayout_tensor taps = tensor_of(weights, kF32, 2, EXTENTS(1, 2)),
                        table = tensor_of(states, kF32, 3, EXTENTS(3, 1, 1)),
                        ends = tensor_of(last, kF32, 3, EXTENTS(2, 1, 2));
  const relayout_tensor begins = tensor_of(starts, kI32, 1, EXTENTS(3)),
                        slots = tensor_of(rows, kI32, 1, EXTENTS(2)),
                        ring = tensor_of(places, kI32, 1, EXTENTS(2)),
                        initial =
                            tensor_of(flags, (relayout_dl_dtype){RELAYOUT_DL_UINT, 8, 1}, 1, EXTENTS(2));
  relayout_sequence_options options;
  relayout_plan* plan = NULL;
  CHECK_OK(relayout_sequence_options_init(&options, sizeof options));
  options.state_indices = &slots;
  options.has_initial_state = &initial;
  CHECK_OK(relayout_depthwise_varlen(stream, &signal, &begins, &taps, NULL, 0, &table, &to, &options));
  CHECK(memcmp(out, (float[]){91, 12, 3, 34, 45, 0}, sizeof out) == 0);
  CHECK(memcmp(states, (float[]){5, 8, 2}, sizeof states) == 0);
  CHECK_OK(relayout_plan_depthwise_varlen(device, &signal, &begins, &taps, NULL, 0, NULL, &to, NULL, &plan));
  CHECK_OK(relayout_run(plan, stream));
  relayout_plan_destroy(plan);
  CHECK(memcmp(out, (float[]){1, 12, 3, 34, 45, 0}, sizeof out) == 0);

  CHECK_OK(relayout_depthwise_varlen_states(stream, &signal, &begins, &ends));
  CHECK(memcmp(last, (float[]){1, 2, 4, 5}, sizeof last) == 0);
  CHECK_OK(relayout_plan_depthwise_varlen_states(device, &signal, &begins, &ends, &plan));
  last[0] = 0;
  CHECK_OK(relayout_run(plan, stream));
  relayout_plan_destroy(plan);
  CHECK(last[0] == 1);

  /* Rows 2 and 0 hold 2 and 5; in place, as rings of one column. */
  const relayout_tensor samples = tensor_of(in, kF32, 3, EXTENTS(2, 1, 1));
  CHECK_FAILS(
      relayout_depthwise_update_sequences(stream, &table, &samples, &taps, NULL, 0, &samples, &options),
      RELAYOUT_INVALID_ARGUMENT, "has_initial_state");
  options.has_initial_state = NULL;
  options.cache_seqlens = &ring;
  CHECK_OK(relayout_depthwise_update_sequences(stream, &table, &samples, &taps, NULL, 0, &samples, &options));
  CHECK(in[0] == 21 && in[1] == 52 && states[2] == 1 && states[0] == 2);
  options.null_index = 2;
  CHECK_OK(relayout_plan_depthwise_update_sequences(device, &table, &samples, &taps, NULL, 0, &samples,
                                                    &options, &plan));
  CHECK_OK(relayout_run(plan, stream));
  relayout_plan_destroy(plan);
  CHECK(in[0] == 0 && in[1] == 72 && states[2] == 1 && states[0] == 52);
}

/* Five samples behind one, in blocks of two: the states at two ends of blocks and the last one, then an
 * update. */
static void blocks(relayout_device* device, relayout_stream* stream) {
  float in[5] = {2, 3, 4, 5, 6}, weights[2] = {10, 1}, out[5] = {0}, states[4] = {1, 0, 0, 0};
  int32_t starts[2] = {0, 5}, rows[3] = {0, 3, 1}, numbers[3] = {0, 1, 2};
  uint8_t flag = 1;
  const relayout_tensor signal = tensor_of(in, kF32, 2, EXTENTS(1, 5)),
                        to = tensor_of(out, kF32, 2, EXTENTS(1, 5));
  const relayout_tensor taps = tensor_of(weights, kF32, 2, EXTENTS(1, 2)),
                        table = tensor_of(states, kF32, 3, EXTENTS(4, 1, 1));
  const relayout_tensor begins = tensor_of(starts, kI32, 1, EXTENTS(2)),
                        row_table = tensor_of(rows, kI32, 2, EXTENTS(1, 3)),
                        zero = tensor_of(&numbers[0], kI32, 1, EXTENTS(1)),
                        one = tensor_of(&numbers[1], kI32, 1, EXTENTS(1)),
                        two = tensor_of(&numbers[2], kI32, 1, EXTENTS(1)),
                        initial =
                            tensor_of(&flag, (relayout_dl_dtype){RELAYOUT_DL_UINT, 8, 1}, 1, EXTENTS(1));
  relayout_sequence_options options;
  relayout_plan* plan = NULL;
  CHECK_OK(relayout_sequence_options_init(&options, sizeof options));
  options.state_indices = &row_table;
  options.has_initial_state = &initial;
  options.initial_block = options.first_block = &zero;
  options.last_block = &two;
  options.computed_tokens = &one;
  options.block_size = 2;
  CHECK_OK(
      relayout_plan_depthwise_varlen(device, &signal, &begins, &taps, NULL, 0, &table, &to, &options, &plan));
  CHECK_OK(relayout_run(plan, stream));
  relayout_plan_destroy(plan);
  CHECK(memcmp(out, (float[]){12, 23, 34, 45, 56}, sizeof out) == 0);
  CHECK(memcmp(states, (float[]){2, 6, 0, 4}, sizeof states) == 0);

  const relayout_tensor sample = tensor_of(in, kF32, 3, EXTENTS(1, 1, 1)),
                        result = tensor_of(out, kF32, 3, EXTENTS(1, 1, 1));
  options.has_initial_state = NULL;
  CHECK_FAILS(relayout_depthwise_update_sequences(stream, &table, &sample, &taps, NULL, 0, &result, &options),
              RELAYOUT_INVALID_ARGUMENT, "first_block");
  options.first_block = options.computed_tokens = NULL;
  CHECK_FAILS(relayout_depthwise_update_sequences(stream, &table, &sample, &taps, NULL, 0, &result, &options),
              RELAYOUT_INVALID_ARGUMENT, "block_size");
  options.block_size = 0;
  options.initial_block = &two;
  options.last_block = &one;
  CHECK_OK(relayout_depthwise_update_sequences(stream, &table, &sample, &taps, NULL, 0, &result, &options));
  CHECK(out[0] == 62 && memcmp(states, (float[]){2, 6, 0, 2}, sizeof states) == 0);
}

static void depthwise_backward(relayout_device* device, relayout_stream* stream) {
  float in[3] = {1, 2, 3}, weights[2] = {10, 100}, first[1] = {7}, d_out[3] = {1, -1, 2}, d_last[1] = {0.5f},
        d_in[3], d_weights[2], d_bias[1], d_first[1], space[64];
  const relayout_tensor signal = tensor_of(in, kF32, 3, EXTENTS(1, 1, 3)),
                        gradient = tensor_of(d_out, kF32, 3, EXTENTS(1, 1, 3)),
                        to = tensor_of(d_in, kF32, 3, EXTENTS(1, 1, 3));
  const relayout_tensor taps = tensor_of(weights, kF32, 2, EXTENTS(1, 2)),
                        d_taps = tensor_of(d_weights, kF32, 2, EXTENTS(1, 2)),
                        d_shift = tensor_of(d_bias, kF32, 1, EXTENTS(1));
  const relayout_tensor begin = tensor_of(first, kF32, 3, EXTENTS(1, 1, 1)),
                        d_begin = tensor_of(d_first, kF32, 3, EXTENTS(1, 1, 1)),
                        d_end = tensor_of(d_last, kF32, 3, EXTENTS(1, 1, 1));
  const relayout_tensor workspace = tensor_of(space, kF32, 1, EXTENTS(64));
  uint64_t bytes = 0;
  relayout_plan* plan = NULL;
  relayout_depthwise_gradients g;

  CHECK_OK(relayout_depthwise_gradients_init(&g, sizeof g));
  g.in = &signal;
  g.weights = &taps;
  g.initial_state = &begin;
  g.d_out = &gradient;
  g.d_final_state = &d_end;
  g.d_weights = &d_taps;
  g.d_bias = &d_shift;
  g.d_initial_state = &d_begin;
  CHECK_OK(relayout_depthwise_conv1d_backward_workspace_bytes(device, &g, &bytes));
  CHECK(bytes > 0 && bytes <= sizeof space);
  CHECK_FAILS(relayout_depthwise_conv1d_backward(stream, &g), RELAYOUT_NULL_POINTER, "d_in");
  g.d_in = &to;
  CHECK_FAILS(relayout_depthwise_conv1d_backward(stream, &g), RELAYOUT_INVALID_ARGUMENT, "workspace");
  g.workspace = &workspace;
  CHECK_OK(relayout_depthwise_conv1d_backward(stream, &g));
  CHECK(memcmp(d_in, (float[]){90, -80, 200.5f}, sizeof d_in) == 0);
  CHECK(d_weights[0] == 10 && d_weights[1] == 5 && d_bias[0] == 2 && d_first[0] == 10);

  CHECK_OK(relayout_plan_depthwise_conv1d_backward(device, &g, &plan));
  memset(d_in, 0, sizeof d_in);
  CHECK_OK(relayout_run(plan, stream));
  CHECK(d_in[2] == 200.5f);
  float other[3] = {2, -2, 4};
  const void* inputs[3] = {in, other, space};
  CHECK_FAILS(relayout_run_on(plan, stream, inputs, 2, d_in), RELAYOUT_INVALID_ARGUMENT, "3 inputs");
  CHECK_OK(relayout_run_on(plan, stream, inputs, 3, d_in));
  relayout_plan_destroy(plan);
  CHECK(d_in[2] == 400.5f && d_bias[0] == 4);
}

/* 1, 2, 3 and 4 as f16. */
static const uint16_t kOne = 0x3c00, kTwo = 0x4000, kThree = 0x4200, kFour = 0x4400;

static void matrices(relayout_device* device, relayout_stream* stream) {
  uint16_t a[4] = {kOne, kTwo, kThree, kFour}, b[4] = {kOne, kOne, kTwo, kOne}, y16[8];
  float y[4], bias[2] = {100, 200};
  const relayout_tensor ta = tensor_of(a, kF16, 2, EXTENTS(2, 2)), tb = tensor_of(b, kF16, 2, EXTENTS(2, 2));
  const relayout_tensor ty = tensor_of(y, kF32, 2, EXTENTS(2, 2)),
                        shift = tensor_of(bias, kF32, 1, EXTENTS(2));
  relayout_plan* plan = NULL;
  uint64_t bytes = 77;

  CHECK_OK(relayout_gemm(stream, &ta, &tb, &shift, &ty, NULL));
  CHECK(memcmp(y, (float[]){103, 204, 107, 210}, sizeof y) == 0);
  CHECK_OK(relayout_plan_gemm(device, &ta, &tb, NULL, &ty, NULL, &plan));
  CHECK_OK(relayout_run(plan, stream));
  relayout_plan_destroy(plan);
  CHECK(memcmp(y, (float[]){3, 4, 7, 10}, sizeof y) == 0);
  CHECK_OK(relayout_gemm_workspace_bytes(device, &ty, 1, &bytes));
  CHECK(bytes != 77);

  /* Two channels of four samples, one output of two taps: y[t] = x0[t-1] + x0[t] + 2 x1[t-1] + x1[t]. */
  uint16_t x[8] = {kOne, kTwo, kThree, kFour, kOne, kOne, kOne, kOne};
  const relayout_tensor in = tensor_of(x, kF16, 3, EXTENTS(1, 2, 4)),
                        taps = tensor_of(b, kF16, 3, EXTENTS(1, 2, 2));
  const relayout_tensor to = tensor_of(y16, kF16, 3, EXTENTS(1, 4, 1)),
                        wrong = tensor_of(y16, kF16, 3, EXTENTS(1, 3, 1));
  relayout_window_options window;
  relayout_pad_options pad;
  CHECK_OK(relayout_window_options_init(&window, sizeof window));
  CHECK_OK(relayout_pad_options_init(&pad, sizeof pad));
  window.taps = 2;
  pad.left = 1;
  for (int route = RELAYOUT_ROUTE_OPERAND; route <= RELAYOUT_ROUTE_DIRECT; ++route) {
    const void* inputs[1] = {x};
    const char* text = NULL;
    memset(y16, 0, sizeof y16);
    CHECK_OK(relayout_plan_conv1d(stream, &in, &taps, NULL, &window, &pad, route, &to, &plan));
    CHECK_OK(relayout_run(plan, stream));
    CHECK(y16[0] == kTwo && y16[1] == 0x4600 && y16[2] == 0x4800 && y16[3] == 0x4900); /* 2, 6, 8, 10 */
    CHECK_OK(relayout_run_on(plan, stream, inputs, 1, &y16[4]));
    CHECK(memcmp(y16, &y16[4], 8) == 0);
    CHECK_OK(relayout_explain(plan, &text));
    CHECK(text != NULL && strlen(text) > 20);
    relayout_plan_destroy(plan);
    CHECK_FAILS(relayout_plan_conv1d(stream, &in, &taps, NULL, &window, &pad, route, &wrong, &plan),
                RELAYOUT_SHAPE, "");
  }
  CHECK_FAILS(relayout_plan_conv1d(stream, &in, &taps, NULL, &window, &pad, 3, &to, &plan),
              RELAYOUT_INVALID_ARGUMENT, "route is 3");
  CHECK_FAILS(relayout_plan_conv1d(stream, &ta, &taps, NULL, &window, &pad, 0, &to, &plan), RELAYOUT_RANK,
              "3 axes");
}

static void all(relayout_device* device, relayout_stream* stream) {
  windows(device, stream);
  depthwise(device, stream);
  depthwise_backward(device, stream);
  sequences(device, stream);
  blocks(device, stream);
  matrices(device, stream);
}

int main(void) { return run_on_devices(all); }
