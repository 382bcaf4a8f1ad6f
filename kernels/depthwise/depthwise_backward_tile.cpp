// The depthwise backward pass through shared memory: up to kUnrolledTaps taps, any layouts, which may differ.
//
// A block takes p.tile_channels channels and p.tile_times samples of one batch. The input with the taps-1
// samples on both sides and the gradients of the output with taps-1 samples behind are moved to shared memory
// as they lie in global memory (depthwise_tile.hpp). Threads lie along channels first, then along runs of
// p.run samples; a thread walks a run of a channel from its end to its begin, 16 bytes of samples at a time,
// with the last taps-1 samples and gradients in registers. It leaves d_in in a third tile, and the sums of
// its products with the samples where the input was; of these the block makes one row for each tap and one
// for the bias.
// Global traffic: each element of the input and of both gradients once, and again the samples around a tile.
#include "kernels/backend_kernels.hpp"
#include "kernels/block_index.hpp"
#include "kernels/depthwise/depthwise_backward.hpp"
#include "kernels/depthwise/depthwise_tile.hpp"
#include "launch.hpp"

namespace relayout::RELAYOUT_BACKEND {
namespace {

/// Where a thread's run lies in shared memory, and its channel's numbers.
template <class T, int Taps>
struct BackwardRun {
  const T *in, *d_out;  // taps-1 samples before the run's first one; the run's first one
  T* d_in;
  int in_step, d_out_step, d_in_step;  // elements from a time to the next
  int left;  // samples from the run's first one to the signal's end, or more than a tile's
  bool with_silu;
  float weights[Taps], bias;

  /// g of an output that is there; samples[d] meets the tap of distance d.
  __device__ __forceinline__ float g(const float (&samples)[Taps], float gradient) const {
    if (!with_silu) return gradient;
    float sum = 0.0f;
#pragma unroll
    for (int distance = 0; distance < Taps; ++distance) sum = fmaf(weights[distance], samples[distance], sum);
    return gradient * silu_derivative(sum + bias);
  }
};

/// The sequence ids of a run, from global memory through the caches. Ids: whether there are any.
template <int Taps, bool Ids>
struct RunIds {
  const std::int32_t* ids = nullptr;  // of the run's first sample
  std::int64_t step = 0;
  int before = 0;  // samples of the signal before the run, at most taps-1 of them

  /// own[i] = the id of sample first + i; -1, which counts for nobody, where the signal has none.
  template <int Count>
  __device__ __forceinline__ void load(int first, int left, std::int32_t (&own)[Count]) const {
    if constexpr (Ids) {
#pragma unroll
      for (int i = 0; i < Count; ++i) {
        const int place = first + i;
        own[i] = place < left && place >= -before ? ids[place * step] : -1;
      }
    }
  }
};

/// Samples [first, first + Count) of a run with the Taps - 1 samples before them: those that an output does
/// not count are zero in its window.
template <int Taps, bool Ids, int Count>
__device__ __forceinline__ void window_of(const float (&samples)[Count], const std::int32_t (&ids)[Count],
                                          int newest, float (&window)[Taps]) {
#pragma unroll
  for (int distance = 0; distance < Taps; ++distance) {
    window[distance] = samples[newest - distance];
    if (Ids && ids[newest - distance] != ids[newest]) window[distance] = 0.0f;
  }
}

/// sums: of the products with the samples by distance, and of g.
template <class T, int Taps, bool Ids>
struct BackwardWalk {
  static constexpr int kStep = 16 / static_cast<int>(sizeof(T)), kOlder = Taps - 1;
  float later[kOlder + 1] = {};             // g of the samples behind the present ones
  std::int32_t later_ids[kOlder + 1] = {};  // theirs
  float sums[Taps + 1] = {};

