// The depthwise backward pass of any number of taps, the gradients that meet states, and the sums of all
// blocks.
//
// Any number of taps takes three launches: g of every output, f32 in the workspace; from it the gradients of
// the samples; from it and the samples the sums of each block of time for each tap. The gradients that meet
// states are few, so they are computed once more, after the other kernels, without the workspace.
#include "kernels/depthwise/depthwise_backward.hpp"
#include "core/integer_math.hpp"
#include "kernels/backend_kernels.hpp"
#include "kernels/block_index.hpp"
#include "launch.hpp"

namespace relayout::RELAYOUT_BACKEND {
namespace {

constexpr const char* kOperation = "depthwise_conv1d_backward";
/// A thread of the last launch adds all sums of a number, or one of kManyParts parts of more than kFewBlocks.
constexpr int kFewBlocks = 8, kManyParts = 8;

/// A thread's position and channel: lanes lie along the fast axis.
struct BackwardPlace {
  std::int64_t batch, channel, position;

  __device__ __forceinline__ BackwardPlace(const DepthwiseGrid& grid, bool lanes_along_time) {
    const DepthwisePlace place = lanes_along_time ? place_block<true>(grid) : place_block<false>(grid);
    batch = place.batch;
    channel = place.channel + (lanes_along_time ? grid.row() : grid.lane());
    position = place.time + (lanes_along_time ? grid.lane() : grid.row());
  }
};

template <class T>
__global__ __launch_bounds__(kDepthwiseThreads) void backward_g_kernel(DepthwiseBackwardParams p,
                                                                       DepthwiseGrid grid) {
  const BackwardPlace place(grid, p.forward.lanes_along_time);
  if (is_spare(place.batch, p.forward.batch)) return;
  if (place.channel >= p.forward.channels || place.position >= p.forward.length) return;
  p.g[place.batch * p.g_batch + place.channel * p.g_channel + place.position * p.g_time] =
      BackwardRow<T, false>(p, place.batch, place.channel).g(place.position);
}

/// Samples of the initial state, and the last ones of the signal.
struct WantedSamples {
  std::int64_t initial, last;
};

template <class T, bool Kept>
__global__ __launch_bounds__(kDepthwiseThreads) void backward_samples_kernel(DepthwiseBackwardParams p,
                                                                             DepthwiseGrid grid,
                                                                             WantedSamples wanted) {
  const BackwardPlace place(grid, p.forward.lanes_along_time);
  if (is_spare(place.batch, p.forward.batch)) return;
  if (place.channel >= p.forward.channels || place.position >= wanted.initial + wanted.last) return;
  const std::int64_t time = place.position < wanted.initial
                                ? place.position - (p.forward.taps - 1)
                                : p.forward.length - wanted.last + place.position - wanted.initial;
  BackwardRow<T, Kept>(p, place.batch, place.channel).store_d_sample(time);
}

/// A thread takes a row of a block of time and a channel, whose products it adds in the order of time.
template <class T>
__global__ __launch_bounds__(kDepthwiseThreads) void backward_sums_kernel(DepthwiseBackwardParams p,
                                                                          std::int64_t time_blocks,
                                                                          std::int64_t sums) {
  const DepthwiseParams& f = p.forward;
  const std::int64_t number = static_cast<std::int64_t>(block_index()) * kDepthwiseThreads + threadIdx.x;
  if (number >= sums) return;
  // Lanes meet neighbouring samples: those of neighbouring taps, or of neighbouring channels.
  auto rest = static_cast<std::uint64_t>(number);
  const auto rows = static_cast<std::uint64_t>(f.taps + 1), channels = static_cast<std::uint64_t>(f.channels);
  std::uint64_t row, channel;
  if (f.lanes_along_time) {
    std::uint64_t quotient = split(rest, rows);
    row = rest;
    rest = split(quotient, channels);
    channel = quotient;
  } else {
    std::uint64_t quotient = split(rest, channels);
    channel = rest;
    rest = split(quotient, rows);
    row = quotient;
  }
  const auto block = static_cast<std::int64_t>(rest), distance = static_cast<std::int64_t>(row);
  const std::int64_t batch = block / time_blocks, begin = (block - batch * time_blocks) * p.tile_times;
  const std::int64_t end = f.length - begin < p.tile_times ? f.length : begin + p.tile_times;
  const BackwardRow<T, true> own(p, batch, static_cast<std::int64_t>(channel));
  float sum = 0.0f;
  if (distance == f.taps) {
#pragma unroll 4
    for (std::int64_t time = begin; time < end; ++time) sum += own.g(time);
  } else {
#pragma unroll 4
    for (std::int64_t time = begin; time < end; ++time)
      sum = fmaf(own.g(time), own.sample(time, time - distance), sum);
  }
  p.sums[(block * f.channels * (f.taps + 1)) + distance * f.channels + static_cast<std::int64_t>(channel)] =
      sum;
}

/// Adds the sums of all blocks of time, Parts stretches of neighbouring ones beside each other and then
/// these.
template <int Parts>
__global__ __launch_bounds__(kDepthwiseThreads) void backward_weights_kernel(DepthwiseBackwardParams p,
                                                                             std::int64_t blocks,
                                                                             Divisor by_channel_blocks) {
  constexpr int kChannels = kDepthwiseThreads / Parts;
  const DepthwiseParams& f = p.forward;
  std::uint32_t channel_block = block_index();
  const std::int64_t row = split(channel_block, by_channel_blocks);
  if (is_spare(row, f.taps + 1)) return;
  const int lane = static_cast<int>(threadIdx.x) % kChannels,
            part = static_cast<int>(threadIdx.x) / kChannels;
  const std::int64_t channel = std::int64_t{channel_block} * kChannels + lane;
  const std::int64_t numbers = (f.taps + 1) * f.channels, each = divide_up(blocks, Parts);
  float sum = 0.0f;
  wait_for_kernel_before();
  if (channel < f.channels) {
    const std::int64_t begin = part * each, end = blocks - begin < each ? blocks : begin + each;
    const float* const sums = p.sums + row * f.channels + channel;
#pragma unroll 8
    for (std::int64_t block = begin; block < end; ++block) sum += sums[block * numbers];
  }
  if constexpr (Parts > 1) {
    RELAYOUT_DYNAMIC_SHARED(float, parts);
    parts[threadIdx.x] = sum;
    __syncthreads();
    if (part > 0) return;
#pragma unroll
    for (int i = 1; i < Parts; ++i) sum += parts[i * kChannels + lane];
  }
  if (channel < f.channels) store_gradient(p, channel, row, sum);
}

/// A thread for each of `positions` along time and each channel.
struct PlacedLaunch {
  DepthwiseBackwardParams params;
  DepthwiseGrid grid;
  NumberedBlocks shape;

