// The kernel language for a host compiler: natural HIP source compiles unchanged and runs on the fiber
// runtime (fiber_runtime.hpp), which owns the switches behind the barriers and the warp operations.
#pragma once

#include <chrono>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <thread>
#include <type_traits>

#include "fiber_runtime.hpp"

/// What a GPU's compiler shares out registers by.
#define RELAYOUT_LAUNCH_BOUNDS(threads, blocks)

namespace relayout::RELAYOUT_BACKEND {

/// Blocks of a row of a folded grid (kernels/block_index.hpp). With 64 lanes most grids of the tests are
/// folded (launch.hpp).
constexpr std::uint32_t kGridRow = kEmulatedGridRow;

__device__ __forceinline__ std::uint32_t __float_as_uint(float value) {
  std::uint32_t bits;
  std::memcpy(&bits, &value, sizeof bits);
  return bits;
}
__device__ __forceinline__ float __uint_as_float(std::uint32_t bits) {
  float value;
  std::memcpy(&value, &bits, sizeof value);
  return value;
}
__device__ __forceinline__ float rsqrtf(float value) { return 1.0f / std::sqrt(value); }
/// The low word of {high, low} shifted right by shift % 32.
__device__ __forceinline__ std::uint32_t __funnelshift_r(std::uint32_t low, std::uint32_t high,
                                                         std::uint32_t shift) {
  const std::uint64_t both = static_cast<std::uint64_t>(high) << 32 | low;
  return static_cast<std::uint32_t>(both >> (shift % 32));
}
/// The high word of the product.
__device__ __forceinline__ std::uint32_t __umulhi(std::uint32_t a, std::uint32_t b) {
  return static_cast<std::uint32_t>(static_cast<std::uint64_t>(a) * b >> 32);
}
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
__device__ __forceinline__ bool any_beside(bool predicate) { return predicate; }

/// Four bytes of the eight in {high, low}: digit i of the selector, from the right, names byte i of the
/// result.
template <unsigned kSelector>
__device__ __forceinline__ std::uint32_t permute_bytes(std::uint32_t low, std::uint32_t high) {
  const std::uint64_t both = static_cast<std::uint64_t>(high) << 32 | low;
  std::uint32_t result = 0;
  for (unsigned i = 0; i < 4; ++i) {
    result |= static_cast<std::uint32_t>(both >> ((kSelector >> (4 * i) & 7) * 8) & 0xff) << (8 * i);
  }
  return result;
}
/// The larger and the smaller of two numbers, NaN if either is. Which of 0 and -0 is larger is the platform's
/// affair.
__device__ __forceinline__ float larger_or_nan(float a, float b) { return a < b || b != b ? b : a; }
__device__ __forceinline__ float smaller_or_nan(float a, float b) { return b < a || b != b ? b : a; }

/// Four numbers as signed bytes, the first in the lowest; those beyond a byte's range become its ends.
__device__ __forceinline__ std::uint32_t saturated_bytes(const std::int32_t (&numbers)[4]) {
  std::uint32_t bytes = 0;
  for (int i = 0; i < 4; ++i) {
    const std::int32_t above = numbers[i] > -128 ? numbers[i] : -128, inside = above < 127 ? above : 127;
    bytes |= (static_cast<std::uint32_t>(inside) & 0xff) << (8 * i);
  }
  return bytes;
}
/// The fast forms of the GPUs, which are less exact than these.
__device__ __forceinline__ float __expf(float value) { return std::exp(value); }
__device__ __forceinline__ float __fdividef(float numerator, float denominator) {
  return numerator / denominator;
}
__device__ __forceinline__ long long __double_as_longlong(double value) {
  long long bits;
  std::memcpy(&bits, &value, sizeof bits);
  return bits;
}
__device__ __forceinline__ double __longlong_as_double(long long bits) {
  double value;
  std::memcpy(&value, &bits, sizeof value);
  return value;
}

// 16 bytes between registers and a 16-byte aligned address: as a GPU, the emulator takes no other.
__device__ __forceinline__ void load_16_bytes(void* registers, const void* address) {
  if (reinterpret_cast<std::uintptr_t>(address) % 16 != 0) refuse_misaligned(address);
  std::memcpy(registers, __builtin_assume_aligned(address, 16), 16);
}
__device__ __forceinline__ void store_16_bytes(void* address, const void* registers) {
  if (reinterpret_cast<std::uintptr_t>(address) % 16 != 0) refuse_misaligned(address);
  std::memcpy(__builtin_assume_aligned(address, 16), registers, 16);
}
/// From global memory: another instruction on a GPU.
__device__ __forceinline__ void load_global_16_bytes(void* registers, const void* address) {
  load_16_bytes(registers, address);
}
/// To global memory; a GPU marks streaming ones to leave the caches first.
__device__ __forceinline__ void store_global_16_bytes(void* address, const void* registers, bool) {
  store_16_bytes(address, registers);
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
T load_global(const T* address) {
  return *address;
}
template <class T>
void store_global(T* address, T value) {
  *address = value;
}

/// A GPU brings the line at the address into its L2.
constexpr bool kHasPrefetch = true;
__device__ __forceinline__ void prefetch_line(const void*) {}

/// A number that kernels of other host threads read or write while this one runs: what this thread wrote
/// before the store is there for whoever loads the number.
__device__ __forceinline__ void store_for_other_devices(std::uint32_t* address, std::uint32_t value) {
  __atomic_store_n(address, value, __ATOMIC_RELEASE);
}
__device__ __forceinline__ std::uint32_t load_of_other_device(const std::uint32_t* address) {
  return __atomic_load_n(address, __ATOMIC_ACQUIRE);
}
/// A clock of a constant rate (Backend::ticks_per_second): nanoseconds here.
__device__ __forceinline__ std::uint64_t device_ticks() {
  return static_cast<std::uint64_t>(
      std::chrono::nanoseconds(std::chrono::steady_clock::now().time_since_epoch()).count());
}
/// Between two looks at such a number.
__device__ __forceinline__ void wait_a_little() { std::this_thread::yield(); }

/// On the NVIDIA platform a kernel may begin while the one before it ends. Here it begins after that end, so
/// neither call has anything to do.
__device__ __forceinline__ void let_next_kernel_begin() {}
__device__ __forceinline__ void wait_for_kernel_before() {}

/// A kernel's first parameter where it lies in memory (the AMD platform).
template <class P>
__device__ __forceinline__ const P& in_place(const P& parameter) {
  return parameter;
}

/// Kernels that take the warp size as a template parameter are compiled for 32 lanes, and for 64 where this
/// holds.
constexpr bool kHasWarpsOf64 = true;
/// Whether the GPU that this pass of the compiler is for can have warps of W lanes: emulated ones have
/// either.
template <int W>
constexpr bool kMayHaveWarpsOf = W == 32 || W == 64;

// Warp operations. W is the device's warp size; every thread of the warp takes part (a block's last warp may
// be short), in the same call. T: trivially copyable, up to 8 bytes. Only warp_barrier orders memory.

/// This thread's place in its warp.
template <int W>
__device__ __forceinline__ int lane_id() {
  static_assert(W == 32 || W == 64, "a warp has 32 or 64 lanes");
  const std::uint32_t thread = (threadIdx.z * blockDim.y + threadIdx.y) * blockDim.x + threadIdx.x;
  return static_cast<int>(thread % W);
}

/// The value of lane `source_lane`, 0 <= source_lane < W and present.
template <int W, class T>
__device__ __forceinline__ T warp_shuffle(T value, int source_lane, const char* file = __builtin_FILE(),
                                          int line = __builtin_LINE()) {
  static_assert(W == 32 || W == 64, "a warp has 32 or 64 lanes");
  static_assert(std::is_trivially_copyable<T>::value && sizeof(T) <= 8, "shuffles move up to 8 bytes");
  std::uint64_t bits = 0;
  std::memcpy(&bits, &value, sizeof value);
  bits = warp_exchange(W, bits, source_lane, {file, line});
  std::memcpy(&value, &bits, sizeof value);
  return value;
}

/// The value of lane `own lane ^ mask`, 0 <= mask < W.
template <int W, class T>
__device__ __forceinline__ T warp_shuffle_xor(T value, int mask, const char* file = __builtin_FILE(),
                                              int line = __builtin_LINE()) {
  return warp_shuffle<W>(value, lane_id<W>() ^ mask, file, line);
}

/// Bit i: lane i's predicate; 0 for lanes that the block does not have.
template <int W>
__device__ __forceinline__ std::uint64_t warp_ballot(bool predicate, const char* file = __builtin_FILE(),
                                                     int line = __builtin_LINE()) {
  static_assert(W == 32 || W == 64, "a warp has 32 or 64 lanes");
  return warp_vote(W, predicate, {file, line});
}

/// `value`: AMD's compiler is told to keep it in a vector register.
template <class T>
__device__ __forceinline__ T per_lane(T value) {
  return value;
}

/// What the warp's threads wrote before is visible to all of them after.
template <int W>
__device__ __forceinline__ void warp_barrier(const char* file = __builtin_FILE(),
                                             int line = __builtin_LINE()) {
  static_assert(W == 32 || W == 64, "a warp has 32 or 64 lanes");
  warp_wait(W, {file, line});
}

}  // namespace relayout::RELAYOUT_BACKEND