  /// The gradients behind the run, which belong to the next one; nobody writes them.
  __device__ __forceinline__ void begin(const BackwardRun<T, Taps>& run, const RunIds<Taps, Ids>& run_ids,
                                        int length) {
    float samples[2 * kOlder + 1];
    std::int32_t ids[2 * kOlder + 1] = {};
    run_ids.load(length - kOlder, run.left, ids);
#pragma unroll
    for (int i = 0; i < 2 * kOlder; ++i)
      samples[i] = length + i < run.left + kOlder ? convert<float>(run.in[(length + i) * run.in_step]) : 0.0f;
#pragma unroll
    for (int i = 0; i < kOlder; ++i) {
      later_ids[i] = ids[kOlder + i];
      if (length + i >= run.left || (Ids && later_ids[i] < 0)) continue;
      float window[Taps];
      window_of<Taps, Ids>(samples, ids, kOlder + i, window);
      later[i] = run.g(window, convert<float>(run.d_out[(length + i) * run.d_out_step]));
    }
  }

  __device__ __forceinline__ void walk(const BackwardRun<T, Taps>& run, const RunIds<Taps, Ids>& run_ids,
                                       int length) {
    const int times = run.left < length ? run.left : length;
    float samples[kOlder + kStep], g[kStep + kOlder];
    std::int32_t ids[kOlder + kStep] = {}, g_ids[kStep + kOlder] = {};
    int first = (times + kStep - 1) / kStep * kStep - kStep;
    // Behind a run that is cut lies nothing.
#pragma unroll
    for (int i = 0; i < kOlder; ++i) {
      samples[kStep + i] = convert<float>(run.in[(first + kStep + i) * run.in_step]);
      g[kStep + i] = later[i];
      g_ids[kStep + i] = later_ids[i];
    }
#pragma unroll 1
    for (; first >= 0; first -= kStep) {
#pragma unroll
      for (int i = 0; i < kStep; ++i) samples[i] = convert<float>(run.in[(first + i) * run.in_step]);
      run_ids.load(first - kOlder, run.left, ids);
#pragma unroll
      for (int i = 0; i < kStep; ++i) {
        float window[Taps];
        window_of<Taps, Ids>(samples, ids, kOlder + i, window);
        g_ids[i] = ids[kOlder + i];
        g[i] = run.g(window, convert<float>(run.d_out[(first + i) * run.d_out_step]));
        // Padding may hold NaN.
        const bool is_there = first + i < times && !(Ids && g_ids[i] < 0);
        if (!is_there) g[i] = 0.0f;
        if (is_there) {
#pragma unroll
          for (int distance = 0; distance < Taps; ++distance)
            sums[distance] = fmaf(g[i], window[distance], sums[distance]);
          sums[Taps] += g[i];
        }
      }
      store(run, first, g, g_ids);
#pragma unroll
      for (int i = kOlder - 1; i >= 0; --i) {
        samples[kStep + i] = samples[i];
        g[kStep + i] = g[i];
        g_ids[kStep + i] = g_ids[i];
      }
    }
  }

