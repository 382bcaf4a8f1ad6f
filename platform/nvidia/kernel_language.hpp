// What kernels need of CUDA beyond the language itself: the same names on every platform.
#pragma once

#include <cuda_runtime.h>

#include <cstdint>

/// `name` points to the block's dynamic shared memory, 16-byte aligned.
#define RELAYOUT_DYNAMIC_SHARED(T, name)                    \
  extern __shared__ uint4 relayout_dynamic_shared_memory[]; \
  T* name = reinterpret_cast<T*>(relayout_dynamic_shared_memory)

/// At most so many threads a block, at least so many blocks a multiprocessor.
#define RELAYOUT_LAUNCH_BOUNDS(threads, blocks) __launch_bounds__(threads, blocks)

namespace relayout::RELAYOUT_BACKEND {

constexpr unsigned kWholeWarp = 0xffffffffu;

/// Blocks of a row of a folded grid (kernels/block_index.hpp). 0: no grid is folded, since CUDA takes 2^31 -
/// 1 blocks along x, whatever their threads.
constexpr std::uint32_t kGridRow = 0;

// 16 bytes between registers and a 16-byte aligned address, by one access.
__device__ __forceinline__ void load_16_bytes(void* registers, const void* address) {
  const uint4 words = *static_cast<const uint4*>(address);
  memcpy(registers, &words, 16);
}
__device__ __forceinline__ void store_16_bytes(void* address, const void* registers) {
  uint4 words;
  memcpy(&words, registers, 16);
  *static_cast<uint4*>(address) = words;
}
/// From global memory, which the compiler does not see of a pointer that may come from a slot.
__device__ __forceinline__ void load_global_16_bytes(void* registers, const void* address) {
  const uint4 words = __ldca(static_cast<const uint4*>(address));
  memcpy(registers, &words, 16);
}
/// To global memory, where a plain assignment is now and then split into four; `streaming`: marked to leave
/// the caches first.
__device__ __forceinline__ void store_global_16_bytes(void* address, const void* registers, bool streaming) {
  uint4 words;
  memcpy(&words, registers, 16);
  if (streaming) {
    __stcs(static_cast<uint4*>(address), words);
  } else {
    __stwb(static_cast<uint4*>(address), words);
  }
}

/// Copies of 4, 8 or 16 bytes from global to shared memory, on boundaries of as many, that go on beside the
/// thread which starts them. It commits those that it started as one batch, and waits until no more than
/// kLeft batches are under way. Where a platform has none, a kernel loads early and stores late itself.
constexpr bool kHasAsyncCopies = true;
template <int kBytes>
__device__ __forceinline__ void start_async_copy(void* shared, const void* global) {
  asm volatile("cp.async.ca.shared.global [%0], [%1], %2;" ::"r"(
                   static_cast<std::uint32_t>(__cvta_generic_to_shared(shared))),
               "l"(__cvta_generic_to_global(global)), "n"(kBytes)
               : "memory");
}
__device__ __forceinline__ void commit_async_copies() { asm volatile("cp.async.commit_group;" ::: "memory"); }
template <int kLeft>
__device__ __forceinline__ void wait_for_async_copies() {
  asm volatile("cp.async.wait_group %0;" ::"n"(kLeft) : "memory");
}
/// The same of all lanes of the warp, which then see what any of them copied.
template <int kLeft>
__device__ __forceinline__ void wait_for_async_copies_of_warp() {
  wait_for_async_copies<kLeft>();
  __syncwarp();
}

/// An element of 1, 2, 4 or 8 bytes from global memory, and to it.
template <class T>
__device__ __forceinline__ T load_global(const T* address) {
  return __ldca(address);
}
template <class T>
__device__ __forceinline__ void store_global(T* address, T value) {
  __stwb(address, value);
}

/// Brings the line of global memory at the address into the L2, beside the threads.
constexpr bool kHasPrefetch = true;
__device__ __forceinline__ void prefetch_line(const void* address) {
  asm volatile("prefetch.global.L2 [%0];" ::"l"(address));
}

/// A number that kernels of other devices read or write while this one runs: what this thread's device wrote
/// before the store is there for whoever loads the number.
__device__ __forceinline__ void store_for_other_devices(std::uint32_t* address, std::uint32_t value) {
  asm volatile("st.release.sys.u32 [%0], %1;" ::"l"(address), "r"(value) : "memory");
}
__device__ __forceinline__ std::uint32_t load_of_other_device(const std::uint32_t* address) {
  std::uint32_t value;
  asm volatile("ld.acquire.sys.u32 %0, [%1];" : "=r"(value) : "l"(address) : "memory");
  return value;
}
/// A clock of a constant rate (Backend::ticks_per_second): nanoseconds here.
__device__ __forceinline__ std::uint64_t device_ticks() {
  std::uint64_t ticks;
  asm volatile("mov.u64 %0, %globaltimer;" : "=l"(ticks));
  return ticks;
}
/// Between two looks at such a number: a load takes long enough.
__device__ __forceinline__ void wait_a_little() {}

/// A kernel that launch_early() starts may begin while the one before it on its stream ends: once all blocks
/// of that one have called let_next_kernel_begin() or have ended. All of its threads wait for the end, and
/// for what was written until then, before they use any memory.
__device__ __forceinline__ void let_next_kernel_begin() {
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 900
  asm volatile("griddepcontrol.launch_dependents;" ::: "memory");
#endif
}
__device__ __forceinline__ void wait_for_kernel_before() {
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 900
  asm volatile("griddepcontrol.wait;" ::: "memory");
#endif
}

/// An address in global memory as a number of its own: the compiler neither makes it anew from what it is the
/// sum of, nor moves it to where it is used.
template <class T>
__device__ __forceinline__ T* as_own_address(T* address) {
  asm("" : "+l"(address));
  __builtin_assume(__isGlobal(address));
  return address;
}

/// An address in shared memory as a number of its own: the compiler makes it anew, by three instructions, for
/// every access of a loop.
template <class T>
__device__ __forceinline__ T* as_shared_address(T* address) {
  asm("" : "+l"(address));
  __builtin_assume(__isShared(address));
  return address;
}

/// Whether it holds for one of the lanes that run this together. It is for choosing between ways that are
/// both right: a platform may look at the lane alone.
__device__ __forceinline__ bool any_beside(bool predicate) {
  return __any_sync(__activemask(), predicate) != 0;
}

/// Four bytes of the eight in {high, low}: digit i of the selector, from the right, names byte i of the
/// result.
template <unsigned kSelector>
__device__ __forceinline__ std::uint32_t permute_bytes(std::uint32_t low, std::uint32_t high) {
  return __byte_perm(low, high, kSelector);
}

/// The larger and the smaller of two numbers, NaN if either is. Which of 0 and -0 is larger is the platform's
/// affair.
__device__ __forceinline__ float larger_or_nan(float a, float b) {
  asm("max.NaN.f32 %0, %1, %2;" : "=f"(a) : "f"(a), "f"(b));
  return a;
}
__device__ __forceinline__ float smaller_or_nan(float a, float b) {
  asm("min.NaN.f32 %0, %1, %2;" : "=f"(a) : "f"(a), "f"(b));
  return a;
}

/// Four numbers as signed bytes, the first in the lowest; those beyond a byte's range become its ends.
__device__ __forceinline__ std::uint32_t saturated_bytes(const std::int32_t (&numbers)[4]) {
  std::uint32_t high, all;
  asm("cvt.pack.sat.s8.s32.b32 %0, %1, %2, 0;" : "=r"(high) : "r"(numbers[3]), "r"(numbers[2]));
  asm("cvt.pack.sat.s8.s32.b32 %0, %1, %2, %3;" : "=r"(all) : "r"(numbers[1]), "r"(numbers[0]), "r"(high));
  return all;
}

/// A kernel's first parameter where it lies in memory (the AMD platform).
template <class P>
__device__ __forceinline__ const P& in_place(const P& parameter) {
  return parameter;
}

/// Kernels that take the warp size as a template parameter are compiled for 32 lanes, and for 64 where this
/// holds.
constexpr bool kHasWarpsOf64 = false;
/// Whether the GPU that this pass of the compiler is for can have warps of W lanes: a kernel for others has
/// no body.
template <int W>
constexpr bool kMayHaveWarpsOf = W == 32;

/// W is the warp size that the host took from the device: 32 here.
template <int W>
__device__ __forceinline__ int lane_id() {
  static_assert(W == 32, "a CUDA warp has 32 lanes");
  return static_cast<int>((threadIdx.x + blockDim.x * (threadIdx.y + blockDim.y * threadIdx.z)) % W);
}
template <int W, class T>
__device__ __forceinline__ T warp_shuffle(T value, int source_lane) {
  static_assert(W == 32, "a CUDA warp has 32 lanes");
  return __shfl_sync(kWholeWarp, value, source_lane);
}
template <int W, class T>
__device__ __forceinline__ T warp_shuffle_xor(T value, int mask) {
  static_assert(W == 32, "a CUDA warp has 32 lanes");
  return __shfl_xor_sync(kWholeWarp, value, mask);
}
template <int W>
__device__ __forceinline__ std::uint64_t warp_ballot(bool predicate) {
  static_assert(W == 32, "a CUDA warp has 32 lanes");
  return __ballot_sync(kWholeWarp, predicate);
}
/// `value`: AMD's compiler is told to keep it in a vector register.
template <class T>
__device__ __forceinline__ T per_lane(T value) {
  return value;
}
template <int W>
__device__ __forceinline__ void warp_barrier() {
  static_assert(W == 32, "a CUDA warp has 32 lanes");
  __syncwarp();
}

}  // namespace relayout::RELAYOUT_BACKEND
