// depthwise from rows along channels to rows along time: up to 8 taps, words of channels in the input.
//
// A block takes p.tile_channels channels and p.tile_times samples of one batch. A thread owns a word of
// channels and walks p.run samples of it, as in depthwise_channel.cpp: it reads the input where it lies, the
// next step's words under way while it computes, with weights and the last taps-1 samples in registers. Its
// outputs go to a tile in shared memory, whose rows along time are then moved to global memory
// (depthwise_tile.hpp). Global traffic: each input element once, the taps-1 samples before a run through the
// caches; each output element once.
#include "kernels/backend_kernels.hpp"
#include "kernels/block_index.hpp"
#include "kernels/depthwise/depthwise_tile.hpp"
#include "launch.hpp"

namespace relayout::RELAYOUT_BACKEND {
namespace {

constexpr int kStep = kDepthwiseStep;

/// Where a thread's outputs go: rows along time of its channels.
template <class T>
struct TurnedRows {
  T* rows[kPerWord<T>];

  /// The outputs of a time, a channel after the other.
  __device__ __forceinline__ void store(int time, std::uint32_t word) const {
#pragma unroll
    for (int j = 0; j < kPerWord<T>; ++j) store_element(rows[j] + time, word, j);
  }
};

/// `count` samples of a word of channels, from `in` on; `before` are the words of the taps-1 samples before.
template <class T, int Taps>
__device__ __forceinline__ void walk_word(const T* in, int pitch, int count, std::uint32_t (&before)[Taps],
                                          const float (&weights)[kPerWord<T>][Taps],
                                          const float (&bias)[kPerWord<T>][1], bool with_silu,
                                          const TurnedRows<T>& out) {
  constexpr int kWidth = kPerWord<T>;
  std::uint32_t next[kStep];
  const auto load = [&](int left) {  // behind the last sample that one again, which nobody uses
    const int last = (left - 1) * pitch;
#pragma unroll
    for (int i = 0; i < kStep; ++i) {
      const int at = i * pitch;
      next[i] = *reinterpret_cast<const std::uint32_t*>(in + (at < last ? at : last));
    }
    in += kStep * pitch;
  };
  load(count);
#pragma unroll 1
  for (int time = 0; time < count; time += kStep) {
    float samples[Taps - 1 + kStep][kWidth];
#pragma unroll
    for (int i = 0; i < Taps - 1 + kStep; ++i)
      widen_word<T>(i < Taps - 1 ? before[i] : next[i - (Taps - 1)], samples[i]);
#pragma unroll
    for (int i = 0; i < Taps - 1; ++i) before[i] = next[kStep - (Taps - 1) + i];
    if (time + kStep < count) load(count - time - kStep);
#pragma unroll
    for (int i = 0; i < kStep; ++i) {
      float sums[kWidth];
#pragma unroll
      for (int j = 0; j < kWidth; ++j) {
        const auto sample = [&](int distance) { return samples[Taps - 1 + i - distance][j]; };
        sums[j] = sum_over_taps(weights[j], sample) + bias[j][0];
      }
      if (with_silu) {
#pragma unroll
        for (int j = 0; j < kWidth; ++j) sums[j] = silu(sums[j]);
      }
      out.store(time + i, narrow_word<T>(sums));
    }
  }
}

template <class T, int Taps>
__global__ RELAYOUT_LAUNCH_BOUNDS(kDepthwiseThreads,
                                  3) void depthwise_turn_kernel(DepthwiseParams p, DepthwiseGrid grid,
                                                                Divisor by_words, bool whole_weights) {
  constexpr int kWidth = kPerWord<T>;
  RELAYOUT_DYNAMIC_SHARED(T, memory);
  T* const tile = as_shared_address(memory);
  const DepthwisePlace place = place_block<true>(grid);
  if (is_spare(place.batch, p.batch)) return;
  const std::int64_t channels_left = p.channels - place.channel, times_left = p.length - place.time;
  const int channels = channels_left < p.tile_channels ? static_cast<int>(channels_left) : p.tile_channels;
  const int times = times_left < p.tile_times ? static_cast<int>(times_left) : p.tile_times;
  const TileSide<T, T> out = tile_side(
      p.out_side,
      static_cast<T*>(p.out) + place.batch * p.out_batch + place.channel * p.out_channel + place.time,
      p.out_channel, std::int64_t{1}, tile);
  std::uint32_t word = threadIdx.x;
  const int first = static_cast<int>(split(word, by_words)) * p.run,
            channel = static_cast<int>(word) * kWidth;
  if (channel < channels && first < times) {
    const std::int64_t own = place.channel + channel, begin = place.time + first;
    const int pitch = static_cast<int>(p.in_time), left = times - first;
    const T* const in = static_cast<const T*>(p.in) + place.batch * p.in_batch + own + begin * p.in_time;
    ChannelNumbers<Taps> numbers[kWidth];
#pragma unroll
    for (int j = 0; j < kWidth; ++j) numbers[j].load(p, own + j, whole_weights);
    std::uint32_t before[Taps] = {};
    if (begin >= Taps - 1) {
#pragma unroll
      for (int i = 0; i < Taps - 1; ++i)
        before[i] = *reinterpret_cast<const std::uint32_t*>(in - (Taps - 1 - i) * pitch);
    } else {
#pragma unroll
      for (int j = 0; j < kWidth; ++j) {
        const SampleRow<T> row(p, place.batch, own + j);
#pragma unroll
        for (int i = 0; i < Taps - 1; ++i)
          before[i] |= element_bits(row.at(p, begin + i - (Taps - 1))) << (j * 16);
      }
    }
    float weights[kWidth][Taps], bias[kWidth][1];
#pragma unroll
    for (int j = 0; j < kWidth; ++j) numbers[j].widen(p, weights[j], bias[j]);
    TurnedRows<T> rows;
#pragma unroll
    for (int j = 0; j < kWidth; ++j) rows.rows[j] = &out.element(channel + j, first);
    walk_word<T, Taps>(in, pitch, left < p.run ? left : p.run, before, weights, bias, p.silu, rows);
  }
  __syncthreads();
  store_rows<T, TileRows::time>(out, channels, times);
}

}  // namespace

void launch_depthwise_turn(const LaunchContext& context, const DepthwiseParams& p) {
  const DepthwiseGrid grid(p, p.tile_channels, p.tile_times);
  const NumberedBlocks shape = numbered_blocks(grid.blocks(p), kDepthwiseThreads, p.shared_bytes);
  visit_floats_up_to_f32(p.type, [&](auto type) {
    using T = typename decltype(type)::type;
    visit_taps(p.taps, [&](auto taps) {
      constexpr int kTaps = decltype(taps)::value;
      launch("depthwise_conv1d", context, shape, depthwise_turn_kernel<T, kTaps>, p, grid,
             make_divisor(static_cast<std::uint32_t>(p.tile_channels / kPerWord<T>)), has_whole_weights(p));
    });
  });
}

}  // namespace relayout::RELAYOUT_BACKEND