 private:
  static __device__ __forceinline__ void store(const BackwardRun<T, Taps>& run, int first,
                                               const float (&g)[kStep + kOlder],
                                               const std::int32_t (&ids)[kStep + kOlder]) {
    constexpr int kPer = kPerWord<T>;
#pragma unroll
    for (int i = 0; i < kStep; i += kPer) {
      float values[kPer];
#pragma unroll
      for (int j = 0; j < kPer; ++j) {
        values[j] = 0.0f;
#pragma unroll
        for (int distance = 0; distance < Taps; ++distance) {
          const bool counts = !Ids || ids[i + j + distance] == ids[i + j];
          if (counts) values[j] = fmaf(run.weights[distance], g[i + j + distance], values[j]);
        }
      }
      const std::uint32_t word = narrow_word<T>(values);
#pragma unroll
      for (int j = 0; j < kPer; ++j) store_element(run.d_in + (first + i + j) * run.d_in_step, word, j);
    }
  }
};

/// Row d of the block's sums: those of its runs in their order.
__device__ __forceinline__ void store_sums(const DepthwiseBackwardParams& p, const DepthwiseGrid& grid,
                                           const DepthwisePlace& place, const float* sums, int channels,
                                           int runs, const Divisor& by_channels) {
  const int rows = static_cast<int>(p.forward.taps) + 1;
  const std::int64_t block = place.batch * grid.time_tiles + place.time / grid.tile_times;
  float* const out = p.sums + block * rows * p.forward.channels + place.channel;
  const int threads = p.tile_channels * runs;
#pragma unroll 1
  for (int number = static_cast<int>(threadIdx.x); number < p.tile_channels * rows;
       number += kDepthwiseThreads) {
    std::uint32_t channel = static_cast<std::uint32_t>(number);
    const int row = static_cast<int>(split(channel, by_channels));
    if (static_cast<int>(channel) >= channels) continue;
    float sum = 0.0f;
#pragma unroll 1
    for (int run = 0; run < runs; ++run) sum += sums[row * threads + run * p.tile_channels + channel];
    out[row * p.forward.channels + channel] = sum;
  }
}

/// It has code for First..Last taps: that of the walk alone differs, which is a small part.
template <class T, int First, int Last, bool Ids>
__global__ __launch_bounds__(kDepthwiseThreads,
                             Last <= 4 && !Ids
                                 ? 4
                                 : 3) void depthwise_backward_tile_kernel(DepthwiseBackwardParams p,
                                                                          DepthwiseGrid grid,
                                                                          Divisor by_channels,
                                                                          MemorySpan in_span,
                                                                          MemorySpan d_out_span) {
  RELAYOUT_DYNAMIC_SHARED(T, tiles);
  const DepthwiseParams& f = p.forward;
  const int taps = static_cast<int>(f.taps), older = taps - 1;
  const DepthwisePlace place = f.lanes_along_time ? place_block<true>(grid) : place_block<false>(grid);
  if (is_spare(place.batch, f.batch)) return;
  const std::int64_t channels_left = f.channels - place.channel, times_left = f.length - place.time;
  const int channels = channels_left < p.tile_channels ? static_cast<int>(channels_left) : p.tile_channels;
  const int tile_times = static_cast<int>(p.tile_times);
  const int left = times_left < tile_times + older ? static_cast<int>(times_left) : tile_times + older;
  const int times = left < tile_times ? left : tile_times;
  // Times of the input's tile count from the oldest sample that its outputs reach.
  const std::int64_t oldest = place.time - older;
  const int missing = oldest < 0 ? static_cast<int>(-oldest) : 0;
  const TileSide<T, const T> in = tile_side(p.in_side,
                                            static_cast<const T*>(f.in) + place.batch * f.in_batch +
                                                place.channel * f.in_channel + oldest * f.in_time,
                                            f.in_channel, f.in_time, tiles);
  const TileSide<T, const T> d_out =
      tile_side(p.d_out_side,
                static_cast<const T*>(p.d_out) + place.batch * p.d_out_batch +
                    place.channel * p.d_out_channel + place.time * p.d_out_time,
                p.d_out_channel, p.d_out_time, tiles + p.in_side.elements);
  T* const behind = tiles + p.in_side.elements + p.d_out_side.elements;
  const TileSide<T, T> d_in = tile_side(p.d_in_side,
                                        static_cast<T*>(p.d_in) + place.batch * p.d_in_batch +
                                            place.channel * p.d_in_channel + place.time * p.d_in_time,
                                        p.d_in_channel, p.d_in_time, behind);
  // Row d holds the weights of distance d, row `taps` the biases.
  float* const weights = reinterpret_cast<float*>(behind + p.d_in_side.elements);
  fill_tile<T>(in, in_span, channels, missing, left + older);
  fill_tile<T>(d_out, d_out_span, channels, 0, left);
#pragma unroll 1
  for (std::uint32_t number = threadIdx.x; number < static_cast<std::uint32_t>((taps + 1) * p.tile_channels);
       number += kDepthwiseThreads) {
    std::uint32_t channel = number;
    const std::uint32_t row = split(channel, by_channels);
    if (static_cast<int>(channel) >= channels) continue;
    weights[number] = static_cast<int>(row) < taps ? load_weight(f, place.channel + channel, row)
                                                   : load_bias(f, place.channel + channel);
  }
  __syncthreads();
  if (missing > 0) {  // a word may have brought other elements there
    const SampleRow<T> states(f, place.batch, place.channel);
    in.each_element(channels, 0, missing, [&](int channel, int time) {
      in.element(channel, time) =
          f.initial_state == nullptr
              ? T{}
              : states.initial[channel * f.initial_channel + (oldest + time + older) * f.initial_time];
    });
    __syncthreads();
  }

  std::uint32_t own = threadIdx.x;
  const int begin = static_cast<int>(split(own, by_channels)) * p.run, channel = static_cast<int>(own);
  float own_sums[Last + 1] = {};
  if (channel < channels && begin < times) {
    visit_taps_in_kernel<First, Last>(taps, [&](auto constant) {
      constexpr int kTaps = decltype(constant)::value;
      BackwardRun<T, kTaps> run{&in.element(channel, begin),
                                &d_out.element(channel, begin),
                                &d_in.element(channel, begin),
                                p.in_side.time_pitch,
                                p.d_out_side.time_pitch,
                                p.d_in_side.time_pitch,
                                left - begin,
                                f.silu,
                                {},
                                weights[kTaps * p.tile_channels + channel]};
#pragma unroll
      for (int distance = 0; distance < kTaps; ++distance)
        run.weights[distance] = weights[distance * p.tile_channels + channel];
      RunIds<kTaps, Ids> ids;
      if constexpr (Ids) {
        const std::int64_t before = place.time + begin;
        ids = {f.ids + place.batch * f.id_batch + before * f.id_time, f.id_time,
               before < kTaps - 1 ? static_cast<int>(before) : kTaps - 1};
      }
      BackwardWalk<T, kTaps, Ids> walk;
      walk.begin(run, ids, p.run);
      walk.walk(run, ids, p.run);
#pragma unroll
      for (int row = 0; row <= kTaps; ++row) own_sums[row] = walk.sums[row];
    });
  }
  __syncthreads();
  store_tile<T>(d_in, channels, times);
  if (p.sums == nullptr) return;
  let_next_kernel_begin();  // the one that adds the sums
  float* const sums = reinterpret_cast<float*>(tiles);
  const int runs = tile_times / p.run, threads = p.tile_channels * runs;
  if (static_cast<int>(threadIdx.x) < threads) {
#pragma unroll
    for (int row = 0; row <= Last; ++row) {
      if (row <= taps) sums[row * threads + static_cast<int>(threadIdx.x)] = own_sums[row];
    }
  }
  __syncthreads();
  store_sums(p, grid, place, sums, channels, runs, by_channels);
}

}  // namespace

void launch_depthwise_backward_tile(const LaunchContext& context, const DepthwiseBackwardParams& p) {
  const DepthwiseParams& f = p.forward;
  const DepthwiseGrid grid(f, p.tile_channels, p.tile_times);
  const Divisor by_channels = make_divisor(static_cast<std::uint32_t>(p.tile_channels));
  const NumberedBlocks shape = numbered_blocks(grid.blocks(f), kDepthwiseThreads, p.shared_bytes);
  visit_floats_up_to_f32(f.type, [&](auto type) {
    using T = typename decltype(type)::type;
    const auto start = [&](auto kernel) {
      launch("depthwise_conv1d_backward", context, shape, kernel, p, grid, by_channels, input_span(f),
             signal_span(f, p.d_out, p.d_out_batch, p.d_out_channel, p.d_out_time));
    };
    constexpr int kFew = kUnrolledTaps / 2;
    if (f.ids != nullptr) return start(depthwise_backward_tile_kernel<T, 1, kSequenceTaps, true>);
    if (f.taps <= kFew) return start(depthwise_backward_tile_kernel<T, 1, kFew, false>);
    start(depthwise_backward_tile_kernel<T, kFew + 1, kUnrolledTaps, false>);
  });
}

}  // namespace relayout::RELAYOUT_BACKEND
