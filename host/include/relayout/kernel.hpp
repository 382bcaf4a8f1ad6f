// Kernels of your own, in one source: nvcc and hipcc compile it for GPUs, any other compiler for the emulator
// (Device::emulated(), the component `emulator`). docs/tiles.md has an example.
//
// A kernel may use __global__, __device__, __host__, __forceinline__, __launch_bounds__, __shared__,
// __syncthreads(), threadIdx, blockIdx, blockDim, gridDim, and RELAYOUT_DYNAMIC_SHARED(T, name), which
// declares `T* name`, the block's dynamic shared memory, aligned to 16 bytes. What a vendor's language has
// besides, as atomics and shuffles, the emulator does not have. RELAYOUT_GPU is defined where the compiler is
// a GPU's. Only files with kernels include this header: without such a compiler these words are macros, and
// the indices are names outside namespaces.
#pragma once

#include <tuple>

#include <relayout/kernel/launch_shape.hpp>
#include <relayout/map/compiler.hpp>
#include <relayout/map/gpu_calls.hpp>
#include <relayout/stream.hpp>

#if defined(RELAYOUT_GPU)
#ifndef RELAYOUT_DYNAMIC_SHARED
#define RELAYOUT_DYNAMIC_SHARED(T, name)                    \
  extern __shared__ uint4 relayout_dynamic_shared_memory[]; \
  T* name = reinterpret_cast<T*>(relayout_dynamic_shared_memory)
#endif
#else
#include <relayout/kernel/emulation.hpp>
using relayout::emulator::blockDim;
using relayout::emulator::blockIdx;
using relayout::emulator::gridDim;
using relayout::emulator::threadIdx;
#endif

namespace relayout {
inline namespace RELAYOUT_COMPILED_BY {

/// Queues kernel(args...) on the stream, with the arguments converted to its parameters, which are passed by
/// value. On an emulated device the kernel has run when the call returns. Pointers are to memory of the
/// stream's device.
///
/// Errors: unsupported for a device that this file was not compiled for; launch for a shape that the device
/// refuses, and on emulated devices for threads that wait at different barriers.
template <class... P, class... A>
void launch(const Stream& stream, const LaunchShape& shape, void (*kernel)(P...), const A&... args) {
  static_assert(sizeof...(P) == sizeof...(A), "one argument for each of the kernel's parameters");
  detail::check_kernel_launch(stream.device(), shape, detail::kCompiledFor);
#if defined(RELAYOUT_GPU)
  const detail::CurrentGpu current("launch", stream.device().index());
  detail::check_gpu("launch",
                    detail::allow_shared_memory(reinterpret_cast<const void*>(kernel), shape.shared_bytes),
                    ErrorCode::launch);
  const dim3 grid(static_cast<unsigned>(shape.blocks_x), static_cast<unsigned>(shape.blocks_y),
                  static_cast<unsigned>(shape.blocks_z));
  const dim3 block(static_cast<unsigned>(shape.threads_x), static_cast<unsigned>(shape.threads_y),
                   static_cast<unsigned>(shape.threads_z));
  std::tuple<P...> values(static_cast<P>(args)...);
  std::apply(
      [&](auto&... value) {
        void* arguments[] = {&value..., nullptr};
        detail::launch_kernel("launch", reinterpret_cast<const void*>(kernel), grid, block,
                              shape.shared_bytes, stream, arguments);
      },
      values);
#else
  emulator::with_kernel_call([&](emulator::KernelCall call) { emulator::run_kernel(stream, shape, call); },
                             kernel, args...);
#endif
}

}  // namespace RELAYOUT_COMPILED_BY
}  // namespace relayout
