/* permute, transpose, copy, contiguous, cast and fill: at once and planned, on every device; options; plans.
 */
#include "check.h"

static void copies(relayout_device* device, relayout_stream* stream) {
  int32_t in_data[24], out_data[24], expected[24];
  for (int i = 0; i < 24; ++i) in_data[i] = i * 1000003;
  for (int c = 0; c < 4; ++c)
    for (int a = 0; a < 2; ++a)
      for (int b = 0; b < 3; ++b) expected[(c * 2 + a) * 3 + b] = in_data[(a * 3 + b) * 4 + c];
  relayout_tensor in = tensor_of(in_data, kI32, 3, EXTENTS(2, 3, 4));
  relayout_tensor out = tensor_of(out_data, kI32, 3, EXTENTS(4, 2, 3));
  const int32_t axes[3] = {2, 0, 1};
  relayout_plan* plan = NULL;

  CHECK_OK(relayout_permute(stream, &in, axes, 3, &out, NULL));
  CHECK(memcmp(out_data, expected, sizeof expected) == 0);
  CHECK_FAILS(relayout_permute(stream, &in, axes, 2, &out, NULL), RELAYOUT_INVALID_ARGUMENT, "permutation");
  CHECK_FAILS(relayout_permute(stream, &in, NULL, 3, &out, NULL), RELAYOUT_NULL_POINTER, "axes");
  CHECK_FAILS(relayout_permute(stream, &in, axes, -1, &out, NULL), RELAYOUT_INVALID_ARGUMENT, "axis_count");

  /* A plan without memory, which is named when it runs. */
  in.data = out.data = NULL;
  CHECK_OK(relayout_plan_permute(device, &in, axes, 3, &out, NULL, &plan));
  CHECK_FAILS(relayout_run(plan, stream), RELAYOUT_NULL_POINTER, "null pointer");
  memset(out_data, 0, sizeof out_data);
  const void* inputs[1] = {in_data};
  CHECK_OK(relayout_run_on(plan, stream, inputs, 1, out_data));
  CHECK(memcmp(out_data, expected, sizeof expected) == 0);
  CHECK_FAILS(relayout_run_on(plan, stream, inputs, 0, out_data), RELAYOUT_INVALID_ARGUMENT, "1 input");
  CHECK_FAILS(relayout_run_on(plan, stream, inputs, -1, out_data), RELAYOUT_INVALID_ARGUMENT, "negative");
  CHECK_FAILS(relayout_run_on(plan, stream, NULL, 1, out_data), RELAYOUT_NULL_POINTER, "inputs");
  CHECK_FAILS(relayout_run_on(plan, stream, inputs, 1, in_data), RELAYOUT_PARTIAL_OVERLAP, "");
  const char* text = NULL;
  CHECK_OK(relayout_explain(plan, &text));
  CHECK(text != NULL && strstr(text, "permute") != NULL);
  relayout_plan_destroy(plan);

  in.data = in_data;
  out = tensor_of(out_data, kI32, 3, EXTENTS(2, 4, 3));
  CHECK_OK(relayout_plan_transpose(device, &in, &out, NULL, &plan));
  CHECK_OK(relayout_run(plan, stream));
  relayout_plan_destroy(plan);
  for (int i = 0; i < 24; ++i) CHECK(out_data[i] == in_data[i / 12 * 12 + i % 3 * 4 + i % 12 / 3]);

  /* Every second element, as one row without gaps. */
  relayout_tensor half = tensor_of(in_data, kI32, 1, EXTENTS(12));
  half.strides = EXTENTS(2);
  memset(out_data, 0, sizeof out_data);
  CHECK_OK(relayout_contiguous(stream, &half, out_data));
  for (int i = 0; i < 12; ++i) CHECK(out_data[i] == in_data[2 * i]);
  CHECK_FAILS(relayout_contiguous(stream, NULL, out_data), RELAYOUT_NULL_POINTER, "in is");
  CHECK_OK(relayout_plan_contiguous(device, &half, NULL, &plan));
  memset(out_data, 0, sizeof out_data);
  CHECK_OK(relayout_run_on(plan, stream, inputs, 1, out_data));
  for (int i = 0; i < 12; ++i) CHECK(out_data[i] == in_data[2 * i]);
  relayout_plan_destroy(plan);

  out = tensor_of(out_data, kI32, 2, EXTENTS(3, 4));
  CHECK_OK(relayout_plan_copy(device, &half, &out, NULL, &plan));
  CHECK_OK(relayout_run(plan, stream));
  relayout_plan_destroy(plan);
  for (int i = 0; i < 12; ++i) CHECK(out_data[i] == in_data[2 * i]);
}

