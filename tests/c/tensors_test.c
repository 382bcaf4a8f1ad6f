/* Tensors as DLPack has them: what is refused, with which sentence; and the structs' layout. */
#include "check.h"

#if defined(__has_include)
#if __has_include(<dlpack/dlpack.h>)
#include <dlpack/dlpack.h>
#define HAVE_DLPACK 1
#endif
#endif

_Static_assert(sizeof(relayout_tensor) == 48, "");
_Static_assert(offsetof(relayout_tensor, device) == 8, "");
_Static_assert(offsetof(relayout_tensor, ndim) == 16, "");
_Static_assert(offsetof(relayout_tensor, dtype) == 20, "");
_Static_assert(offsetof(relayout_tensor, shape) == 24, "");
_Static_assert(offsetof(relayout_tensor, strides) == 32, "");
_Static_assert(offsetof(relayout_tensor, byte_offset) == 40, "");

#ifdef HAVE_DLPACK
#define SAME(field) \
  _Static_assert(offsetof(relayout_tensor, field) == offsetof(DLTensor, field), "DLTensor." #field)
_Static_assert(sizeof(relayout_tensor) == sizeof(DLTensor), "DLTensor");
SAME(data);
SAME(device);
SAME(ndim);
SAME(dtype);
SAME(shape);
SAME(strides);
SAME(byte_offset);
_Static_assert(RELAYOUT_DL_CPU == kDLCPU && RELAYOUT_DL_ROCM == kDLROCM, "device types");
_Static_assert(RELAYOUT_DL_INT == kDLInt && RELAYOUT_DL_UINT == kDLUInt && RELAYOUT_DL_FLOAT == kDLFloat &&
                   RELAYOUT_DL_BFLOAT == kDLBfloat && RELAYOUT_DL_OPAQUE_HANDLE == kDLOpaqueHandle,
               "classes of types");
#ifdef DLPACK_MAJOR_VERSION
_Static_assert(RELAYOUT_DL_BOOL == kDLBool && RELAYOUT_DL_COMPLEX == kDLComplex, "classes of types");
_Static_assert(RELAYOUT_DL_CUDA == kDLCUDA && RELAYOUT_DL_CUDA_HOST == kDLCUDAHost &&
                   RELAYOUT_DL_ROCM_HOST == kDLROCMHost && RELAYOUT_DL_CUDA_MANAGED == kDLCUDAManaged,
               "device types");
#if DLPACK_MAJOR_VERSION > 1 || DLPACK_MINOR_VERSION >= 1
_Static_assert(RELAYOUT_DL_FLOAT8_E4M3FN == kDLFloat8_e4m3fn && RELAYOUT_DL_FLOAT8_E5M2 == kDLFloat8_e5m2,
               "classes of types");
#endif
#endif
#endif

static void refused(relayout_device* device, relayout_stream* stream) {
  float in_data[6] = {1, 2, 3, 4, 5, 6}, out_data[6] = {0};
  int64_t shape[2] = {2, 3}, out_shape[2] = {3, 2};
  const relayout_tensor in = tensor_of(in_data, kF32, 2, shape),
                        out = tensor_of(out_data, kF32, 2, out_shape);
  relayout_tensor bad = in;
  (void)device;

  CHECK_FAILS(relayout_transpose(NULL, &in, &out, NULL), RELAYOUT_NULL_POINTER, "stream is a null pointer");
  CHECK_FAILS(relayout_transpose(stream, NULL, &out, NULL), RELAYOUT_NULL_POINTER, "in is a null pointer");
  CHECK_FAILS(relayout_transpose(stream, &in, NULL, NULL), RELAYOUT_NULL_POINTER, "out is a null pointer");

  bad.data = NULL;
  CHECK_FAILS(relayout_transpose(stream, &bad, &out, NULL), RELAYOUT_NULL_POINTER, "null pointer");
  bad.byte_offset = 4;
  CHECK_FAILS(relayout_transpose(stream, &bad, &out, NULL), RELAYOUT_NULL_POINTER, "byte_offset of 4");
  bad = in;
  bad.byte_offset = UINT64_MAX;
  CHECK_FAILS(relayout_transpose(stream, &bad, &out, NULL), RELAYOUT_INVALID_ARGUMENT, "63 bits");
  bad.byte_offset = 2;
  CHECK_FAILS(relayout_transpose(stream, &bad, &out, NULL), RELAYOUT_INVALID_ARGUMENT, "multiple");
  bad = in;
  bad.ndim = -1;
  CHECK_FAILS(relayout_transpose(stream, &bad, &out, NULL), RELAYOUT_RANK, "-1 axes");
  bad.ndim = 33;
  CHECK_FAILS(relayout_transpose(stream, &bad, &out, NULL), RELAYOUT_RANK, "0 to 32");
  bad = in;
  bad.shape = NULL;
  CHECK_FAILS(relayout_transpose(stream, &bad, &out, NULL), RELAYOUT_NULL_POINTER, "in.shape");
  bad = in;
  bad.shape = EXTENTS(2, -3);
  CHECK_FAILS(relayout_transpose(stream, &bad, &out, NULL), RELAYOUT_INVALID_ARGUMENT, "-3");
  bad.shape = EXTENTS(INT64_MAX, INT64_MAX);
  CHECK_FAILS(relayout_transpose(stream, &bad, &out, NULL), RELAYOUT_INVALID_SHAPE, "");
  bad = in;
  bad.device.device_type = RELAYOUT_DL_CUDA;
  bad.device.device_id = 3;
  CHECK_FAILS(relayout_transpose(stream, &bad, &out, NULL), RELAYOUT_INVALID_ARGUMENT, "NVIDIA GPU 3");
  bad.device.device_type = RELAYOUT_DL_ROCM;
  CHECK_FAILS(relayout_transpose(stream, &bad, &out, NULL), RELAYOUT_INVALID_ARGUMENT, "AMD GPU 3");
  bad.device.device_type = 8;
  CHECK_FAILS(relayout_transpose(stream, &bad, &out, NULL), RELAYOUT_INVALID_ARGUMENT, "device type 8");
  bad = in;
  bad.dtype.lanes = 2;
  CHECK_FAILS(relayout_transpose(stream, &bad, &out, NULL), RELAYOUT_DTYPE, "2 lanes");
  bad.dtype = (relayout_dl_dtype){99, 7, 1};
  CHECK_FAILS(relayout_transpose(stream, &bad, &out, NULL), RELAYOUT_DTYPE, "code 99, 7 bits");
  for (int i = 0; i < 6; ++i) CHECK(out_data[i] == 0); /* nothing was written by any of them */
}

static void accepted(relayout_device* device, relayout_stream* stream) {
  float data[8] = {0, 1, 2, 3, 4, 5, 6, 7}, out_data[6];
  relayout_tensor in = tensor_of(data, kF32, 2, EXTENTS(2, 3)),
                  out = tensor_of(out_data, kF32, 2, EXTENTS(3, 2));
  (void)device;

  in.byte_offset = 8; /* begins at element 2 */
  CHECK_OK(relayout_transpose(stream, &in, &out, NULL));
  CHECK(memcmp(out_data, (float[]){2, 5, 3, 6, 4, 7}, sizeof out_data) == 0);

  in.byte_offset = 28; /* from the last element backwards */
  in.strides = EXTENTS(-3, -1);
  CHECK_OK(relayout_transpose(stream, &in, &out, NULL));
  CHECK(memcmp(out_data, (float[]){7, 4, 6, 3, 5, 2}, sizeof out_data) == 0);

  in.device.device_type = RELAYOUT_DL_CUDA_HOST; /* pinned memory is host memory, too */
  CHECK_OK(relayout_transpose(stream, &in, &out, NULL));

  in = tensor_of(&data[3], kF32, 0, NULL); /* no axes: one element */
  out = tensor_of(out_data, kF32, 0, NULL);
  CHECK_OK(relayout_copy(stream, &in, &out, NULL));
  CHECK(out_data[0] == 3);

  in = tensor_of(NULL, kF32, 2, EXTENTS(0, 3)); /* no elements need no memory */
  in.byte_offset = 4;
  out = tensor_of(NULL, kF32, 2, EXTENTS(3, 0));
  CHECK_OK(relayout_transpose(stream, &in, &out, NULL));

  /* complex128, vectors and the like are moved between tensors of one type, and nothing else. */
  double complex_data[6] = {1, 2, 3, 4, 5, 6}, moved[6];
  const relayout_dl_dtype complex128 = {RELAYOUT_DL_COMPLEX, 128, 1}, vectors = {RELAYOUT_DL_FLOAT, 32, 2};
  in = tensor_of(complex_data, complex128, 1, EXTENTS(3));
  in.strides = EXTENTS(-1);
  in.byte_offset = 32;
  out = tensor_of(moved, complex128, 1, EXTENTS(3));
  CHECK_OK(relayout_copy(stream, &in, &out, NULL));
  CHECK(memcmp(moved, (double[]){5, 6, 3, 4, 1, 2}, sizeof moved) == 0);
  CHECK_FAILS(relayout_cast(stream, &in, &out, NULL), RELAYOUT_DTYPE, "code 5, 128 bits");
  in.dtype = vectors;
  CHECK_FAILS(relayout_copy(stream, &in, &out, NULL), RELAYOUT_DTYPE, "2 lanes");
}

static void both(relayout_device* device, relayout_stream* stream) {
  refused(device, stream);
  accepted(device, stream);
}

int main(void) {
  CHECK(relayout_abi_version() == RELAYOUT_ABI_VERSION);
  CHECK(strcmp(relayout_version(), EXPECTED_VERSION) == 0);
  CHECK(strstr(relayout_built_with(), "cpu") != NULL);
  CHECK(strcmp(relayout_status_name(RELAYOUT_OK), "ok") == 0);
  CHECK(strcmp(relayout_status_name(RELAYOUT_PAD_TOO_LARGE), "pad_too_large") == 0);
  CHECK(strcmp(relayout_status_name(-1), "unknown") == 0);
  return run_on_devices(both);
}
