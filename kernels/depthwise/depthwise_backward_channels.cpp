// The depthwise backward pass where channels are the fast axis of the input and of both gradients: up to
// kBackwardWalkTaps taps, any base and pitch, no sequence ids.
//
// A block takes p.forward.lanes words of channels (elements where rows do not lie on a word's boundary) and,
// with each of its rows of threads, p.run samples of one batch. A thread walks them forward, a step at a
// time, whose loads are all under way before the first is used, those of words for steps to come, too, on
// their way to shared memory where the platform has such copies (depthwise_channel_copies.hpp); the last
// taps-1 samples and gradients stay in registers, so d_in follows taps-1 samples behind. It adds its
// products, and the block the sums of its rows of threads in their order: those of the gradients that it met
// first, from taps-1 behind the run's begin to taps-1 behind its end, so that only the signal's end needs
// conditions. Global traffic: each element of the input and of both gradients once, and again the 2 (taps-1)
// samples and taps-1 gradients at a run's end, through the caches.
#include <algorithm>

#include "kernels/backend_kernels.hpp"
#include "kernels/block_index.hpp"
#include "kernels/depthwise/depthwise_backward.hpp"
#include "kernels/depthwise/depthwise_channel_copies.hpp"
#include "kernels/depthwise/depthwise_packs.hpp"
#include "launch.hpp"

namespace relayout::RELAYOUT_BACKEND {
namespace {

/// Samples of a step.
constexpr int kStep = kBackwardStep;

template <class T, int Width, int Taps, bool Vectors>
struct ChannelWalk {
  static constexpr int kOlder = Taps - 1;
  using Pack = ChannelPack<T, Width>;
  /// Whether what the next kStages - 1 steps need is on its way to shared memory.
  static constexpr bool kStaged = kHasAsyncCopies && Pack::kBytes == 4;
  static constexpr int kStages = sizeof(T) == 2 && !Vectors ? 2 : 3;
  /// Words of a group's stage: the samples of a step, and then the gradients.
  static constexpr int kSignal = kStep * kCopyLanes, kStage = 2 * kSignal;
  static constexpr std::size_t stage_bytes() {
    return kStaged ? std::size_t{kBackwardWalkThreads} / kCopyLanes * kStages * kStage * 4 : 0;
  }
  /// A block of the f32 kernel asks for more than it uses: five at a time take 0.93 to 1.01 of the time that
  /// the eight take, on an H200, for which its registers leave room.
  static constexpr std::size_t least_bytes() { return kStaged && sizeof(T) == 4 ? 38 * 1024 : 0; }
  CopyLane<Vectors> lane;
  std::uint32_t* stages;  // of the thread's group
  float weights[Width][Taps], biases[Width];
  float samples[kOlder + kStep][Width];  // the oldest first
  float g[kOlder + kStep][Width];
  float sums[Taps + 1][Width] = {};

  __device__ __forceinline__ void load_numbers(const DepthwiseParams& f, std::int64_t channel,
                                               bool whole_weights) {
    PackNumbers<Taps, Width> numbers;
    numbers.load(f, channel, whole_weights);
    numbers.widen(f);
#pragma unroll
    for (int j = 0; j < Width; ++j) {
      biases[j] = numbers.biases[j][0];
#pragma unroll
      for (int distance = 0; distance < Taps; ++distance) weights[j][distance] = numbers.weights[j][distance];
    }
  }
  /// g[at ... at + Count), where the gradients of the outputs are, from samples[at ... at + kOlder + Count).
  template <int Count>
  __device__ __forceinline__ void apply_silu(int at, const float (&x)[kOlder + Count][Width]) {
#pragma unroll
    for (int i = 0; i < Count; ++i) {
#pragma unroll
      for (int j = 0; j < Width; ++j) {
        float sum = 0.0f;
#pragma unroll
        for (int distance = 0; distance < Taps; ++distance)
          sum = fmaf(weights[j][distance], x[kOlder + i - distance][j], sum);
        g[at + i][j] *= silu_derivative(sum + biases[j]);
      }
    }
  }
  template <int Count>
  __device__ __forceinline__ void add_products(int at, int i, const float (&x)[kOlder + Count][Width]) {
#pragma unroll
    for (int j = 0; j < Width; ++j) {
#pragma unroll
      for (int distance = 0; distance < Taps; ++distance)
        sums[distance][j] = fmaf(g[at + i][j], x[kOlder + i - distance][j], sums[distance][j]);
      sums[Taps][j] += g[at + i][j];
    }
  }

