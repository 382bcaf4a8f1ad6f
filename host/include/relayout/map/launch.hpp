// Launches a call of map() on a GPU: the kernel is compiled with the user's own file and launched from there.
// Files that are compiled for no GPU see nothing of it.
#pragma once

#include <relayout/map/gpu_calls.hpp>
#include <relayout/map/vectors.hpp>

#if defined(RELAYOUT_GPU)
namespace relayout::detail {
inline namespace RELAYOUT_COMPILED_BY {

/// A grid of HIP has fewer than 2^32 threads; where there are more vectors, each thread takes several.
constexpr std::int64_t kMaxMapBlocks = std::int64_t{1} << 23;

/// A thread for every vector: kVector elements of the output. It reads each operand's elements as often as
/// they are repeated, and writes the output once; it uses no shared memory, and assumes nothing about warps.
/// No template parameter is a function type: from one that has f16 in it nvcc 13.0 makes another type in the
/// code that registers kernels, and the kernel is not found at the launch.
template <int kVector, class Functor, class Out, class... In>
__global__ void __launch_bounds__(kMapThreads) map_kernel(const MapNest nest, const Functor functor) {
  const std::int64_t threads = std::int64_t{gridDim.x} * kMapThreads;
  for (std::int64_t vector = std::int64_t{blockIdx.x} * kMapThreads + threadIdx.x; vector < nest.vectors;
       vector += threads) {
    MapThread<Out(In...)>::template run<kVector>(nest, functor, vector);
  }
}

template <int kVector, class Functor, class Out, class... In>
void launch_map(const Stream& stream, const MapNest& nest, const Functor& functor) {
  static_assert(sizeof(MapNest) + sizeof(Functor) <= 4000, "a kernel's parameters have 4096 bytes");
  const CurrentGpu current("map", stream.device().index());
  const std::int64_t wanted = (nest.vectors + kMapThreads - 1) / kMapThreads;
  const auto blocks = static_cast<unsigned>(wanted < kMaxMapBlocks ? wanted : kMaxMapBlocks);
  const auto kernel = map_kernel<kVector, Functor, Out, In...>;
  void* arguments[] = {const_cast<MapNest*>(&nest), const_cast<Functor*>(&functor)};
  launch_kernel("map", reinterpret_cast<const void*>(kernel), blocks, kMapThreads, 0, stream, arguments);
}

}  // namespace RELAYOUT_COMPILED_BY
}  // namespace relayout::detail
#endif
