// depthwise through shared memory: any layouts of in and out, which may differ, few channels, any number of
// taps.
//
// A block takes p.tile_channels channels and p.tile_times samples of one batch. Its input, with the taps-1
// samples before, is moved to shared memory as it lies in global memory (depthwise_tile.hpp). Threads lie
// along channels first, then along runs of p.run samples; a thread walks a run of a channel, kStep outputs at
// a time, and leaves its outputs in a second tile, from which they are moved to global memory as they lie
// there. Weights in shared memory.
// Global traffic: each input element once, and again the taps-1 samples before a tile; each output element
// once.
#include "kernels/depthwise/depthwise_tile.hpp"
#include "kernels/backend_kernels.hpp"
#include "kernels/block_index.hpp"
#include "kernels/depthwise/depthwise_weights.hpp"
#include "launch.hpp"

namespace relayout::RELAYOUT_BACKEND {
namespace {

constexpr int kStep = kDepthwiseStep;

/// Where a thread's run lies in shared memory.
template <class T>
struct TileRun {
  const T* in;  // taps-1 samples before the run's first one
  T* out;
  int in_step, out_step;  // elements from a time to the next
  const float* weights;   // of distance 0
  int weight_step;        // to the next distance, and from the last one to the bias
};

template <class T>
__device__ __forceinline__ void store_step(const float (&sums)[kStep], float bias, bool with_silu, T* out,
                                           int step) {
  constexpr int kPer = kPerWord<T>;
#pragma unroll
  for (int i = 0; i < kStep; i += kPer) {
    float values[kPer];
#pragma unroll
    for (int j = 0; j < kPer; ++j) {
      values[j] = sums[i + j] + bias;
      if (with_silu) values[j] = silu(values[j]);
    }
    const std::uint32_t word = narrow_word<T>(values);
#pragma unroll
    for (int j = 0; j < kPer; ++j) store_element(out + (i + j) * step, word, j);
  }
}

/// A run, of up to kUnrolledTaps taps.
template <class T, int Taps>
__device__ __forceinline__ void walk_run(const TileRun<T>& run, int count, bool with_silu) {
  float weights[Taps], samples[Taps - 1 + kStep];
#pragma unroll
  for (int distance = 0; distance < Taps; ++distance)
    weights[distance] = run.weights[distance * run.weight_step];
  const float bias = run.weights[Taps * run.weight_step];
  const T* in = run.in;
  T* out = run.out;
#pragma unroll
  for (int i = 0; i < Taps - 1; ++i) samples[i] = convert<float>(in[i * run.in_step]);
  in += (Taps - 1) * run.in_step;
#pragma unroll 1
  for (; count > 0; count -= kStep) {
#pragma unroll
    for (int i = 0; i < kStep; ++i) samples[Taps - 1 + i] = convert<float>(in[i * run.in_step]);
    float sums[kStep];
#pragma unroll
    for (int i = 0; i < kStep; ++i)
      sums[i] = sum_over_taps(weights, [&](int distance) { return samples[Taps - 1 + i - distance]; });
    store_step<T>(sums, bias, with_silu, out, run.out_step);
#pragma unroll
    for (int i = 0; i < Taps - 1; ++i) samples[i] = samples[i + kStep];
    in += kStep * run.in_step;
    out += kStep * run.out_step;
  }
}

/// The same of any number of taps: the samples of the newest tap are in a ring of registers, in which the
/// next older sample replaces the newest one.
template <class T>
__device__ __forceinline__ void walk_run_of_many(const TileRun<T>& run, int taps, int count, bool with_silu) {
  const T* newest = run.in + (taps - 1) * run.in_step;
  T* out = run.out;
#pragma unroll 1
  for (; count > 0; count -= kStep) {
    float ring[kStep], sums[kStep] = {};
#pragma unroll
    for (int i = 0; i < kStep; ++i) ring[i] = convert<float>(newest[i * run.in_step]);
    const T* older = newest;
    const float* weight = run.weights;
#pragma unroll 1
    for (int rest = taps; rest > 0; rest -= kStep) {
#pragma unroll
      for (int turn = 0; turn < kStep; ++turn) {
        if (turn >= rest) continue;
        const float number = *weight;
        weight += run.weight_step;
#pragma unroll
        for (int i = 0; i < kStep; ++i) sums[i] = fmaf(number, ring[(i + kStep - turn) % kStep], sums[i]);
        older -= run.in_step;
        // The last turn needs none, and there may be none.
        if (turn + 1 < rest) ring[kStep - 1 - turn] = convert<float>(*older);
      }
    }
    const float bias = run.weights[taps * run.weight_step];
    store_step<T>(sums, bias, with_silu, out, run.out_step);
    newest += kStep * run.in_step;
    out += kStep * run.out_step;
  }
}

/// Row d of the weights holds those of distance d, row taps the biases; a row has room for one more.
__device__ __forceinline__ void fill_numbers(const DepthwiseParams& p, std::int64_t channel, int channels,
                                             float* weights, const Divisor& by_taps) {
  const int pitch = p.tile_channels + 1;
  fill_weights(p, channel, channels, by_taps, {1, pitch}, weights);
#pragma unroll 1
  for (int own = static_cast<int>(threadIdx.x); own < channels; own += kDepthwiseThreads)
    weights[static_cast<int>(p.taps) * pitch + own] = load_bias(p, channel + own);
}

template <class T>
__global__ __launch_bounds__(kDepthwiseThreads,
                             4) void depthwise_tile_kernel(DepthwiseParams p, DepthwiseGrid grid,
                                                           Divisor by_channels, Divisor by_taps,
                                                           MemorySpan span) {
  RELAYOUT_DYNAMIC_SHARED(T, tiles);
  const DepthwisePlace place = p.lanes_along_time ? place_block<true>(grid) : place_block<false>(grid);
  if (is_spare(place.batch, p.batch)) return;
  const int taps = static_cast<int>(p.taps);
  const std::int64_t channels_left = p.channels - place.channel, times_left = p.length - place.time;
  const int channels = channels_left < p.tile_channels ? static_cast<int>(channels_left) : p.tile_channels;
  const int times = times_left < p.tile_times ? static_cast<int>(times_left) : p.tile_times;
  // Times of the input's tile count from the oldest sample that its outputs reach.
  const std::int64_t oldest = place.time - (taps - 1);
  const int missing = oldest < 0 ? static_cast<int>(-oldest) : 0;
  const TileSide<T, const T> in = tile_side(p.in_side,
                                            static_cast<const T*>(p.in) + place.batch * p.in_batch +
                                                place.channel * p.in_channel + oldest * p.in_time,
                                            p.in_channel, p.in_time, tiles);
  const TileSide<T, T> out = tile_side(p.out_side,
                                       static_cast<T*>(p.out) + place.batch * p.out_batch +
                                           place.channel * p.out_channel + place.time * p.out_time,
                                       p.out_channel, p.out_time, tiles + p.in_side.elements);
  float* const weights = reinterpret_cast<float*>(tiles + p.in_side.elements + p.out_side.elements);
  fill_tile<T>(in, span, channels, missing, times + taps - 1);
  fill_numbers(p, place.channel, channels, weights, by_taps);
  __syncthreads();
  if (missing > 0) {  // a word may have brought other elements there
    const SampleRow<T> states(p, place.batch, place.channel);
    in.each_element(channels, 0, missing, [&](int channel, int time) {
      in.element(channel, time) =
          p.initial_state == nullptr
              ? T{}
              : states.initial[channel * p.initial_channel + (oldest + time + taps - 1) * p.initial_time];
    });
    __syncthreads();
  }
  const auto units = static_cast<std::uint32_t>(p.tile_channels * (p.tile_times / p.run));
  const auto walk_units = [&](const auto& walk) {
#pragma unroll 1
    for (std::uint32_t unit = threadIdx.x; unit < units; unit += kDepthwiseThreads) {
      std::uint32_t number = unit;
      const int begin = static_cast<int>(split(number, by_channels)) * p.run,
                channel = static_cast<int>(number);
      if (channel >= channels || begin >= times) continue;
      const TileRun<T> run{&in.element(channel, begin), &out.element(channel, begin),
                           p.in_side.time_pitch,        p.out_side.time_pitch,
                           weights + channel,           p.tile_channels + 1};
      walk(run, times - begin < p.run ? times - begin : p.run);
    }
  };
  if (taps <= kUnrolledTaps) {
    visit_taps_in_kernel<1, kUnrolledTaps>(taps, [&](auto constant) {
      walk_units([&](const TileRun<T>& run, int count) {
        walk_run<T, decltype(constant)::value>(run, count, p.silu);
      });
    });
  } else {
    walk_units([&](const TileRun<T>& run, int count) { walk_run_of_many<T>(run, taps, count, p.silu); });
  }
  __syncthreads();
  store_tile<T>(out, channels, times);
}

}  // namespace

void launch_depthwise_tile(const LaunchContext& context, const DepthwiseParams& p) {
  const DepthwiseGrid grid(p, p.tile_channels, p.tile_times);
  const Divisor by_channels = make_divisor(static_cast<std::uint32_t>(p.tile_channels));
  const NumberedBlocks shape = numbered_blocks(grid.blocks(p), kDepthwiseThreads, p.shared_bytes);
  visit_floats_up_to_f32(p.type, [&](auto type) {
    using T = typename decltype(type)::type;
    launch("depthwise_conv1d", context, shape, depthwise_tile_kernel<T>, p, grid, by_channels,
           make_divisor(static_cast<std::uint32_t>(p.taps)), input_span(p));
  });
}

}  // namespace relayout::RELAYOUT_BACKEND
