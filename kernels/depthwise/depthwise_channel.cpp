// depthwise where channels are the fast axis of in and out (channels-last data): up to 8 taps, any bases and
// pitches.
//
// A thread owns a word of channels, 4 bytes, or one channel where rows of channels lie on no boundary of 4
// bytes; it walks p.run samples of them, kStep at a time, the next steps' loads in flight while it computes:
// in shared memory where the platform copies there beside the threads, which leaves registers for more of
// them. Weights and the last taps-1 samples stay in registers. Neighbouring threads take neighbouring
// channels, and behind the last channel the next run of time, so that no lane is idle for any number of
// channels. Global traffic: each input element once plus taps-1 samples a run, which the neighbouring threads
// have brought into the caches; each output element once.
#include "kernels/backend_kernels.hpp"
#include "kernels/depthwise/depthwise_common.hpp"
#include "kernels/depthwise/depthwise_span.hpp"
#include "kernels/words.hpp"
#include "launch.hpp"

namespace relayout::RELAYOUT_BACKEND {
namespace {

constexpr int kStep = kDepthwiseStep;

/// Width neighbouring channels of one time: 4 bytes, or an element.
template <class T, int Width>
struct Couple {
  static constexpr bool kIsWord = Width * sizeof(T) == 4;
  static __device__ __forceinline__ std::uint32_t load(const T* in) {
    if constexpr (kIsWord) {
      return *reinterpret_cast<const std::uint32_t*>(in);
    } else {
      return element_bits(*in);
    }
  }
  static __device__ __forceinline__ void widen(std::uint32_t bits, float (&values)[Width]) {
    if constexpr (kIsWord) {
      widen_word<T>(bits, values);
    } else {
      values[0] = convert<float>(T{static_cast<std::uint16_t>(bits)});
    }
  }
  /// Times in a word of outputs.
  static constexpr int kTimes = kPerWord<T> / Width;
  static __device__ __forceinline__ void store(T* out, std::uint32_t word, int time) {
    if constexpr (kIsWord) {
      *reinterpret_cast<std::uint32_t*>(out) = word;
    } else {
      store_element(out, word, time);
    }
  }
};

/// The grid: blocks along a batch's threads, which lie along groups of channels first, then runs of time.
struct WalkGrid {
  Divisor by_blocks, by_groups;
  std::uint32_t runs;
};

/// Whether what the next kStages - 1 steps need is on its way to shared memory, in words that only the thread
/// itself reads: elements of 2 bytes cannot be.
constexpr int kStages = 3;
template <class T, int Width>
constexpr bool kStaged = kHasAsyncCopies&& Couple<T, Width>::kIsWord;
template <class T, int Taps, int Width>
constexpr int kBlocks = Taps* Width > 8     ? 3
                        : kStaged<T, Width> ? 5
                                            : 4;

template <class T, int Taps, int Width>
__global__ __launch_bounds__(kDepthwiseThreads,
                             (kBlocks<T, Taps, Width>)) void depthwise_channel_kernel(DepthwiseParams p,
                                                                                      WalkGrid grid) {
  using Samples = Couple<T, Width>;
  std::uint32_t unit = blockIdx.x;
  const std::int64_t batch = split(unit, grid.by_blocks);
  unit = unit * kDepthwiseThreads + threadIdx.x;
  const std::uint32_t run = split(unit, grid.by_groups);
  if (run >= grid.runs) return;
  const std::int64_t channel = std::int64_t{unit} * Width, begin = std::int64_t{run} * p.run;
  const T* in = static_cast<const T*>(p.in) + batch * p.in_batch + channel + begin * p.in_time;
  T* out = static_cast<T*>(p.out) + batch * p.out_batch + channel + begin * p.out_time;
  const int in_pitch = static_cast<int>(p.in_time), out_pitch = static_cast<int>(p.out_time);
  int rest = p.length - begin < p.run ? static_cast<int>(p.length - begin) : p.run;

  ChannelNumbers<Taps> numbers[Width];
#pragma unroll
  for (int j = 0; j < Width; ++j) numbers[j].load(p, channel + j);
  constexpr bool kStaged = relayout::RELAYOUT_BACKEND::kStaged<T, Width>;
  RELAYOUT_DYNAMIC_SHARED(std::uint32_t, shared);
  std::uint32_t* const own = shared + threadIdx.x;  // words that only this thread reads
  std::uint32_t next[kStep], older[Taps] = {};
  int ahead = rest;  // samples whose loads have not started
  const T* from = in;
  const auto load = [&](int stage) {
    const auto load_sample = [&](int i, int offset) {
      if constexpr (kStaged) {
        start_async_copy<4>(own + (stage * kStep + i) * kDepthwiseThreads, from + offset);
      } else {
        next[i] = Samples::load(from + offset);
      }
    };
    if (ahead >= kStep) {
#pragma unroll
      for (int i = 0; i < kStep; ++i) load_sample(i, i * in_pitch);
    } else if (ahead > 0) {  // behind the run's end its last sample, which nobody uses
#pragma unroll
      for (int i = 0; i < kStep; ++i) load_sample(i, (i < ahead ? i : ahead - 1) * in_pitch);
    }
    ahead -= kStep;
    from += kStep * in_pitch;
    if constexpr (kStaged) commit_async_copies();
  };
  if (begin >= Taps - 1) {
#pragma unroll
    for (int i = 0; i < Taps - 1; ++i) older[i] = Samples::load(in - (Taps - 1 - i) * in_pitch);
  } else {
#pragma unroll
    for (int j = 0; j < Width; ++j) {
      const SampleRow<T> row(p, batch, channel + j);
#pragma unroll
      for (int i = 0; i < Taps - 1; ++i)
        older[i] |= element_bits(row.at(p, begin + i - (Taps - 1))) << (j * 16);
    }
  }
  if constexpr (kStaged) {
#pragma unroll
    for (int stage = 0; stage < kStages - 1; ++stage) load(stage);
  } else {
    load(0);
  }
  float weights[Width][Taps], bias[Width][1];
#pragma unroll
  for (int j = 0; j < Width; ++j) numbers[j].widen(p, weights[j], bias[j]);
  float samples[Taps - 1 + kStep][Width];
#pragma unroll
  for (int i = 0; i < Taps - 1; ++i) Samples::widen(older[i], samples[i]);
  int stage = 0, free_stage = kStages - 1;
#pragma unroll 1
  while (rest > 0) {
    if constexpr (kStaged) {
      wait_for_async_copies<kStages - 2>();
#pragma unroll
      for (int i = 0; i < kStep; ++i) next[i] = own[(stage * kStep + i) * kDepthwiseThreads];
    }
#pragma unroll
    for (int i = 0; i < kStep; ++i) Samples::widen(next[i], samples[Taps - 1 + i]);
    load(free_stage);
    free_stage = stage;
    stage = stage + 1 == kStages ? 0 : stage + 1;
#pragma unroll
    for (int i = 0; i < kStep; i += Samples::kTimes) {
      float sums[kPerWord<T>];
#pragma unroll
      for (int k = 0; k < kPerWord<T>; ++k) {
        const int j = k % Width, newest = Taps - 1 + i + k / Width;
        sums[k] = 0.0f;
#pragma unroll
        for (int distance = 0; distance < Taps; ++distance)
          sums[k] = fmaf(weights[j][distance], samples[newest - distance][j], sums[k]);
        sums[k] += bias[j][0];
      }
      if (p.silu) {
#pragma unroll
        for (int k = 0; k < kPerWord<T>; ++k) sums[k] = silu(sums[k]);
      }
      const std::uint32_t word = narrow_word<T>(sums);
#pragma unroll
      for (int k = 0; k < Samples::kTimes; ++k) {
        if (i + k < rest) Samples::store(out + (i + k) * out_pitch, word, k);
      }
    }
    out += kStep * out_pitch;
#pragma unroll
    for (int i = 0; i < Taps - 1; ++i) {
#pragma unroll
      for (int j = 0; j < Width; ++j) samples[i][j] = samples[i + kStep][j];
    }
    rest -= kStep;
  }
}

template <class T, int Taps, int Width>
constexpr std::size_t stage_bytes() {
  return kStaged<T, Width> ? std::size_t{kStages} * kStep * kDepthwiseThreads * 4 : 0;
}

template <class T, int Width>
void launch_walk(const LaunchContext& context, const DepthwiseParams& p) {
  const std::int64_t groups = p.channels / Width, runs = (p.length + p.run - 1) / p.run;
  const std::int64_t blocks = (groups * runs + kDepthwiseThreads - 1) / kDepthwiseThreads;
  const WalkGrid grid{make_grid_divisor(blocks), make_grid_divisor(groups), static_cast<std::uint32_t>(runs)};
  LaunchShape shape;
  shape.blocks_x = p.batch * blocks;
  shape.threads_x = kDepthwiseThreads;
  visit_taps(p.taps, [&](auto taps) {
    constexpr int kTaps = decltype(taps)::value;
    shape.shared_bytes = stage_bytes<T, kTaps, Width>();
    launch("depthwise_conv1d", context, shape, depthwise_channel_kernel<T, kTaps, Width>, p, grid);
  });
}

}  // namespace

void launch_depthwise_channel(const LaunchContext& context, const DepthwiseParams& p) {
  visit_signal_type(p.type, [&](auto type) {
    using T = typename decltype(type)::type;
    if constexpr (sizeof(T) == 2) {
      if (p.width > 1) return launch_walk<T, 2>(context, p);
    }
    launch_walk<T, 1>(context, p);
  });
}

}  // namespace relayout::RELAYOUT_BACKEND
