/* What the tests in C share: checks that say what failed, and tensors made in one line. */
#ifndef CHECK_H
#define CHECK_H

#include <relayout.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int checks_failed = 0;

#define CHECK(condition)                                             \
  do {                                                               \
    if (!(condition)) {                                              \
      printf("%s:%d: not so: %s\n", __FILE__, __LINE__, #condition); \
      checks_failed++;                                               \
    }                                                                \
  } while (0)

#define CHECK_OK(call)                                                               \
  do {                                                                               \
    if ((call) != RELAYOUT_OK) {                                                     \
      printf("%s:%d: %s\n  %s\n", __FILE__, __LINE__, #call, relayout_last_error()); \
      checks_failed++;                                                               \
    }                                                                                \
  } while (0)

/* The call fails with this status, and its sentence has these words. */
#define CHECK_FAILS(call, expected, words)                                                           \
  do {                                                                                               \
    const relayout_status status_ = (call);                                                          \
    if (status_ != (expected) || strstr(relayout_last_error(), words) == NULL) {                     \
      printf("%s:%d: %s\n  gave %s: %s\n", __FILE__, __LINE__, #call, relayout_status_name(status_), \
             status_ == 0 ? "" : relayout_last_error());                                             \
      checks_failed++;                                                                               \
    }                                                                                                \
  } while (0)

#define EXTENTS(...) \
  (int64_t[]) { __VA_ARGS__ }

static const relayout_dl_dtype kF16 = {RELAYOUT_DL_FLOAT, 16, 1};
static const relayout_dl_dtype kF32 = {RELAYOUT_DL_FLOAT, 32, 1};
static const relayout_dl_dtype kI32 = {RELAYOUT_DL_INT, 32, 1};
static const relayout_dl_dtype kI8 = {RELAYOUT_DL_INT, 8, 1};
static const relayout_dl_dtype kBool = {RELAYOUT_DL_BOOL, 8, 1};

static inline relayout_tensor tensor_of(void* data, relayout_dl_dtype dtype, int32_t ndim, int64_t* shape) {
  relayout_tensor tensor = {data, {RELAYOUT_DL_CPU, 0}, ndim, dtype, shape, NULL, 0};
  return tensor;
}

static inline relayout_operand operand_of(const relayout_tensor* tensor) {
  relayout_operand operand = {0};
  operand.tensor = tensor;
  return operand;
}

/* Unused in some tests. */
static const void* const kUnused[] = {&kF16, &kF32, &kI32, &kI8, &kBool, (void*)kUnused};

/* Runs `test` on native code and, where they were built, on the emulated GPU kernels. */
static inline int run_on_devices(void (*test)(relayout_device*, relayout_stream*)) {
  relayout_device* devices[2] = {NULL, NULL};
  CHECK_OK(relayout_device_cpu(&devices[0]));
  if (strstr(relayout_built_with(), "emulator") != NULL) CHECK_OK(relayout_device_emulated(32, &devices[1]));
  for (int i = 0; i < 2; ++i) {
    relayout_stream* stream = NULL;
    if (devices[i] == NULL) continue;
    CHECK_OK(relayout_stream_create(devices[i], &stream));
    test(devices[i], stream);
    CHECK_OK(relayout_stream_synchronize(stream));
    relayout_stream_destroy(stream);
    relayout_device_destroy(devices[i]);
  }
  return checks_failed == 0 ? 0 : 1;
}

#endif
