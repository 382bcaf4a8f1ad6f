// window: padding and img2col, with any cast and any layout on both sides:
//   out[b, g, t, k, c] = padded in[b, g * channels + c, t * stride + k * dilation - pad_left]
//
// A block takes a tile of positions x channels of one batch and group. It loads the samples under the tile
// with their halo once, converted and padded, into shared memory as [sample][channel], and writes them once
// per tap. Reads run along time or channels, writes along the output's fastest axis, whichever those are.
//
// Global traffic: each input element once (halo rows twice), each output element once. Shared memory:
// tile_samples * tile_pitch output elements; without a tile (a span that does not fit) every output reads its
// input element itself.
#include <cstring>

#include "core/pad_index.hpp"
#include "core/window_geometry.hpp"
#include "kernels/backend_kernels.hpp"
#include "kernels/element_ops.hpp"
#include "kernels/window/window_grid.hpp"
#include "launch.hpp"

namespace relayout::RELAYOUT_BACKEND {
namespace {

constexpr int kThreads = kWindowThreads;

/// Where a block's tile lies and how much of it is inside the output.
struct TilePlace {
  std::int64_t first_position, first_channel;  // channel within the group
  std::int64_t in_base, out_base;              // element offsets of the tile's batch, group and first channel
  int positions, channels;
};

__device__ __forceinline__ TilePlace place_tile(const WindowParams& p, const WindowGrid& grid) {
  const auto [first_channel, first_position, group, batch] = tile_index(p, grid);
  TilePlace place;
  place.first_channel = first_channel;
  place.first_position = first_position;
  place.in_base = batch * p.in_batch + (group * p.channels + place.first_channel) * p.in_channel;
  place.out_base = batch * p.out_batch + group * p.out_group + place.first_channel * p.out_channel +
                   place.first_position * p.out_position;
  const std::int64_t channels = p.channels - place.first_channel;
  const std::int64_t positions = p.positions - place.first_position;
  place.channels = channels < p.tile_channels ? static_cast<int>(channels) : p.tile_channels;
  place.positions = positions < p.tile_positions ? static_cast<int>(positions) : p.tile_positions;
  return place;
}

template <class From, class To>
__device__ __forceinline__ To read_padded(const WindowParams& p, To padding, const From* in,
                                          std::int64_t time) {
  const std::int64_t source = pad_index(p.mode, time, p.length, p.reflect_length);
  return source >= 0 ? convert<To>(in[source * p.in_time]) : padding;
}

/// Loads the tile's samples; lanes run along time where that is the input's faster axis, else along channels.
template <class From, class To>
__device__ __forceinline__ void load_tile(const WindowParams& p, To padding, const TilePlace& place,
                                          To* tile) {
  const From* in = static_cast<const From*>(p.in) + place.in_base;
  // The samples are counted in 32 bits, not by p.span(): in 64 bits nvcc lays the loop out differently, and
  // pads of few channels take up to 15 % longer on an H200.
  const std::int64_t first_time = place.first_position * p.stride - p.pad_left;
  const int samples =
      (place.positions - 1) * static_cast<int>(p.stride) + static_cast<int>((p.taps - 1) * p.dilation) + 1;
  const std::int64_t time_step = p.in_time < 0 ? -p.in_time : p.in_time;
  const std::int64_t channel_step = p.in_channel < 0 ? -p.in_channel : p.in_channel;
  const int thread = static_cast<int>(threadIdx.x);
  if (time_step <= channel_step) {
    for (int element = thread; element < samples * place.channels; element += kThreads) {
      const int channel = element / samples, sample = element - channel * samples;
      tile[sample * p.tile_pitch + channel] =
          read_padded<From, To>(p, padding, in + channel * p.in_channel, first_time + sample);
    }
  } else {
    const int channel = thread % p.tile_channels;  // a power of two of at most kThreads
    if (channel >= place.channels) return;
    for (int sample = thread / p.tile_channels; sample < samples; sample += kThreads / p.tile_channels) {
      tile[sample * p.tile_pitch + channel] =
          read_padded<From, To>(p, padding, in + channel * p.in_channel, first_time + sample);
    }
  }
}

/// One output element of the tile, by its place in the tile.
struct OutputIndex {
  int position, tap, channel;
};

/// The tile's outputs in write order: flat index -> (position, tap, channel), the output's fastest axis
/// first.
__device__ __forceinline__ OutputIndex output_index(const WindowParams& p, const TilePlace& place,
                                                    std::int64_t flat) {
  const std::int64_t taps = p.taps;
  if (p.order == WriteOrder::channel) {
    const std::int64_t row = flat / place.channels;
    const int channel = static_cast<int>(flat - row * place.channels);
    const std::int64_t position = row / taps;
    return {static_cast<int>(position), static_cast<int>(row - position * taps), channel};
  }
  if (p.order == WriteOrder::tap) {
    const std::int64_t row = flat / taps;
    const std::int64_t position = row / place.channels;
    return {static_cast<int>(position), static_cast<int>(flat - row * taps),
            static_cast<int>(row - position * place.channels)};
  }
  const std::int64_t row = flat / place.positions;
  const std::int64_t channel = row / taps;
  return {static_cast<int>(flat - row * place.positions), static_cast<int>(row - channel * taps),
          static_cast<int>(channel)};
}

template <class From, class To, bool Tiled>
__global__ __launch_bounds__(kThreads) void window_kernel(WindowParams p, WindowGrid grid, To padding) {
  RELAYOUT_DYNAMIC_SHARED(To, tile);
  const TilePlace place = place_tile(p, grid);
  if constexpr (Tiled) {
    load_tile<From, To>(p, padding, place, tile);
    __syncthreads();
  }
  const From* in = static_cast<const From*>(p.in) + place.in_base;
  To* out = static_cast<To*>(p.out) + place.out_base;
  const std::int64_t outputs = static_cast<std::int64_t>(place.positions) * place.channels * p.taps;
  for (std::int64_t flat = threadIdx.x; flat < outputs; flat += kThreads) {
    const OutputIndex index = output_index(p, place, flat);
    const std::int64_t sample = index.position * p.stride + index.tap * p.dilation;  // from the tile's first
    To value;
    if constexpr (Tiled) {
      value = tile[sample * p.tile_pitch + index.channel];
    } else {
      value = read_padded<From, To>(p, padding, in + index.channel * p.in_channel,
                                    place.first_position * p.stride + sample - p.pad_left);
    }
    out[index.position * p.out_position + index.tap * p.out_tap + index.channel * p.out_channel] = value;
  }
}

void launch_general(const LaunchContext& context, const WindowParams& p) {
  const WindowGrid grid = window_grid(p);
  LaunchShape shape;
  shape.blocks_x = grid.blocks;
  shape.threads_x = kThreads;
  visit_element_types(p.in_type, p.out_type, [&](auto from, auto to) {
    using From = typename decltype(from)::type;
    using To = typename decltype(to)::type;
    To padding;
    std::memcpy(&padding, &p.pad_bits, sizeof(To));
    if (p.tile_samples > 0) {
      shape.shared_bytes = static_cast<std::size_t>(p.shared_bytes);
      launch("window", context, shape, window_kernel<From, To, true>, p, grid, padding);
    } else {
      launch("window", context, shape, window_kernel<From, To, false>, p, grid, padding);
    }
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
    case WindowKernel::general:
      return launch_general(context, p);
  }
}

}  // namespace relayout::RELAYOUT_BACKEND
