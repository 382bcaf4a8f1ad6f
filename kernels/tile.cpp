// tile: out[i] = cast(in[i]) where the input is fastest along in_axis and the output along the last axis. A
// block moves a square of these two axes through shared memory: it reads along the input's axis and writes
// along the output's. All other axes are decoded once per block.
//
// Shared memory: Tile x (Tile + pad) output elements; the pad makes a row an odd number of 4-byte banks, so
// that lanes that walk down a column hit different banks. Global traffic: every element once, in runs of Tile
// elements.
#include "kernels/backend_kernels.hpp"
#include "kernels/element_ops.hpp"
#include "launch.hpp"

namespace relayout::RELAYOUT_BACKEND {
namespace {

constexpr int kThreads = 256;

/// 128-byte runs on the output side for 2-, 4- and 8-byte elements alike would need 16 to 64; 32 is the least
/// that keeps a warp on one row.
template <class T>
constexpr int tile_extent = sizeof(T) <= 2 ? 64 : 32;
template <class T>
constexpr int tile_pitch = tile_extent<T> + (sizeof(T) >= 4 ? 1 : 4 / static_cast<int>(sizeof(T)));

template <class From, class To>
__global__ __launch_bounds__(kThreads) void tile_kernel(CopyParams p, std::int64_t tiles_in,
                                                        std::int64_t tiles_out) {
  constexpr int kTile = tile_extent<To>;
  constexpr int kRows = kThreads / kTile;
  __shared__ To tile[kTile][tile_pitch<To>];

  const int out_axis = p.rank - 1;
  std::int64_t rest = blockIdx.x;
  const std::int64_t out_begin = rest % tiles_out * kTile;
  rest /= tiles_out;
  const std::int64_t in_begin = rest % tiles_in * kTile;
  rest /= tiles_in;
  const std::int64_t in_step = p.in_strides[p.in_axis], out_step = p.out_strides[out_axis];
  const std::int64_t in_pitch = p.in_strides[out_axis], out_pitch = p.out_strides[p.in_axis];
  std::int64_t in_base = in_begin * in_step + out_begin * in_pitch;
  std::int64_t out_base = in_begin * out_pitch + out_begin * out_step;
  for (int axis = out_axis - 1; axis >= 0; --axis) {
    if (axis == p.in_axis) continue;
    const std::int64_t index = rest % p.extents[axis];
    rest /= p.extents[axis];
    in_base += index * p.in_strides[axis];
    out_base += index * p.out_strides[axis];
  }
  const From* in = static_cast<const From*>(p.in) + in_base;
  To* out = static_cast<To*>(p.out) + out_base;
  const std::int64_t left_in = p.extents[p.in_axis] - in_begin, left_out = p.extents[out_axis] - out_begin;
  const int columns = left_in < kTile ? static_cast<int>(left_in) : kTile;  // along the input's axis
  const int rows = left_out < kTile ? static_cast<int>(left_out) : kTile;   // along the output's axis

  const int lane = static_cast<int>(threadIdx.x) % kTile, first_row = static_cast<int>(threadIdx.x) / kTile;
#pragma unroll
  for (int step = 0; step < kTile / kRows; ++step) {
    const int row = first_row + step * kRows;
    if (row < rows && lane < columns) tile[row][lane] = convert<To>(in[lane * in_step + row * in_pitch]);
  }
  __syncthreads();
#pragma unroll
  for (int step = 0; step < kTile / kRows; ++step) {
    const int column = first_row + step * kRows;
    if (column < columns && lane < rows) out[lane * out_step + column * out_pitch] = tile[lane][column];
  }
}

}  // namespace

void launch_tile(const LaunchContext& context, const CopyParams& p) {
  visit_element_types(p.in_type, p.out_type, [&](auto from, auto to) {
    using From = typename decltype(from)::type;
    using To = typename decltype(to)::type;
    constexpr std::int64_t kTile = tile_extent<To>;
    const std::int64_t in_extent = p.extents[p.in_axis], out_extent = p.extents[p.rank - 1];
    const std::int64_t tiles_in = (in_extent + kTile - 1) / kTile,
                       tiles_out = (out_extent + kTile - 1) / kTile;
    LaunchShape shape;
    shape.blocks_x = p.elements / in_extent / out_extent * tiles_in * tiles_out;
    shape.threads_x = kThreads;
    launch("tile", context, shape, tile_kernel<From, To>, p, tiles_in, tiles_out);
  });
}

}  // namespace relayout::RELAYOUT_BACKEND
