// The differences between the compilers of a user's own file: nvcc, hipcc, and those that make no code for
// GPUs. This is the only place that asks which one it is; host_device.hpp asks only whether it is a GPU's.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>

#include <relayout/dtype.hpp>
#include <relayout/host_device.hpp>

// Functions that are compiled in several ways lie in an inline namespace of the compiler's: a program may
// have files of more than one. RELAYOUT_GPU(Success) is cudaSuccess or hipSuccess.
#if defined(__CUDACC__)
#include <cuda_fp16.h>
#include <cuda_runtime.h>
#define RELAYOUT_COMPILED_BY by_nvcc
#define RELAYOUT_GPU(name) cuda##name
#elif defined(__HIPCC__)
#include <hip/hip_runtime.h>
// After it.
#include <hip/hip_fp16.h>
#define RELAYOUT_COMPILED_BY by_hipcc
#define RELAYOUT_GPU(name) hip##name
#else
#define RELAYOUT_COMPILED_BY by_host
#endif

// Functions for host and device, as the compilers for GPUs see them.
#if defined(__CUDA_ARCH__) || defined(__HIP_DEVICE_COMPILE__)
#define RELAYOUT_ON_GPU
#define RELAYOUT_UNROLL _Pragma("unroll")
#define RELAYOUT_NO_UNROLL _Pragma("unroll 1")
#else
#define RELAYOUT_UNROLL
#define RELAYOUT_NO_UNROLL
#endif

namespace relayout::detail {
inline namespace RELAYOUT_COMPILED_BY {

/// The back end on whose GPUs this file can run; null where there is none.
#if defined(__CUDACC__)
constexpr const char* kCompiledFor = "cuda";
#elif defined(__HIPCC__)
constexpr const char* kCompiledFor = "hip";
#else
constexpr const char* kCompiledFor = nullptr;
#endif

#if defined(__CUDACC__)
/// More than 48 KiB of dynamic shared memory have to be asked for. The limit is the kernel's on its device,
/// not the launch's, so all that a block may have is asked for: a limit of `bytes` could end a launch of
/// another thread, which has asked for more just before. The device is the current one.
inline cudaError_t allow_shared_memory(const void* kernel, std::size_t bytes) {
  if (bytes <= 48 * 1024) return cudaSuccess;
  cudaFuncAttributes code{};
  int device = 0, most = 0;
  cudaError_t status = cudaFuncGetAttributes(&code, kernel);
  if (status != cudaSuccess || bytes <= static_cast<std::size_t>(code.maxDynamicSharedSizeBytes))
    return status;
  status = cudaGetDevice(&device);
  if (status == cudaSuccess)
    status = cudaDeviceGetAttribute(&most, cudaDevAttrMaxSharedMemoryPerBlockOptin, device);
  if (status != cudaSuccess) return status;
  return cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize,
                              most - static_cast<int>(code.sharedSizeBytes));
}
#elif defined(__HIPCC__)
/// A kernel may have all of a block's shared memory without asking.
inline hipError_t allow_shared_memory(const void*, std::size_t) { return hipSuccess; }
#endif

// The bits of an f16, by the processor's instructions on a GPU; both vendors' functions have one name.
#if defined(RELAYOUT_ON_GPU)
RELAYOUT_HOST_DEVICE inline float half_to_float(std::uint16_t bits) {
  return __half2float(__ushort_as_half(bits));
}
RELAYOUT_HOST_DEVICE inline std::uint16_t float_to_half(float value) {
#if defined(__HIP_DEVICE_COMPILE__)
  // A functor's product and the conversion would be joined to one instruction that adds +0, by which -0
  // becomes +0. This -0 changes no number, and the compiler does not see that it is one.
  value += __uint_as_float(__builtin_amdgcn_sad_u8(0, 0, 0x80000000u));
#endif
  return __half_as_ushort(__float2half(value));
}
#else
RELAYOUT_HOST_DEVICE inline float half_to_float(std::uint16_t bits) { return to_float(f16{bits}); }
RELAYOUT_HOST_DEVICE inline std::uint16_t float_to_half(float value) { return to_f16(value).bits; }
#endif

// Words {Word values[..]} between registers and memory, by one access on a multiple of their size. The host's
// compiler would take words for other objects than the elements.
#if defined(RELAYOUT_ON_GPU)
template <class Words>
RELAYOUT_HOST_DEVICE void load_words(const void* from, Words& words) {
  words = *static_cast<const Words*>(from);
}
#else
template <class Words>
RELAYOUT_HOST_DEVICE void load_words(const void* from, Words& words) {
  std::memcpy(&words, from, sizeof words);
}
#endif
#if defined(__CUDA_ARCH__)  // where a plain assignment is now and then split
template <class Words>
RELAYOUT_HOST_DEVICE void store_words(void* to, const Words& words) {
  const auto& w = words.values;
  if constexpr (sizeof(Words) == 16) {
    __stwb(static_cast<uint4*>(to), make_uint4(w[0], w[1], w[2], w[3]));
  } else if constexpr (sizeof(Words) == 8) {
    __stwb(static_cast<uint2*>(to), make_uint2(w[0], w[1]));
  } else {
    *static_cast<Words*>(to) = words;
  }
}
#elif defined(RELAYOUT_ON_GPU)
template <class Words>
RELAYOUT_HOST_DEVICE void store_words(void* to, const Words& words) {
  *static_cast<Words*>(to) = words;
}
#else
template <class Words>
RELAYOUT_HOST_DEVICE void store_words(void* to, const Words& words) {
  std::memcpy(to, &words, sizeof words);
}
#endif

}  // namespace RELAYOUT_COMPILED_BY
}  // namespace relayout::detail
