/* A user's first program in C: transposes with native code. */
#include <relayout.h>
#include <stdio.h>
#include <string.h>

int main(void) {
  float in[6] = {1, 2, 3, 4, 5, 6}, out[6] = {0};
  int64_t in_shape[2] = {2, 3}, out_shape[2] = {3, 2};
  const relayout_tensor from = {in, {RELAYOUT_DL_CPU, 0}, 2, {RELAYOUT_DL_FLOAT, 32, 1}, in_shape, NULL, 0};
  const relayout_tensor to = {out, {RELAYOUT_DL_CPU, 0}, 2, {RELAYOUT_DL_FLOAT, 32, 1}, out_shape, NULL, 0};
  relayout_device* device = NULL;
  relayout_stream* stream = NULL;
  if (relayout_device_cpu(&device) != RELAYOUT_OK || relayout_stream_create(device, &stream) != RELAYOUT_OK ||
      relayout_transpose(stream, &from, &to, NULL) != RELAYOUT_OK) {
    printf("%s\n", relayout_last_error());
    return 1;
  }
  relayout_stream_destroy(stream);
  relayout_device_destroy(device);
  return memcmp(out, (float[]){1, 4, 2, 5, 3, 6}, sizeof out) == 0 ? 0 : 1;
}
