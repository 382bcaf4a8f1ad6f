/* One plan in many threads, each of which has its own last error. */
#include <pthread.h>

#include "check.h"

enum { kThreads = 4, kRuns = 50, kRows = 20, kColumns = 50, kElements = kRows * kColumns };

static relayout_device* device;
static relayout_plan* plan;

static void* work(void* argument) {
  const long number = (long)argument;
  float in[kElements], out[kElements];
  relayout_stream* stream = NULL;
  long failures = 0;
  const void* inputs[1] = {in};
  if (relayout_stream_create(device, &stream) != RELAYOUT_OK) return (void*)1;
  for (int run = 0; run < kRuns; ++run) {
    for (int i = 0; i < kElements; ++i) in[i] = (float)(number * kRuns + run + i);
    failures += relayout_run_on(plan, stream, inputs, 1, out) != RELAYOUT_OK;
    for (int i = 0; i < kElements; ++i) failures += out[i] != in[i % kRows * kColumns + i / kRows];
    /* Each thread fails in its own way, and reads its own sentence. */
    char words[32];
    relayout_plan* none = NULL;
    snprintf(words, sizeof words, "%ld", 100 + number);
    const relayout_tensor bad = {NULL, {RELAYOUT_DL_CPU, 0}, (int32_t)(100 + number), kF32, NULL, NULL, 0};
    failures += relayout_plan_copy(device, &bad, &bad, NULL, &none) != RELAYOUT_RANK;
    failures += strstr(relayout_last_error(), words) == NULL;
  }
  relayout_stream_destroy(stream);
  return (void*)failures;
}

/* Fails with a sentence that has the number. */
static void fail_with(int32_t axes) {
  relayout_plan* none = NULL;
  const relayout_tensor bad = {NULL, {RELAYOUT_DL_CPU, 0}, axes, kF32, NULL, NULL, 0};
  CHECK_FAILS(relayout_plan_copy(device, &bad, &bad, NULL, &none), RELAYOUT_RANK, "axes");
}

static void* fail_elsewhere(void* unused) {
  CHECK(strcmp(relayout_last_error(), "") == 0); /* this thread has not failed yet */
  fail_with(222);
  return unused;
}

int main(void) {
  pthread_t threads[kThreads];
  relayout_tensor in = tensor_of(NULL, kF32, 2, EXTENTS(kRows, kColumns));
  relayout_tensor out = tensor_of(NULL, kF32, 2, EXTENTS(kColumns, kRows));
  CHECK_OK(relayout_device_cpu(&device));
  CHECK_OK(relayout_plan_transpose(device, &in, &out, NULL, &plan));
  for (long i = 0; i < kThreads; ++i) CHECK(pthread_create(&threads[i], NULL, work, (void*)i) == 0);
  for (long i = 0; i < kThreads; ++i) {
    void* failures = NULL;
    CHECK(pthread_join(threads[i], &failures) == 0);
    CHECK(failures == NULL);
  }
  fail_with(111);
  CHECK(pthread_create(&threads[0], NULL, fail_elsewhere, NULL) == 0);
  CHECK(pthread_join(threads[0], NULL) == 0);
  CHECK(strstr(relayout_last_error(), "111") != NULL);
  relayout_plan_destroy(plan);
  relayout_device_destroy(device);
  return checks_failed == 0 ? 0 : 1;
}