  /// The samples and gradients before the first step. left: samples from the run's first one to the signal's
  /// end.
  __device__ __forceinline__ void begin(const DepthwiseBackwardParams& p, const T* in, const T* d_out,
                                        const T* initial, std::int64_t time, int left) {
    if constexpr (kOlder > 0) {
      const DepthwiseParams& f = p.forward;
      float x[2 * kOlder][Width];
      Pack packs[2 * kOlder], gradients[kOlder];
#pragma unroll
      for (int i = 0; i < 2 * kOlder; ++i) {
        const int place = i - kOlder;
        if (time + place >= 0 && place < left) {
          packs[i].load(in + place * f.in_time, 1, true);
        } else if (place < 0 && initial != nullptr) {
          packs[i].load(initial + (time + place + kOlder) * f.initial_time, f.initial_channel, false);
        }
      }
#pragma unroll
      for (int i = 0; i < kOlder; ++i)
        if (i < left) gradients[i].load(d_out + i * p.d_out_time, 1, true);
#pragma unroll
      for (int i = 0; i < 2 * kOlder; ++i) packs[i].widen(x[i]);
#pragma unroll
      for (int i = 0; i < kOlder; ++i) gradients[i].widen(g[i]);
      if (f.silu) apply_silu<kOlder>(0, x);
#pragma unroll
      for (int i = 0; i < kOlder; ++i) {
        if (i >= left) {
#pragma unroll
          for (int j = 0; j < Width; ++j) g[i][j] = 0.0f;
        } else if (time == 0) {
          add_products<kOlder>(0, i, x);
        }
#pragma unroll
        for (int j = 0; j < Width; ++j) samples[i][j] = x[kOlder + i][j];
      }
    }
  }

  static __device__ __forceinline__ int next(int stage) {
    return stage == (kStages - 1) * kStage ? 0 : stage + kStage;
  }
  /// Starts the copies of a step's samples and gradients, of `left` that there are for this lane. A stage is
  /// named by its distance from the first one, in words.
  __device__ __forceinline__ void start(const DepthwiseBackwardParams& p, const T* in, const T* d_out,
                                        int left, int stage) {
    lane.template start<kStep>(stages + stage, in, static_cast<int>(p.forward.in_time), left);
    lane.template start<kStep>(stages + stage + kSignal, d_out, static_cast<int>(p.d_out_time), left);
  }

  /// kStep samples: in and d_out point kOlder samples behind the first one's time, d_in to it. left: samples
  /// of the signal from there on, as in and d_out have them. Whole: at least kStep.
  template <bool Whole>
  __device__ __forceinline__ void step(const DepthwiseBackwardParams& p, const T* in, const T* d_out, T* d_in,
                                       int left, int stage, bool with_silu) {
    const DepthwiseParams& f = p.forward;
    const std::uint32_t* const own = stages + stage + lane.number;
    Pack packs[kStep], gradients[kStep];
#pragma unroll
    for (int i = 0; i < kStep; ++i) {
      if (!Whole && i >= left) continue;
      if constexpr (kStaged) {
        packs[i].words[0] = own[i * kCopyLanes];
        gradients[i].words[0] = own[i * kCopyLanes + kSignal];
      } else {
        packs[i].load(in + i * f.in_time, 1, true);
        gradients[i].load(d_out + i * p.d_out_time, 1, true);
      }
    }
#pragma unroll
    for (int i = 0; i < kStep; ++i) {
      packs[i].widen(samples[kOlder + i]);
      gradients[i].widen(g[kOlder + i]);
    }
    if (with_silu) apply_silu<kStep>(kOlder, samples);
#pragma unroll
    for (int i = 0; i < kStep; ++i) {
      if (Whole || i < left) {
        add_products<kStep>(kOlder, i, samples);
      } else {
#pragma unroll
        for (int j = 0; j < Width; ++j) g[kOlder + i][j] = 0.0f;
      }
    }
#pragma unroll
    for (int i = 0; i < kStep; ++i) {
      if (!Whole && i >= left + kOlder) continue;
      float values[Width] = {};
#pragma unroll
      for (int distance = 0; distance < Taps; ++distance) {
#pragma unroll
        for (int j = 0; j < Width; ++j) values[j] = fmaf(weights[j][distance], g[i + distance][j], values[j]);
      }
      Pack result;
      result.narrow(values);
      result.store(d_in, 1, true);
      d_in += static_cast<int>(p.d_in_time);
    }
#pragma unroll
    for (int i = 0; i < kOlder; ++i) {
#pragma unroll
      for (int j = 0; j < Width; ++j) {
        samples[i][j] = samples[kStep + i][j];
        g[i][j] = g[kStep + i][j];
      }
    }
  }

