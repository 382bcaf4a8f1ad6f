/* The options that change results: each gives another result than its default. */
#include "check.h"

static const relayout_dl_dtype kE4m3 = {RELAYOUT_DL_FLOAT8_E4M3FN, 8, 1};
static const relayout_dl_dtype kE5m2 = {RELAYOUT_DL_FLOAT8_E5M2, 8, 1};

static void casts(relayout_stream* stream) {
  float large[1] = {1e6f};
  int32_t whole[2] = {300, -300};
  unsigned char code[1];
  signed char small[2];
  const relayout_tensor from = tensor_of(large, kF32, 1, EXTENTS(1)),
                        ints = tensor_of(whole, kI32, 1, EXTENTS(2));
  const relayout_tensor e4m3 = tensor_of(code, kE4m3, 1, EXTENTS(1)),
                        e5m2 = tensor_of(code, kE5m2, 1, EXTENTS(1)),
                        i8 = tensor_of(small, kI8, 1, EXTENTS(2));
  relayout_copy_options options;
  CHECK_OK(relayout_copy_options_init(&options, sizeof options));
  CHECK_OK(relayout_cast(stream, &from, &e4m3, &options));
  CHECK(code[0] == 0x7e); /* 448 */
  CHECK_OK(relayout_cast(stream, &from, &e5m2, &options));
  CHECK(code[0] == 0x7b); /* 57344 */
  CHECK_OK(relayout_cast(stream, &ints, &i8, &options));
  CHECK(small[0] == 44 && small[1] == -44);
  options.saturate_fp8 = 0;
  CHECK_OK(relayout_cast(stream, &from, &e4m3, &options));
  CHECK(code[0] == 0x7f); /* NaN */
  CHECK_OK(relayout_cast(stream, &from, &e5m2, &options));
  CHECK(code[0] == 0x7c); /* infinity */
  options.saturate_fp8 = 1;
  options.saturate_integers = 1;
  CHECK_OK(relayout_cast(stream, &ints, &i8, &options));
  CHECK(small[0] == 127 && small[1] == -128);
}

static void elementwise(relayout_stream* stream) {
  float four[4] = {1, 2, 3, 4}, two[2] = {10, 20}, sums[4], tiny[1] = {1e-40f}, large[1] = {1e6f}, one[1];
  int32_t whole[1] = {200};
  unsigned char code[1];
  signed char small[1];
  const relayout_tensor t4 = tensor_of(four, kF32, 1, EXTENTS(4)), t2 = tensor_of(two, kF32, 1, EXTENTS(2)),
                        tsums = tensor_of(sums, kF32, 1, EXTENTS(4));
  const relayout_tensor ttiny = tensor_of(tiny, kF32, 1, EXTENTS(1)),
                        tlarge = tensor_of(large, kF32, 1, EXTENTS(1)),
                        tone = tensor_of(one, kF32, 1, EXTENTS(1)),
                        twhole = tensor_of(whole, kI32, 1, EXTENTS(1));
  const relayout_tensor tcode = tensor_of(code, kE4m3, 1, EXTENTS(1)),
                        tsmall = tensor_of(small, kI8, 1, EXTENTS(1));
  const relayout_operand to_sums = operand_of(&tsums), to_one = operand_of(&tone),
                         to_code = operand_of(&tcode), to_small = operand_of(&tsmall);
  relayout_operand given[2] = {operand_of(&t4), operand_of(&t2)};
  relayout_elementwise_options options;

  CHECK_OK(relayout_elementwise_options_init(&options, sizeof options));
  CHECK_FAILS(relayout_elementwise(stream, "add", given, 2, &to_sums, &options), RELAYOUT_SHAPE, "");
  options.repeat = 1;
  CHECK_OK(relayout_elementwise(stream, "add", given, 2, &to_sums, &options));
  CHECK(memcmp(sums, (float[]){11, 22, 13, 24}, sizeof sums) == 0);

  CHECK_OK(relayout_elementwise_options_init(&options, sizeof options));
  given[0] = given[1] = operand_of(&ttiny);
  CHECK_OK(relayout_elementwise(stream, "add", given, 2, &to_one, &options));
  CHECK(one[0] == 2 * tiny[0]);
  options.flush_to_zero = 1;
  CHECK_OK(relayout_elementwise(stream, "add", given, 2, &to_one, &options));
  CHECK(one[0] == 0);

  CHECK_OK(relayout_elementwise_options_init(&options, sizeof options));
  options.cast_out = 1;
  given[0] = given[1] = operand_of(&tlarge);
  CHECK_OK(relayout_elementwise(stream, "add", given, 2, &to_code, &options));
  CHECK(code[0] == 0x7e);
  options.saturate_fp8 = 0;
  CHECK_OK(relayout_elementwise(stream, "add", given, 2, &to_code, &options));
  CHECK(code[0] == 0x7f);
  options.saturate_fp8 = 1;
  given[0] = given[1] = operand_of(&twhole);
  CHECK_OK(relayout_elementwise(stream, "add", given, 2, &to_small, &options));
  CHECK(small[0] == -112); /* 400 - 512 */
  options.saturate_integers = 1;
  CHECK_OK(relayout_elementwise(stream, "add", given, 2, &to_small, &options));
  CHECK(small[0] == 127);
}

