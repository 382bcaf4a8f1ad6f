#include "tile_transfer_kernels.hpp"

#include <cstdint>

#include "kernel_language.hpp"
#include "launch.hpp"

namespace relayout::RELAYOUT_BACKEND {
namespace {

template <class T, int kRank>
__global__ void walk_tiles(TileSpace<kRank> in_space, const T* in, TileSpace<kRank> out_space, T* out,
                           PerAxis<kRank> shift, TilePadding padding, DType type) {
  RELAYOUT_DYNAMIC_SHARED(T, tile);
  const int thread = static_cast<int>(threadIdx.x), threads = static_cast<int>(blockDim.x);
  const PerAxis<kRank> out_index = out_space.tile_at(blockIdx.x);
  PerAxis<kRank> in_index = out_index;
  for (int axis = 0; axis < kRank; ++axis) in_index[axis] += shift[axis];
  load_tile(in_space, in_index, in, tile, padding, thread, threads, type);
  __syncthreads();
  store_tile(out_space, out_index, tile, out, thread, threads);
}

template <class T, int kRank>
void launch_walk(const LaunchContext& context, const test::TileWalkCase& c) {
  const TileSpace<kRank> in_space = tile_space<kRank>(c.in, c.tile);
  const TileSpace<kRank> out_space = tile_space<kRank>(c.out, c.tile);
  check_padding(c.in.dtype(), c.padding);
  PerAxis<kRank> shift{};
  for (int axis = 0; axis < kRank; ++axis) shift[axis] = c.shift[static_cast<std::size_t>(axis)];
  LaunchShape shape;
  if (out_space.tile_count() == 0) return;
  shape.blocks_x = out_space.tile_count();
  shape.threads_x = c.threads;
  shape.shared_bytes = static_cast<std::size_t>(out_space.tile_elements()) * sizeof(T);
  launch("walk over tiles", context, shape, walk_tiles<T, kRank>, in_space,
         static_cast<const T*>(c.in.data()), out_space, static_cast<T*>(c.out.data()), shift, c.padding,
         c.in.dtype());
}

template <class T>
void launch_of_type(const LaunchContext& context, const test::TileWalkCase& c) {
  if (c.in.rank() == 1) return launch_walk<T, 1>(context, c);
  if (c.in.rank() == 2) return launch_walk<T, 2>(context, c);
  launch_walk<T, 3>(context, c);
}

}  // namespace

void launch_tile_walk(const LaunchContext& context, const test::TileWalkCase& c) {
  switch (size_of(c.in.dtype())) {
    case 1:
      return launch_of_type<std::uint8_t>(context, c);
    case 2:
      return launch_of_type<f16>(context, c);
    case 4:
      return launch_of_type<float>(context, c);
    default:
      return launch_of_type<double>(context, c);
  }
}

}  // namespace relayout::RELAYOUT_BACKEND
