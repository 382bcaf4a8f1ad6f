/* relayout from C: a matrix is transposed and cast on the way, then a plan does it again for other memory.
 *
 *     cc transpose.c $(pkg-config --cflags --libs relayout) -o transpose */
#include <relayout.h>
#include <stdio.h>
#include <stdlib.h>

enum { kRows = 2, kColumns = 3, kElements = kRows * kColumns };

/* Ends the program with the library's sentence when a call failed. */
static void check(relayout_status status) {
  if (status == RELAYOUT_OK) return;
  fprintf(stderr, "%s: %s\n", relayout_status_name(status), relayout_last_error());
  exit(1);
}

static void print(const int32_t* matrix) {
  for (int row = 0; row < kColumns; ++row) {
    for (int column = 0; column < kRows; ++column) printf("%4d", (int)matrix[row * kRows + column]);
    printf("\n");
  }
}

int main(void) {
  const relayout_dl_dtype f32 = {RELAYOUT_DL_FLOAT, 32, 1}, i32 = {RELAYOUT_DL_INT, 32, 1};
  const relayout_dl_device host = {RELAYOUT_DL_CPU, 0};
  int64_t in_shape[2] = {kRows, kColumns}, out_shape[2] = {kColumns, kRows};
  float numbers[kElements] = {1.4f, 2.5f, 3.6f, 4.0f, 5.0f, 6.0f}, others[kElements] = {7, 8, 9, 10, 11, 12};
  int32_t result[kElements];

  relayout_device* device = NULL;
  relayout_stream* stream = NULL;
  check(relayout_device_cpu(
      &device)); /* relayout_device_gpu and relayout_stream_from_native for memory of a GPU */
  check(relayout_stream_create(device, &stream));

  /* No strides: C order without gaps. */
  const relayout_tensor in = {numbers, host, 2, f32, in_shape, NULL, 0};
  const relayout_tensor out = {result, host, 2, i32, out_shape, NULL, 0};
  check(relayout_transpose(stream, &in, &out, NULL));
  print(result);

  /* The same with options, as a plan, which runs as often as is wanted. */
  relayout_copy_options options;
  relayout_plan* plan = NULL;
  const char* words = NULL;
  check(relayout_copy_options_init(&options, sizeof options));
  options.rounding = RELAYOUT_ROUND_UP;
  check(relayout_plan_transpose(device, &in, &out, &options, &plan));
  check(relayout_explain(plan, &words));
  printf("%s", words);
  check(relayout_run(plan, stream)); /* numbers, rounded up */
  const void* inputs[1] = {others};
  check(relayout_run_on(plan, stream, inputs, 1, result)); /* other memory */
  check(relayout_stream_synchronize(stream));
  print(result);

  relayout_plan_destroy(plan);
  relayout_stream_destroy(stream);
  relayout_device_destroy(device);
  return 0;
}
