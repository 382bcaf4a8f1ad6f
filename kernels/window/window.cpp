// The window kernel for whatever the others do not take: windows whose samples do not fit into shared memory.
//   out[b, g, t, k, c] = padded in[b, g * channels + c, t * stride + k * dilation - pad_left]
//
// A block takes a tile of positions x channels of one batch and group. Every output reads its input element
// itself; lanes run along the output's fastest axis.
//
// Global traffic: an element of the input for each output, most of them from the caches; each output once.
#include "core/pad_index.hpp"
#include "core/window_geometry.hpp"
#include "kernels/backend_kernels.hpp"
#include "kernels/block_index.hpp"
#include "kernels/element_ops.hpp"
#include "kernels/window/window_grid.hpp"
#include "launch.hpp"

namespace relayout::RELAYOUT_BACKEND {
namespace {

constexpr int kThreads = kWindowThreads;

/// Where a block's tile lies and how much of it is inside the output.
struct TileOrigin {
  std::int64_t first_position, first_channel;  // channel within the group
  std::int64_t in_base, out_base;              // element offsets of the tile's batch, group and first channel
  int positions, channels;
};

__device__ __forceinline__ TileOrigin tile_origin(const WindowParams& p, const WindowGrid& grid) {
  const auto [first_channel, first_position, group, batch] = tile_index(p, grid);
  TileOrigin place;
  place.first_channel = first_channel;
  place.first_position = first_position;
  place.in_base = batch * p.in_batch + (group * p.channels + place.first_channel) * p.in_channel;
  place.out_base = batch * p.out_batch + group * p.out_group + place.first_channel * p.out_channel;
  const std::int64_t channels = p.channels - place.first_channel;
  const std::int64_t positions = p.positions - place.first_position;
  place.channels = channels < p.tile_channels ? static_cast<int>(channels) : p.tile_channels;
  place.positions = positions < p.tile_positions ? static_cast<int>(positions) : p.tile_positions;
  return place;
}

/// One output element of the tile, by its place in the tile.
struct OutputIndex {
  int position;
  std::int64_t tap;
  int channel;
};

/// The tile's outputs in write order: flat index -> (position, tap, channel), the output's fastest axis
/// first.
__device__ __forceinline__ OutputIndex output_index(const WindowParams& p, const TileOrigin& place,
                                                    std::int64_t flat) {
  const std::int64_t taps = p.taps;
  if (p.order == WriteOrder::channel) {
    const std::int64_t row = flat / place.channels;
    const int channel = static_cast<int>(flat - row * place.channels);
    const std::int64_t position = row / taps;
    return {static_cast<int>(position), row - position * taps, channel};
  }
  if (p.order == WriteOrder::tap) {
    const std::int64_t row = flat / taps;
    const std::int64_t position = row / place.channels;
    return {static_cast<int>(position), flat - row * taps, static_cast<int>(row - position * place.channels)};
  }
  const std::int64_t row = flat / place.positions;
  const std::int64_t channel = row / taps;
  return {static_cast<int>(flat - row * place.positions), row - channel * taps, static_cast<int>(channel)};
}

template <class From, class To>
__global__ __launch_bounds__(kThreads) void window_kernel(WindowParams p, WindowGrid grid, To padding) {
  if (is_spare(block_index(), grid.blocks)) return;
  const TileOrigin place = tile_origin(p, grid);
  const From* in = static_cast<const From*>(p.in) + place.in_base;
  To* out = static_cast<To*>(p.out) + place.out_base;
  const std::int64_t outputs = static_cast<std::int64_t>(place.positions) * place.channels * p.taps;
  for (std::int64_t flat = threadIdx.x; flat < outputs; flat += kThreads) {
    const OutputIndex index = output_index(p, place, flat);
    std::int64_t position = place.first_position + index.position;
    if (position >= p.gap_begin) position += p.gap;
    const std::int64_t time = position * p.stride + index.tap * p.dilation - p.pad_left;
    const std::int64_t source = pad_index(p.mode, time, p.length, p.reflect_length);
    const To value =
        source >= 0 ? convert<To>(in[index.channel * p.in_channel + source * p.in_time]) : padding;
    out[position * p.out_position + index.tap * p.out_tap + index.channel * p.out_channel] = value;
  }
}

void launch_direct(const LaunchContext& context, const WindowParams& p) {
  const WindowGrid grid = window_grid(p);
  const NumberedBlocks shape = numbered_blocks(grid.blocks, kThreads);
  visit_window_types(p, [&](auto from, auto padding) {
    using From = typename decltype(from)::type;
    using To = decltype(padding);
    launch("window", context, shape, window_kernel<From, To>, p, grid, padding);
  });
}

}  // namespace

void launch_window(const LaunchContext& context, const WindowParams& p) {
  switch (p.kernel) {
    case WindowKernel::nothing:
    case WindowKernel::native:
      return;
    case WindowKernel::rows:
      return launch_pad_rows(context, p);
    case WindowKernel::vector:
      return launch_window_vector(context, p);
    case WindowKernel::tile:
      return launch_window_tile(context, p);
    case WindowKernel::direct:
      return launch_direct(context, p);
  }
}

}  // namespace relayout::RELAYOUT_BACKEND
