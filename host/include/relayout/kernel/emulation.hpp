// The language of kernels for a compiler that makes no code for GPUs: natural HIP source compiles unchanged
// and runs on the emulator's fibers. Only files with kernels include this: its words are macros.
#pragma once

#include <cstddef>
#include <cstdint>
#include <tuple>
#include <utility>

#include <relayout/export.hpp>
#include <relayout/kernel/launch_shape.hpp>

#define __global__
#define __device__
#define __host__
// A sanitizer's instructions around every access, inlined wherever a kernel's parts are, would take four
// times as long to compile.
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
#define __forceinline__ inline
#else
#define __forceinline__ inline __attribute__((always_inline))
#endif
#define __launch_bounds__(...)

// A worker (OS thread) runs one block at a time, so a block's shared memory is its worker's. AddressSanitizer
// puts no red zones around thread-locals: there the runtime uses one worker and plain statics. It also leaves
// out statics of functions that several translation units may share, so kernels live in an unnamed namespace.
#if defined(__SANITIZE_ADDRESS__)
#define __shared__ static
#elif defined(__has_feature)
#if __has_feature(address_sanitizer)
#define __shared__ static
#else
#define __shared__ static thread_local
#endif
#else
#define __shared__ static thread_local
#endif

#define __syncthreads() ::relayout::emulator::block_barrier(__FILE__, __LINE__)

/// `T* name` = the block's dynamic shared memory: exactly LaunchShape::shared_bytes, aligned to 16 bytes, all
/// bits set (NaN in every floating type) when the block starts.
// NOLINTBEGIN(bugprone-macro-parentheses): a type and a name
#define RELAYOUT_DYNAMIC_SHARED(T, name)                                           \
  static_assert(alignof(T) <= 16, "dynamic shared memory is aligned to 16 bytes"); \
  T* name = static_cast<T*>(::relayout::emulator::dynamic_shared())
// NOLINTEND(bugprone-macro-parentheses)

namespace relayout {

class Stream;

namespace emulator {

struct Dim3 {
  std::uint32_t x, y, z;
};

// The indices of the GPU thread that runs now on this OS thread. They are rewritten at each switch. Fibers
// never leave their OS thread. No other word than __thread says that no constructor runs at the first use.
extern RELAYOUT_API __thread Dim3 threadIdx;
extern RELAYOUT_API __thread Dim3 blockIdx;
extern RELAYOUT_API __thread Dim3 blockDim;
extern RELAYOUT_API __thread Dim3 gridDim;

RELAYOUT_API void block_barrier(const char* file, int line);
RELAYOUT_API void* dynamic_shared() noexcept;

/// One GPU thread's whole work: `call(arguments)`.
struct KernelCall {
  void (*call)(const void* arguments);
  const void* arguments;
};

/// Calls run(KernelCall) with the kernel and its arguments, converted to its parameters.
template <class Run, class... P, class... A>
void with_kernel_call(Run&& run, void (*kernel)(P...), const A&... args) {
  static_assert(sizeof...(P) == sizeof...(A), "one argument for each of the kernel's parameters");
  struct Arguments {
    void (*kernel)(P...);
    std::tuple<P...> values;
  };
  const Arguments arguments{kernel, std::tuple<P...>(static_cast<P>(args)...)};
  const auto call = [](const void* memory) {
    const auto& packed = *static_cast<const Arguments*>(memory);
    std::apply(packed.kernel, packed.values);
  };
  std::forward<Run>(run)(KernelCall{call, &arguments});
}

/// Runs the kernel for every thread of every block and returns when all have ended. Error{launch} for a shape
/// that a GPU would refuse and for divergence; what a kernel throws ends the launch and leaves here. Launches
/// of several host threads run one after the other. stream: of an emulated device.
RELAYOUT_API void run_kernel(const Stream& stream, const LaunchShape& shape, KernelCall kernel);

}  // namespace emulator
}  // namespace relayout