static void casts(relayout_device* device, relayout_stream* stream) {
  float in_data[4] = {1.5f, -2.5f, 300.0f, 0.49f}, sums[4] = {1, 1, 1, 1};
  int8_t codes[4];
  const relayout_tensor in = tensor_of(in_data, kF32, 1, EXTENTS(4));
  const relayout_tensor out = tensor_of(codes, kI8, 1, EXTENTS(4));
  const relayout_tensor sum = tensor_of(sums, kF32, 1, EXTENTS(4));
  relayout_copy_options options;
  relayout_plan* plan = NULL;

  CHECK_OK(relayout_cast(stream, &in, &out, NULL));
  CHECK(memcmp(codes, (int8_t[]){1, -2, 127, 0}, 4) == 0);
  CHECK_OK(relayout_copy_options_init(&options, sizeof options));
  options.rounding = RELAYOUT_ROUND_UP;
  CHECK_OK(relayout_plan_cast(device, &in, &out, &options, &plan));
  CHECK_OK(relayout_run(plan, stream));
  relayout_plan_destroy(plan);
  CHECK(memcmp(codes, (int8_t[]){2, -2, 127, 1}, 4) == 0);
  options.rounding = 6;
  CHECK_FAILS(relayout_cast(stream, &in, &out, &options), RELAYOUT_INVALID_ARGUMENT, "rounding is 6");

  CHECK_OK(relayout_copy_options_init(&options, sizeof options));
  options.alpha = 2;
  options.beta = 3;
  CHECK_OK(relayout_copy(stream, &in, &sum, &options));
  CHECK(sums[0] == 6 && sums[1] == -2 && sums[2] == 603);

  /* A program of an older header knows the first fields only; one of a newer header is told. */
  struct {
    uint64_t struct_size;
    double alpha;
  } older = {16, 10};
  CHECK_OK(relayout_copy(stream, &in, &sum, (const relayout_copy_options*)&older));
  CHECK(sums[0] == 15 && sums[2] == 3000);
  options.struct_size = 4096;
  CHECK_FAILS(relayout_copy(stream, &in, &sum, &options), RELAYOUT_INVALID_ARGUMENT, "4096");
  memset(&options, 0, sizeof options);
  CHECK_FAILS(relayout_copy(stream, &in, &sum, &options), RELAYOUT_INVALID_ARGUMENT, "init");
  CHECK_FAILS(relayout_copy_options_init(&options, 4096), RELAYOUT_INVALID_ARGUMENT, "4096");
  CHECK_FAILS(relayout_copy_options_init(NULL, 8), RELAYOUT_NULL_POINTER, "options");

  relayout_operand value = {0};
  value.kind = RELAYOUT_OPERAND_INTEGER;
  value.integer = -7;
  CHECK_OK(relayout_fill(stream, &value, &out, NULL));
  CHECK(codes[0] == -7 && codes[3] == -7);
  value.kind = RELAYOUT_OPERAND_FLOATING;
  value.floating = 0.25;
  CHECK_OK(relayout_plan_fill(device, &value, &sum, NULL, &plan));
  CHECK_OK(relayout_run(plan, stream));
  CHECK_OK(relayout_run_on(plan, stream, NULL, 0, in_data));
  relayout_plan_destroy(plan);
  CHECK(sums[1] == 0.25f && in_data[3] == 0.25f);
  value.kind = RELAYOUT_OPERAND_TENSOR;
  CHECK_FAILS(relayout_fill(stream, &value, &out, NULL), RELAYOUT_INVALID_ARGUMENT, "no constant");
}

static void handles(relayout_device* device) {
  relayout_device* other = (relayout_device*)&other;
  relayout_stream* stream = NULL;
  relayout_plan* plan = (relayout_plan*)&plan;
  const char* name = NULL;
  int32_t count = -1;
  CHECK_OK(relayout_device_name(device, &name));
  CHECK(strcmp(name, "cpu") == 0);
  CHECK_FAILS(relayout_device_emulated(48, &other), RELAYOUT_INVALID_ARGUMENT, "48");
  CHECK(other == NULL); /* a failure leaves no handle */
  if (strstr(relayout_built_with(), "emulator") == NULL)
    CHECK_FAILS(relayout_device_emulated(32, &other), RELAYOUT_NOT_BUILT, "emulator");
  CHECK_FAILS(relayout_device_cpu(NULL), RELAYOUT_NULL_POINTER, "device");
  CHECK_FAILS(relayout_stream_from_native(device, NULL, &stream), RELAYOUT_UNSUPPORTED, "cpu");
  CHECK_FAILS(relayout_run(NULL, NULL), RELAYOUT_NULL_POINTER, "plan");
  CHECK_FAILS(relayout_plan_copy(device, NULL, NULL, NULL, &plan), RELAYOUT_NULL_POINTER, "in is");
  CHECK(plan == NULL);
  CHECK_FAILS(relayout_plan_copy(device, NULL, NULL, NULL, NULL), RELAYOUT_NULL_POINTER, "plan");
  CHECK_OK(relayout_gpu_count(&count));
  CHECK(count >= 0);
  const int gpus =
      strstr(relayout_built_with(), "cuda") != NULL || strstr(relayout_built_with(), "hip") != NULL;
  CHECK_FAILS(relayout_device_gpu(count, &other), gpus ? RELAYOUT_NO_DEVICE : RELAYOUT_NOT_BUILT, "");
  CHECK_OK(relayout_device_best(&other));
  relayout_device_destroy(other);
  relayout_device_destroy(NULL);
  relayout_stream_destroy(NULL);
  relayout_plan_destroy(NULL);
}

static void all(relayout_device* device, relayout_stream* stream) {
  copies(device, stream);
  casts(device, stream);
}

int main(void) {
  relayout_device* device = NULL;
  CHECK_OK(relayout_device_cpu(&device));
  handles(device);
  relayout_device_destroy(device);
  return run_on_devices(all);
}