/* Sums are exact, so that no precision can be asked for. */
static void precision(relayout_stream* stream) {
  float a[1] = {6}, b[1] = {3}, y[1] = {0};
  const relayout_tensor ta = tensor_of(a, kF32, 1, EXTENTS(1)), tb = tensor_of(b, kF32, 1, EXTENTS(1)),
                        ty = tensor_of(y, kF32, 1, EXTENTS(1));
  const relayout_operand given[2] = {operand_of(&ta), operand_of(&tb)}, to = operand_of(&ty);
  relayout_elementwise_options options;
  CHECK_OK(relayout_elementwise_options_init(&options, sizeof options));
  CHECK_OK(relayout_elementwise(stream, "add", given, 2, &to, &options));
  CHECK(y[0] == 9);
  for (options.precision = RELAYOUT_PRECISION_FULL; options.precision <= RELAYOUT_PRECISION_APPROXIMATE;
       ++options.precision) {
    CHECK_FAILS(relayout_elementwise(stream, "add", given, 2, &to, &options), RELAYOUT_ROUNDING_MODE,
                "precision");
    CHECK_OK(relayout_elementwise(stream, "truediv", given, 2, &to, &options));
    CHECK(y[0] > 1.999999f && y[0] < 2.000001f);
  }
  CHECK_FAILS(relayout_elementwise(stream, "truediv", given, 2, &to, &options), RELAYOUT_INVALID_ARGUMENT,
              "precision");
}

static void closeness(relayout_stream* stream) {
  const union {
    uint32_t bits;
    float value;
  } nan = {0x7fc00000u};
  float a[3] = {100, 0, nan.value}, b[3] = {101, 0.001f, nan.value};
  unsigned char close[3];
  const relayout_tensor ta = tensor_of(a, kF32, 1, EXTENTS(3)), tb = tensor_of(b, kF32, 1, EXTENTS(3)),
                        tclose = tensor_of(close, kBool, 1, EXTENTS(3));
  const relayout_operand given[2] = {operand_of(&ta), operand_of(&tb)}, to = operand_of(&tclose);
  relayout_elementwise_options options;
  CHECK_OK(relayout_elementwise_options_init(&options, sizeof options));
  CHECK_OK(relayout_elementwise(stream, "isclose", given, 2, &to, &options));
  CHECK(memcmp(close, (unsigned char[]){0, 0, 0}, 3) == 0);
  options.rtol = 0.1;
  CHECK_OK(relayout_elementwise(stream, "isclose", given, 2, &to, &options));
  CHECK(memcmp(close, (unsigned char[]){1, 0, 0}, 3) == 0);
  options.atol = 0.01;
  CHECK_OK(relayout_elementwise(stream, "isclose", given, 2, &to, &options));
  CHECK(memcmp(close, (unsigned char[]){1, 1, 0}, 3) == 0);
  options.equal_nan = 1;
  CHECK_OK(relayout_elementwise(stream, "isclose", given, 2, &to, &options));
  CHECK(memcmp(close, (unsigned char[]){1, 1, 1}, 3) == 0);
  options.atol = -0.01;
  CHECK_FAILS(relayout_elementwise(stream, "isclose", given, 2, &to, &options), RELAYOUT_INVALID_ARGUMENT,
              "atol");
}

static void windows(relayout_stream* stream) {
  float in[6] = {1, 2, 3, 10, 20, 30}, padded[7], rows[8];
  const relayout_tensor signal = tensor_of(in, kF32, 3, EXTENTS(1, 1, 3)),
                        to = tensor_of(padded, kF32, 3, EXTENTS(1, 1, 7));
  const relayout_tensor both = tensor_of(in, kF32, 3, EXTENTS(1, 2, 3)),
                        matrix = tensor_of(rows, kF32, 2, EXTENTS(2, 4));
  relayout_pad_options pad;
  relayout_window_options window;
  CHECK_OK(relayout_pad_options_init(&pad, sizeof pad));
  pad.mode = RELAYOUT_PAD_REFLECT;
  pad.left = 4;
  CHECK_FAILS(relayout_pad(stream, &signal, &pad, &to), RELAYOUT_PAD_TOO_LARGE, "");
  pad.extended = 1;
  CHECK_OK(relayout_pad(stream, &signal, &pad, &to));
  CHECK(memcmp(padded, (float[]){1, 2, 3, 2, 1, 2, 3}, sizeof padded) == 0);

  CHECK_OK(relayout_window_options_init(&window, sizeof window));
  window.taps = 2;
  CHECK_OK(relayout_img2col(stream, &both, &window, NULL, &matrix));
  CHECK(memcmp(rows, (float[]){1, 10, 2, 20, 2, 20, 3, 30}, sizeof rows) == 0);
  window.channel_outer = 1;
  CHECK_OK(relayout_img2col(stream, &both, &window, NULL, &matrix));
  CHECK(memcmp(rows, (float[]){1, 2, 10, 20, 2, 3, 20, 30}, sizeof rows) == 0);
}

static void all(relayout_device* device, relayout_stream* stream) {
  (void)device;
  casts(stream);
  elementwise(stream);
  precision(stream);
  closeness(stream);
  windows(stream);
}

int main(void) { return run_on_devices(all); }
