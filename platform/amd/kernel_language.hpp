// What kernels need of HIP beyond the language itself: the same names on every platform.
#pragma once

#include <hip/hip_runtime.h>

#include <cstdint>

#include "core/launch_context.hpp"

/// `name` points to the block's dynamic shared memory (LDS), 16-byte aligned.
#define RELAYOUT_DYNAMIC_SHARED(T, name)                    \
  extern __shared__ uint4 relayout_dynamic_shared_memory[]; \
  T* name = reinterpret_cast<T*>(relayout_dynamic_shared_memory)

/// __launch_bounds__ without the blocks: HIP would take them for waves a SIMD and halve the registers for it.
#define RELAYOUT_LAUNCH_BOUNDS(threads, blocks) __launch_bounds__(threads)

namespace relayout::RELAYOUT_BACKEND {

/// Blocks of a row of a folded grid (kernels/block_index.hpp).
constexpr std::uint32_t kGridRow = kLongGridRow;

// 16 bytes between registers and a 16-byte aligned address, by one access.
typedef unsigned Words16 __attribute__((ext_vector_type(4)));
__device__ __forceinline__ void load_16_bytes(void* registers, const void* address) {
  const Words16 words = *static_cast<const Words16*>(address);
  memcpy(registers, &words, 16);
}
__device__ __forceinline__ void store_16_bytes(void* address, const void* registers) {
  Words16 words;
  memcpy(&words, registers, 16);
  *static_cast<Words16*>(address) = words;
}
/// From global memory, which the compiler does not see of a pointer that may come from a slot.
__device__ __forceinline__ void load_global_16_bytes(void* registers, const void* address) {
  using Global = const __attribute__((address_space(1))) Words16;
  const Words16 words = *(Global*)(address);
  memcpy(registers, &words, 16);
}
/// To global memory; `streaming`: marked to leave the caches first.
__device__ __forceinline__ void store_global_16_bytes(void* address, const void* registers, bool streaming) {
  Words16 words;
  memcpy(&words, registers, 16);
  using Global = __attribute__((address_space(1))) Words16;
  if (streaming) {
    __builtin_nontemporal_store(words, (Global*)(address));
  } else {
    *(Global*)(address) = words;
  }
}

/// Copies of 4, 8 or 16 bytes from global to shared memory, on boundaries of as many, that go on beside the
/// thread which starts them. It commits those that it started as one batch, and waits until no more than
/// kLeft batches are under way. Where a platform has none, a kernel loads early and stores late itself.
constexpr bool kHasAsyncCopies = false;
template <int kBytes>
__device__ __forceinline__ void start_async_copy(void*, const void*) {}
__device__ __forceinline__ void commit_async_copies() {}
template <int kLeft>
__device__ __forceinline__ void wait_for_async_copies() {}
/// The same of all lanes of the warp, which then see what any of them copied.
template <int kLeft>
__device__ __forceinline__ void wait_for_async_copies_of_warp() {}

/// An element of 1, 2, 4 or 8 bytes from global memory, and to it.
template <class T>
__device__ __forceinline__ T load_global(const T* address) {
  return *(const __attribute__((address_space(1))) T*)(address);
}
template <class T>
__device__ __forceinline__ void store_global(T* address, T value) {
  *(__attribute__((address_space(1))) T*)(address) = value;
}

/// No line of memory can be asked for ahead.
constexpr bool kHasPrefetch = false;
__device__ __forceinline__ void prefetch_line(const void*) {}

/// A number that kernels of other devices read or write while this one runs: what this thread's device wrote
/// before the store is there for whoever loads the number.
__device__ __forceinline__ void store_for_other_devices(std::uint32_t* address, std::uint32_t value) {
  __hip_atomic_store(address, value, __ATOMIC_RELEASE, __HIP_MEMORY_SCOPE_SYSTEM);
}
__device__ __forceinline__ std::uint32_t load_of_other_device(const std::uint32_t* address) {
  return __hip_atomic_load(address, __ATOMIC_ACQUIRE, __HIP_MEMORY_SCOPE_SYSTEM);
}
/// A clock of a constant rate (Backend::ticks_per_second).
__device__ __forceinline__ std::uint64_t device_ticks() { return static_cast<std::uint64_t>(wall_clock64()); }
/// Between two looks at such a number.
__device__ __forceinline__ void wait_a_little() { __builtin_amdgcn_s_sleep(1); }

/// On the NVIDIA platform a kernel may begin while the one before it ends. Here it begins after that end, so
/// neither call has anything to do.
__device__ __forceinline__ void let_next_kernel_begin() {}
__device__ __forceinline__ void wait_for_kernel_before() {}

/// An address in global memory that a compiler may make anew from what it is the sum of: other ones must not.
template <class T>
__device__ __forceinline__ T* as_own_address(T* address) {
  return address;
}
/// The same for an address in shared memory.
template <class T>
__device__ __forceinline__ T* as_shared_address(T* address) {
  return address;
}
/// Whether it holds for one of the lanes that run this together. It is for choosing between ways that are
/// both right: a platform may look at the lane alone.
__device__ __forceinline__ bool any_beside(bool predicate) { return __any(predicate) != 0; }

/// Four bytes of the eight in {high, low}: digit i of the selector, from the right, names byte i of the
/// result.
template <unsigned kSelector>
__device__ __forceinline__ std::uint32_t permute_bytes(std::uint32_t low, std::uint32_t high) {
  constexpr unsigned kBytes =
      (kSelector & 7) | (kSelector >> 4 & 7) << 8 | (kSelector >> 8 & 7) << 16 | (kSelector >> 12 & 7) << 24;
  return __builtin_amdgcn_perm(high, low, kBytes);
}

/// The larger and the smaller of two numbers, NaN if either is. Which of 0 and -0 is larger is the platform's
/// affair.
__device__ __forceinline__ float larger_or_nan(float a, float b) { return a < b || b != b ? b : a; }
__device__ __forceinline__ float smaller_or_nan(float a, float b) { return b < a || b != b ? b : a; }

/// Four numbers as signed bytes, the first in the lowest; those beyond a byte's range become its ends.
__device__ __forceinline__ std::uint32_t saturated_bytes(const std::int32_t (&numbers)[4]) {
  std::uint32_t bytes[4];
  for (int i = 0; i < 4; ++i) {
    const std::int32_t above =
        numbers[i] > -128 ? numbers[i] : -128;  // with the next, one instruction: v_med3
    bytes[i] = static_cast<std::uint32_t>(above < 127 ? above : 127);
  }
  return permute_bytes<0x5410>(permute_bytes<0x0040>(bytes[0], bytes[1]),
                               permute_bytes<0x0040>(bytes[2], bytes[3]));
}

/// Kernels that take the warp size as a template parameter are compiled for 32 lanes, and for 64 where this
/// holds.
constexpr bool kHasWarpsOf64 = true;
/// Whether the GPU that this pass of the compiler is for can have warps of W lanes: a kernel for others has
/// no body.
#if defined(__GFX9__)
template <int W>
constexpr bool kMayHaveWarpsOf = W == 64;
#elif defined(__GFX10__) || defined(__GFX11__) || defined(__GFX12__)
template <int W>
constexpr bool kMayHaveWarpsOf = W == 32;
#else  // the host's pass, and GPUs to come
template <int W>
constexpr bool kMayHaveWarpsOf = true;
#endif

/// A kernel's first parameter where it lies in memory. Where code chooses between addresses in a parameter,
/// the compiler would copy it to scratch memory of each lane first.
template <class P>
__device__ __forceinline__ const P& in_place(const P&) {
  return *(const P*)(const __attribute__((address_space(4))) P*)__builtin_amdgcn_kernarg_segment_ptr();
}

/// W is the warp size (wavefront) that the host took from the device: 64 on CDNA, 32 on RDNA.
template <int W>
__device__ __forceinline__ int lane_id() {
  return static_cast<int>((threadIdx.x + blockDim.x * (threadIdx.y + blockDim.y * threadIdx.z)) % W);
}
template <int W, class T>
__device__ __forceinline__ T warp_shuffle(T value, int source_lane) {
  return __shfl(value, source_lane, W);
}
template <int W, class T>
__device__ __forceinline__ T warp_shuffle_xor(T value, int mask) {
  return __shfl_xor(value, mask, W);
}
template <int W>
__device__ __forceinline__ std::uint64_t warp_ballot(bool predicate) {
  return __ballot(predicate);
}
/// `value` in a vector register: a kernel with more numbers than there are scalar registers keeps there what
/// it uses lane by lane anyway.
template <class T>
__device__ __forceinline__ T per_lane(T value) {
  asm("" : "+v"(value));
  return value;
}
/// Lanes of a wavefront run in lock-step; the fence keeps the compiler from moving memory accesses across.
template <int W>
__device__ __forceinline__ void warp_barrier() {
  __builtin_amdgcn_fence(__ATOMIC_ACQ_REL, "wavefront");
  __builtin_amdgcn_wave_barrier();
}

}  // namespace relayout::RELAYOUT_BACKEND