  PlacedLaunch(const DepthwiseBackwardParams& p, std::int64_t positions)
      : params(with_lanes(p, positions)),
        grid(grid_of(params.forward, positions)),
        shape(numbered_blocks(grid.blocks(params.forward), kDepthwiseThreads)) {}

 private:
  static DepthwiseBackwardParams with_lanes(DepthwiseBackwardParams p, std::int64_t positions) {
    const std::int64_t along = p.forward.lanes_along_time ? positions : p.forward.channels;
    p.forward.lanes = 1;
    while (p.forward.lanes < kDepthwiseThreads && p.forward.lanes < along) p.forward.lanes *= 2;
    return p;
  }
  static DepthwiseGrid grid_of(DepthwiseParams f, std::int64_t positions) {
    const std::int64_t others = kDepthwiseThreads / f.lanes;
    f.length = positions;
    return f.lanes_along_time ? DepthwiseGrid(f, others, f.lanes) : DepthwiseGrid(f, f.lanes, others);
  }
};

template <class T, bool Kept>
void launch_samples(const LaunchContext& context, const DepthwiseBackwardParams& p,
                    const WantedSamples& wanted) {
  if (wanted.initial + wanted.last == 0) return;
  const PlacedLaunch placed(p, wanted.initial + wanted.last);
  launch(kOperation, context, placed.shape, backward_samples_kernel<T, Kept>, placed.params, placed.grid,
         wanted);
}

template <class T>
void launch_general(const LaunchContext& context, const DepthwiseBackwardParams& p) {
  const DepthwiseParams& f = p.forward;
  if (f.length > 0) {
    const PlacedLaunch placed(p, f.length);
    launch(kOperation, context, placed.shape, backward_g_kernel<T>, placed.params, placed.grid);
  }
  launch_samples<T, true>(context, p, {p.d_initial == nullptr ? 0 : f.taps - 1, f.length});
  if (p.sums == nullptr) return;
  const std::int64_t sums = p.sum_blocks() * (f.taps + 1) * f.channels;
  launch(kOperation, context, one_thread_each(sums, kDepthwiseThreads), backward_sums_kernel<T>, p,
         p.time_blocks(), sums);
}

}  // namespace

void launch_depthwise_backward(const LaunchContext& context, const DepthwiseBackwardParams& p) {
  const DepthwiseParams& f = p.forward;
  if (p.kernel == DepthwiseBackwardKernel::nothing) return;
  visit_floats_up_to_f32(f.type, [&](auto type) {
    using T = typename decltype(type)::type;
    if (f.batch == 0 || f.channels == 0) return;
    if (p.kernel == DepthwiseBackwardKernel::general) return launch_general<T>(context, p);
    if (p.kernel == DepthwiseBackwardKernel::channels) {
      launch_depthwise_backward_channels(context, p);
    } else if (p.kernel == DepthwiseBackwardKernel::time) {
      launch_depthwise_backward_time(context, p);
    } else {
      launch_depthwise_backward_tile(context, p);
    }
    const std::int64_t older = f.taps - 1;
    launch_samples<T, false>(context, p,
                             {p.d_initial == nullptr ? 0 : older, p.d_final == nullptr ? 0
                                                                  : older < f.length   ? older
                                                                                       : f.length});
  });
  if (!p.wants_sums || p.stores_gradients()) return;
  const std::int64_t blocks = p.sums == nullptr ? 0 : p.sum_blocks();
  const auto start = [&](auto constant) {
    constexpr int kParts = decltype(constant)::value, kChannels = kDepthwiseThreads / kParts;
    const std::int64_t channel_blocks = divide_up(f.channels, kChannels);
    const NumberedBlocks shape = numbered_blocks((f.taps + 1) * channel_blocks, kDepthwiseThreads,
                                                 kParts > 1 ? kDepthwiseThreads * sizeof(float) : 0);
    launch_early(kOperation, context, shape, backward_weights_kernel<kParts>, p, blocks,
                 make_grid_divisor(channel_blocks));
  };
  if (blocks <= kFewBlocks) return start(std::integral_constant<int, 1>{});
  start(std::integral_constant<int, kManyParts>{});
}

}  // namespace relayout::RELAYOUT_BACKEND