  __device__ __forceinline__ void walk(const DepthwiseBackwardParams& p, std::int64_t batch,
                                       std::int64_t channel, std::int64_t time, bool whole_weights) {
    const DepthwiseParams& f = p.forward;
    const SampleRow<T> row(f, batch, channel);
    const T* in = row.in + time * f.in_time;
    const T* d_out = static_cast<const T*>(p.d_out) + batch * p.d_out_batch + channel + time * p.d_out_time;
    T* d_in = static_cast<T*>(p.d_in) + batch * p.d_in_batch + channel + time * p.d_in_time;
    // Samples from the run's begin to the signal's end, or more than a run and those behind it.
    constexpr int kMany = 1 << 20;
    int left = f.length - time < kMany ? static_cast<int>(f.length - time) : kMany;
    const int steps = (left < p.run ? left + kStep - 1 : p.run) / kStep;
    const int in_pitch = static_cast<int>(f.in_time), d_out_pitch = static_cast<int>(p.d_out_time);
    const T* in_ahead = in + (lane.words() * Width + (kOlder + lane.sample()) * in_pitch);
    const T* d_out_ahead = d_out + (lane.words() * Width + (kOlder + lane.sample()) * d_out_pitch);
    int left_ahead = left - kOlder - lane.sample();
    int ahead = steps;  // steps whose copies have not started
    const auto start_next = [&](int stage) {
      if (ahead > 0) start(p, in_ahead, d_out_ahead, left_ahead, stage);
      --ahead;
      in_ahead += kStep * in_pitch;
      d_out_ahead += kStep * d_out_pitch;
      left_ahead -= kStep;
      commit_async_copies();
    };
    if constexpr (kStaged) {
#pragma unroll
      for (int stage = 0; stage < kStages - 1; ++stage) start_next(stage * kStage);
    }
    load_numbers(f, channel, whole_weights);
    begin(p, in, d_out, row.initial, time, left);
    left -= kOlder;
    in += kOlder * f.in_time;
    d_out += kOlder * p.d_out_time;
    int stage = 0, free_stage = (kStages - 1) * kStage;
#pragma unroll 1
    for (int step_number = 0; step_number < steps; ++step_number) {
      if constexpr (kStaged) {
        if constexpr (Vectors) {
          wait_for_async_copies_of_warp<kStages - 2>();
        } else {
          wait_for_async_copies<kStages - 2>();
        }
        start_next(free_stage);
      }
      // The activation is known to a whole step's code, which then is free of branches.
      if (left < kStep) {  // the last one, or two where the signal ends within taps-1 of a step's begin
        step<false>(p, in, d_out, d_in, left, stage, f.silu);
      } else if (f.silu) {
        step<true>(p, in, d_out, d_in, left, stage, true);
      } else {
        step<true>(p, in, d_out, d_in, left, stage, false);
      }
      free_stage = stage;
      stage = next(stage);
      left -= kStep;
      in += kStep * in_pitch;
      d_out += kStep * d_out_pitch;
      d_in += kStep * static_cast<int>(p.d_in_time);
    }
  }
};

template <class T, int Width, int Taps, bool Vectors>
__global__ RELAYOUT_LAUNCH_BOUNDS(kBackwardWalkThreads,
                                  Width == 2 && Taps >= 3
                                      ? 5
                                      : 6) void depthwise_backward_channels_kernel(DepthwiseBackwardParams p,
                                                                                   DepthwiseGrid grid,
                                                                                   bool whole_weights) {
  RELAYOUT_DYNAMIC_SHARED(float, shared);
  const DepthwiseParams& f = p.forward;
  const DepthwisePlace place = place_block<false>(grid);
  if (is_spare(place.batch, f.batch)) return;
  const std::int64_t channel = place.channel + grid.lane() * Width;
  const std::int64_t time = place.time + static_cast<std::int64_t>(grid.row()) * p.run;
  using Walk = ChannelWalk<T, Width, Taps, Vectors>;
  Walk walk;
  walk.stages =
      reinterpret_cast<std::uint32_t*>(shared) + threadIdx.x / kCopyLanes * (Walk::kStages * Walk::kStage);
  if (channel < f.channels && time < f.length) walk.walk(p, place.batch, channel, time, whole_weights);
  if (p.sums == nullptr) return;
  let_next_kernel_begin();             // the one that adds the sums
  if (Walk::kStaged) __syncthreads();  // the sums lie where the stages were
  // [rows of threads, taps + 1, Width, lanes]: lanes store neighbouring numbers.
  const int lanes = f.lanes, numbers = (Taps + 1) * Width * lanes;
#pragma unroll
  for (int row = 0; row <= Taps; ++row) {
#pragma unroll
    for (int j = 0; j < Width; ++j)
      shared[grid.row() * numbers + (row * Width + j) * lanes + grid.lane()] = walk.sums[row][j];
  }
  __syncthreads();
  const std::int64_t block = place.batch * grid.time_tiles + place.time / grid.tile_times;
  float* const out = p.sums + block * (Taps + 1) * f.channels + place.channel;
  const int rows = kBackwardWalkThreads >> grid.lanes_shift;
#pragma unroll 1
  for (int number = static_cast<int>(threadIdx.x); number < numbers; number += kBackwardWalkThreads) {
    const int lane = number & grid.lanes_mask, both = number >> grid.lanes_shift;
    const int row = both / Width, at = lane * Width + both % Width;
    if (at >= f.channels - place.channel) continue;
    float sum = 0.0f;
#pragma unroll 8
    for (int i = 0; i < rows; ++i) sum += shared[i * numbers + number];
    out[row * f.channels + at] = sum;
  }
}

/// Whether words of channels can be moved by one access everywhere.
template <class T>
bool has_words(const DepthwiseBackwardParams& p) {
  const DepthwiseParams& f = p.forward;
  constexpr std::int64_t kBytes = sizeof(T);
  return f.channels % kPerWord<T> == 0 && are_whole(f.in, kBytes, 4, f.in_channel, f.in_batch, f.in_time) &&
         are_whole(p.d_out, kBytes, 4, p.d_out_channel, p.d_out_batch, p.d_out_time) &&
         are_whole(p.d_in, kBytes, 4, p.d_in_channel, p.d_in_batch, p.d_in_time);
}

/// Whether lanes copy four words at once to shared memory.
template <class T>
bool has_vectors(const DepthwiseBackwardParams& p) {
  const DepthwiseParams& f = p.forward;
  constexpr std::int64_t kBytes = sizeof(T);
  const std::int64_t words = f.channels / kPerWord<T>;
  return has_copy_vectors(words, f.in, f.in_batch * kBytes, f.in_time * kBytes) &&
         has_copy_vectors(words, p.d_out, p.d_out_batch * kBytes, p.d_out_time * kBytes);
}

}  // namespace

void launch_depthwise_backward_channels(const LaunchContext& context, const DepthwiseBackwardParams& p) {
  const DepthwiseParams& f = p.forward;
  visit_floats_up_to_f32(f.type, [&](auto type) {
    using T = typename decltype(type)::type;
    visit_backward_walk_taps(f.taps, [&](auto taps) {
      constexpr int kTaps = decltype(taps)::value;
      const auto start = [&](auto width) {
        constexpr int kWidth = decltype(width)::value;
        const DepthwiseGrid grid(f, std::int64_t{f.lanes} * kWidth, p.tile_times);
        constexpr std::size_t kSums = kBackwardWalkThreads * kWidth * (kTaps + 1) * sizeof(float);
        const auto start_walk = [&](auto vectors) {
          constexpr bool kVectors = decltype(vectors)::value;
          using Walk = ChannelWalk<T, kWidth, kTaps, kVectors>;
          const NumberedBlocks shape =
              numbered_blocks(grid.blocks(f), kBackwardWalkThreads,
                              std::max({kSums, Walk::stage_bytes(), Walk::least_bytes()}));
          launch("depthwise_conv1d_backward", context, shape,
                 depthwise_backward_channels_kernel<T, kWidth, kTaps, kVectors>, p, grid,
                 has_whole_weights(f));
        };
        if constexpr (kHasAsyncCopies && kWidth == kPerWord<T>) {
          if (has_vectors<T>(p)) return start_walk(std::true_type{});
        }
        start_walk(std::false_type{});
      };
      if constexpr (kPerWord<T> == 2) {
        if (!has_words<T>(p)) return start(std::integral_constant<int, 1>{});
      }
      start(std::integral_constant<int, kPerWord<T>>{});
    });
  });
}

}  // namespace relayout::RELAYOUT_BACKEND
