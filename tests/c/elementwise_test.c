/* Every operation by its name, chains, codes, and what a chain gives. */
#include "check.h"

static void every_operation(relayout_device* device, relayout_stream* stream) {
  float a[4] = {0.5f, -0.25f, 0.75f, 0.125f};
  int32_t b[4] = {3, -5, 1, 2};
  unsigned char now[32], later[32];
  relayout_tensor floats = tensor_of(a, kF32, 1, EXTENTS(4)), whole = tensor_of(b, kI32, 1, EXTENTS(4));
  int32_t count = 0, operands = 0;
  const char* name = NULL;
  for (; relayout_operation(count, &name, &operands) == RELAYOUT_OK; ++count) {
    relayout_operand given[4];
    relayout_dl_dtype dtype;
    int32_t ndim = -1;
    int64_t shape[32];
    const relayout_step step = {name, 0, 0};
    for (int i = 0; i < 4; ++i) given[i] = operand_of(&floats);
    if (relayout_chain_result(&step, 1, given, operands, NULL, &dtype, &ndim, shape) == RELAYOUT_DTYPE) {
      for (int i = 0; i < 4; ++i) given[i] = operand_of(&whole); /* operations on bits */
      CHECK_OK(relayout_chain_result(&step, 1, given, operands, NULL, &dtype, &ndim, shape));
    }
    CHECK(ndim == 1 && shape[0] == 4);
    memset(now, 0xa5, sizeof now);
    memset(later, 0x5a, sizeof later);
    relayout_tensor out = tensor_of(now, dtype, ndim, shape), out_later = out;
    out_later.data = later;
    const relayout_operand result = operand_of(&out), result_later = operand_of(&out_later);
    CHECK_OK(relayout_elementwise(stream, name, given, operands, &result, NULL));
    relayout_plan* plan = NULL;
    CHECK_OK(relayout_plan_elementwise(device, name, given, operands, &result_later, NULL, &plan));
    CHECK_OK(relayout_run(plan, stream));
    relayout_plan_destroy(plan);
    CHECK(memcmp(now, later, dtype.bits / 8 * 4) == 0);
    CHECK(now[dtype.bits / 8 * 4] == 0xa5);
    CHECK_FAILS(relayout_elementwise(stream, name, given, operands + 1, &result, NULL),
                RELAYOUT_INVALID_ARGUMENT, "");
  }
  CHECK(count == EXPECTED_OPERATIONS);
}

static void values(relayout_device* device, relayout_stream* stream) {
  float a[6] = {1, 2, 3, 4, 5, 6}, b[3] = {10, 20, 30}, out[6];
  unsigned char truth[6];
  const relayout_tensor ta = tensor_of(a, kF32, 2, EXTENTS(2, 3)), tb = tensor_of(b, kF32, 1, EXTENTS(3));
  const relayout_tensor to = tensor_of(out, kF32, 2, EXTENTS(2, 3)),
                        tt = tensor_of(truth, kBool, 2, EXTENTS(2, 3));
  const relayout_operand result = operand_of(&to), is = operand_of(&tt);
  relayout_operand operands[4] = {operand_of(&ta), operand_of(&tb), {0}, {0}};
  relayout_plan* plan = NULL;

  CHECK_OK(relayout_elementwise(stream, "add", operands, 2, &result, NULL));
  CHECK(memcmp(out, (float[]){11, 22, 33, 14, 25, 36}, sizeof out) == 0);
  operands[1].kind = RELAYOUT_OPERAND_INTEGER;
  operands[1].integer = 3;
  CHECK_OK(relayout_elementwise(stream, "greater", operands, 2, &is, NULL));
  CHECK(memcmp(truth, (unsigned char[]){0, 0, 0, 1, 1, 1}, 6) == 0);

  /* relu(a - 3) * 2, and on other memory */
  const relayout_step steps[3] = {{"sub", 0, 0}, {"relu", 0, 0}, {"mul", 1, 0}};
  operands[2].kind = RELAYOUT_OPERAND_FLOATING;
  operands[2].floating = 2;
  CHECK_OK(relayout_plan_chain(device, steps, 3, operands, 3, &result, NULL, &plan));
  CHECK_OK(relayout_run(plan, stream));
  CHECK(memcmp(out, (float[]){0, 0, 0, 2, 4, 6}, sizeof out) == 0);
  float other[6] = {7, 7, 7, 7, 7, 7};
  const void* inputs[1] = {other};
  CHECK_OK(relayout_run_on(plan, stream, inputs, 1, other)); /* in place */
  CHECK(other[0] == 8 && other[5] == 8);
  relayout_plan_destroy(plan);

  CHECK_FAILS(relayout_elementwise(stream, "plus", operands, 2, &result, NULL), RELAYOUT_INVALID_ARGUMENT,
              "'plus'");
  CHECK_FAILS(relayout_elementwise(stream, NULL, operands, 2, &result, NULL), RELAYOUT_NULL_POINTER,
              "operation");
  CHECK_FAILS(relayout_elementwise(stream, "add", NULL, 2, &result, NULL), RELAYOUT_NULL_POINTER, "operands");
  CHECK_FAILS(relayout_elementwise(stream, "add", operands, -2, &result, NULL), RELAYOUT_INVALID_ARGUMENT,
              "negative");
  CHECK_FAILS(relayout_elementwise(stream, "add", operands, 2, NULL, NULL), RELAYOUT_NULL_POINTER, "out");
  CHECK_FAILS(relayout_elementwise(stream, "add", operands, 2, &is, NULL), RELAYOUT_DTYPE, "");
  CHECK_FAILS(relayout_elementwise(stream, "add", operands, 2, &operands[1], NULL), RELAYOUT_INVALID_ARGUMENT,
              "out has");
  operands[1].kind = 17;
  CHECK_FAILS(relayout_elementwise(stream, "add", operands, 2, &result, NULL), RELAYOUT_INVALID_ARGUMENT,
              "kind 17");
  operands[1].kind = RELAYOUT_OPERAND_TENSOR;
  operands[1].tensor = NULL;
  CHECK_FAILS(relayout_elementwise(stream, "add", operands, 2, &result, NULL), RELAYOUT_NULL_POINTER,
              "operand 1");

  relayout_elementwise_options options;
  CHECK_OK(relayout_elementwise_options_init(&options, sizeof options));
  options.cast_out = 1;
  CHECK_OK(relayout_elementwise(stream, "neg", operands, 1, &is, &options));
  CHECK(truth[0] == 1);
  options.precision = 3;
  CHECK_FAILS(relayout_elementwise(stream, "neg", operands, 1, &is, &options), RELAYOUT_INVALID_ARGUMENT,
              "precision");
}

