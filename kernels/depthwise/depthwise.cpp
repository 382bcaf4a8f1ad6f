// depthwise for sequence ids and what no other kernel takes, and the final state. This kernel computes an
// output at a time: its lanes lie along the output's fast axis, its taps are read through the caches.
#include "kernels/backend_kernels.hpp"
#include "kernels/block_index.hpp"
#include "kernels/depthwise/depthwise_common.hpp"
#include "launch.hpp"

namespace relayout::RELAYOUT_BACKEND {
namespace {

/// A block takes p.lanes * p.run times of the other threads' channels, or p.lanes channels of the other
/// threads' runs of times.
template <class T>
__global__ __launch_bounds__(kDepthwiseThreads) void depthwise_kernel(DepthwiseParams p, DepthwiseGrid grid) {
  const DepthwisePlace place = p.lanes_along_time ? place_block<true>(grid) : place_block<false>(grid);
  if (is_spare(place.batch, p.batch)) return;
  const int row = static_cast<int>(threadIdx.x) / p.lanes, lane = static_cast<int>(threadIdx.x) % p.lanes;
  const std::int64_t channel = place.channel + (p.lanes_along_time ? row : lane);
  if (channel >= p.channels) return;
  const std::int64_t first = place.time + (p.lanes_along_time ? lane : row * p.run);
  const int step = p.lanes_along_time ? p.lanes : 1;
  for (int i = 0; i < p.run; ++i) {
    const std::int64_t time = first + i * step;
    if (time >= p.length) return;
    store_output<T, true>(p, place.batch, channel, time);
  }
}

/// state[b, c, s] = the sample of time length - (taps-1) + s, bit for bit.
template <class T>
__global__ __launch_bounds__(kDepthwiseThreads) void final_state_kernel(DepthwiseParams p,
                                                                        std::int64_t elements) {
  const std::int64_t element = static_cast<std::int64_t>(block_index()) * kDepthwiseThreads + threadIdx.x;
  if (element >= elements) return;
  const std::int64_t columns = p.taps - 1;
  const std::int64_t row = element / columns, column = element - row * columns;
  const std::int64_t batch = row / p.channels, channel = row - batch * p.channels;
  static_cast<T*>(p.state)[batch * p.state_batch + channel * p.state_channel + column * p.state_time] =
      SampleRow<T>(p, batch, channel).at(p, p.length - columns + column);
}

void launch_scalar(const LaunchContext& context, const DepthwiseParams& p) {
  const std::int64_t rows = kDepthwiseThreads / p.lanes;
  const DepthwiseGrid grid = p.lanes_along_time ? DepthwiseGrid(p, rows, std::int64_t{p.lanes} * p.run)
                                                : DepthwiseGrid(p, p.lanes, rows * p.run);
  const NumberedBlocks shape = numbered_blocks(grid.blocks(p), kDepthwiseThreads);
  visit_floats_up_to_f32(p.type, [&](auto type) {
    using T = typename decltype(type)::type;
    launch("depthwise_conv1d", context, shape, depthwise_kernel<T>, p, grid);
  });
}

void launch_outputs(const LaunchContext& context, const DepthwiseParams& p) {
  switch (p.kernel) {
    case DepthwiseKernel::time:
      return launch_depthwise_time(context, p);
    case DepthwiseKernel::time_many:
      return launch_depthwise_time_many(context, p);
    case DepthwiseKernel::time_matrix:
      return launch_depthwise_time_matrix(context, p);
    case DepthwiseKernel::channel:
      return launch_depthwise_channel(context, p);
    case DepthwiseKernel::channel_aligned:
      return launch_depthwise_channel_aligned(context, p);
    case DepthwiseKernel::channel_many:
      return launch_depthwise_channel_many(context, p);
    case DepthwiseKernel::turn:
      return launch_depthwise_turn(context, p);
    case DepthwiseKernel::tile_matrix:
      return launch_depthwise_tile_matrix(context, p);
    case DepthwiseKernel::tile:
      return launch_depthwise_tile(context, p);
    default:
      return launch_scalar(context, p);
  }
}

void launch_final_state(const LaunchContext& context, const DepthwiseParams& p) {
  const std::int64_t elements = p.state == nullptr ? 0 : p.batch * p.channels * (p.taps - 1);
  if (elements == 0) return;
  visit_floats_up_to_f32(p.type, [&](auto type) {
    using T = typename decltype(type)::type;
    launch("depthwise_conv1d", context, one_thread_each(elements, kDepthwiseThreads), final_state_kernel<T>,
           p, elements);
  });
}

}  // namespace

void launch_depthwise(const LaunchContext& context, const DepthwiseParams& p) {
  if (p.kernel == DepthwiseKernel::nothing) return;
  if (p.update) return launch_depthwise_update(context, p);
  if (p.batch * p.channels * p.length > 0) launch_outputs(context, p);
  launch_final_state(context, p);
}

}  // namespace relayout::RELAYOUT_BACKEND
