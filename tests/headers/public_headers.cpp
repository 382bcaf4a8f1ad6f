// Compiled by several compilers in several standards with the warnings that a user may have on: what the
// public headers define is used here, so that their templates are compiled, too.
#include <relayout/kernel.hpp>
#include <relayout/relayout.hpp>

#include <cstdint>
#include <vector>

namespace {

struct Scaled {
  float factor;
  RELAYOUT_HOST_DEVICE float operator()(float x, float y) const { return factor * x + y; }
};

template <class T>
__global__ void transpose_tiles(relayout::TileSpace<2> from, const T* x, relayout::TileSpace<2> to, T* y) {
  RELAYOUT_DYNAMIC_SHARED(T, tile);
  __shared__ std::int64_t number;
  if (threadIdx.x == 0) number = blockIdx.x;
  __syncthreads();
  const relayout::PerAxis<2> index = from.tile_at(number);
  const int thread = static_cast<int>(threadIdx.x), threads = static_cast<int>(blockDim.x);
  load_tile(from, index, x, tile, relayout::TilePadding::zero, thread, threads);
  __syncthreads();
  store_tile(to, index, tile, y, thread, threads);
}

template <class T>
void launch_transpose(const relayout::Stream& stream, const relayout::TensorView& in,
                      const relayout::TensorView& out) {
  const relayout::TileSpace<2> from = relayout::tile_space<2>(in, {8, 8}),
                               to = relayout::tile_space<2>(out.permuted({1, 0}), {8, 8});
  relayout::LaunchShape shape;
  shape.blocks_x = from.tile_count();
  shape.threads_x = 64;
  shape.shared_bytes = sizeof(T) * 64;
  relayout::launch(stream, shape, transpose_tiles<T>, from, static_cast<const T*>(in.data()), to,
                   static_cast<T*>(out.data()));
}

template <class... T>
void map_each(const relayout::Stream& stream, const relayout::TensorView& x) {
  (relayout::map<T(float, float)>(stream, Scaled{2}, {x, x}, x), ...);
  (relayout::plan_map<T(float, float)>(stream.device(), Scaled{2}, {x, x}, x).run(stream), ...);
}

}  // namespace

void use_public_headers(const relayout::Stream& stream, const relayout::TensorView& x) {
  launch_transpose<float>(stream, x, x);
  launch_transpose<relayout::f16>(stream, x, x);
  launch_transpose<std::uint8_t>(stream, x, x);
  map_each<bool, std::int8_t, std::uint16_t, std::int32_t, std::uint64_t, relayout::f16, relayout::bf16,
           float, double>(stream, x);
  const auto chain = relayout::chain_of(relayout::functors::Relu(), relayout::functors::Add());
  relayout::map<relayout::f16(relayout::f16, float)>(stream, chain, {x, x}, x);
  relayout::add(stream, x, 2, x);
  relayout::leaky_relu(stream, x, 0.5, x);
  relayout::clip(stream, x, 0, 6.0f, x);
}