static void codes(relayout_device* device, relayout_stream* stream) {
  float in[4] = {-1, 0, 0.5f, 100}, out[4], scales[4] = {1, 1, 0.25f, 2};
  int8_t q[4];
  const relayout_tensor ti = tensor_of(in, kF32, 1, EXTENTS(4)), tq = tensor_of(q, kI8, 1, EXTENTS(4));
  const relayout_tensor to = tensor_of(out, kF32, 1, EXTENTS(4)), ts = tensor_of(scales, kF32, 1, EXTENTS(4));
  relayout_operand coded = operand_of(&tq);
  relayout_plan* plan = NULL;
  coded.kind = RELAYOUT_OPERAND_CODES;
  coded.scale = 0.5f;
  coded.zero = 1;
  CHECK_OK(relayout_quantize(stream, &ti, &coded));
  CHECK(memcmp(q, (int8_t[]){-1, 1, 2, 127}, 4) == 0);
  CHECK_OK(relayout_plan_dequantize(device, &coded, &to, &plan));
  CHECK_OK(relayout_run(plan, stream));
  relayout_plan_destroy(plan);
  CHECK(memcmp(out, (float[]){-1, 0, 0.5f, 63}, sizeof out) == 0);
  coded.scales = &ts;
  coded.zero = 0;
  CHECK_OK(relayout_plan_quantize(device, &ti, &coded, &plan));
  CHECK_OK(relayout_run(plan, stream));
  relayout_plan_destroy(plan);
  CHECK(memcmp(q, (int8_t[]){-1, 0, 2, 50}, 4) == 0);
  CHECK_OK(relayout_dequantize(stream, &coded, &to));
  CHECK(out[3] == 100);
  const relayout_operand pair[2] = {coded, coded}, result = operand_of(&to);
  CHECK_OK(relayout_quantized(stream, "add", pair, 2, &result));
  CHECK(out[3] == 200);
  CHECK_OK(relayout_plan_quantized(device, "mul", pair, 2, &result, &plan));
  CHECK_OK(relayout_run(plan, stream));
  relayout_plan_destroy(plan);
  CHECK(out[0] == 1 && out[2] == 0.25f);
  coded.scales = NULL;
  coded.scale = 0;
  CHECK_FAILS(relayout_quantize(stream, &ti, &coded), RELAYOUT_SCALE, "");
  CHECK_FAILS(relayout_quantize(stream, &ti, &result), RELAYOUT_INVALID_ARGUMENT, "must be codes");
}

static void all(relayout_device* device, relayout_stream* stream) {
  every_operation(device, stream);
  values(device, stream);
  codes(device, stream);
}

int main(void) { return run_on_devices(all); }
