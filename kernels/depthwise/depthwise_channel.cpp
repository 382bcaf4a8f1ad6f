// depthwise where channels are the fast axis of in and out (channels-last data): up to 8 taps, any bases and
// pitches.
//
// A thread owns a word of channels, 4 bytes, or one channel where rows of channels lie on no boundary of 4
// bytes; it walks p.run samples of them, kStep at a time, the next steps' loads, or those of a short run, in
// flight while it computes: in shared memory where the platform copies there beside the threads, which leaves
// registers for more of them (depthwise_channel_copies.hpp). Weights and the last taps-1 samples stay in
// registers. Neighbouring threads take neighbouring channels, and behind the last channel the next run of
// time, so that no lane is idle for any number of channels. Global traffic: each input element once plus
// taps-1 samples a run, which the neighbouring threads have brought into the caches; each output element
// once.
#include "core/integer_math.hpp"
#include "kernels/backend_kernels.hpp"
#include "kernels/block_index.hpp"
#include "kernels/depthwise/depthwise_channel_copies.hpp"
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
  std::uint32_t groups, lead;  // of channels, and how many of a row's threads stand before the first
  bool whole_weights;
};

/// Whether what the next steps need is on its way to shared memory: elements of 2 bytes cannot be.
constexpr int kStage = kStep * kCopyLanes;
template <class T, int Width>
constexpr bool kStaged = kHasAsyncCopies&& Couple<T, Width>::kIsWord;
/// Whether that is all of a run, which is short: then the walk starts no copies. It holds as many stages.
template <int Taps, bool Vectors>
constexpr bool kWholeRun = kHasAsyncCopies&& Vectors&& Taps <= kShortRunTaps;
template <int Taps, bool Vectors>
constexpr int kStages = kWholeRun<Taps, Vectors> ? kMaxShortRun / kStep : 3;
template <int Taps, int Width>
constexpr int kBlocks = Taps* Width > 8 ? 6 : 9;

/// A step of outputs, or its first `rest`, from its samples and the ones before it, which then are its last.
template <class T, int Taps, int Width, bool Whole>
__device__ __forceinline__ void store_step(const float (&weights)[Width][Taps], const float (&bias)[Width][1],
                                           std::uint32_t (&before)[Taps], const std::uint32_t (&words)[kStep],
                                           T* out, int pitch, int rest, bool with_silu) {
  using Samples = Couple<T, Width>;
  float samples[Taps - 1 + kStep][Width];
#pragma unroll
  for (int i = 0; i < Taps - 1 + kStep; ++i)
    Samples::widen(i < Taps - 1 ? before[i] : words[i - (Taps - 1)], samples[i]);
  constexpr int kHalf = kStep / 2;  // as many sums at a time as the registers have room for
#pragma unroll
  for (int first = 0; first < kStep; first += kHalf) {
    float sums[kHalf][Width];
#pragma unroll
    for (int i = 0; i < kHalf; ++i) {
#pragma unroll
      for (int j = 0; j < Width; ++j) {
        const auto sample = [&](int distance) { return samples[Taps - 1 + first + i - distance][j]; };
        sums[i][j] = sum_over_taps(weights[j], sample) + bias[j][0];
      }
    }
    if (with_silu) {
#pragma unroll
      for (int i = 0; i < kHalf; ++i) {
#pragma unroll
        for (int j = 0; j < Width; ++j) sums[i][j] = silu(sums[i][j]);
      }
    }
#pragma unroll
    for (int i = 0; i < kHalf; i += Samples::kTimes) {
      float values[kPerWord<T>];
#pragma unroll
      for (int k = 0; k < kPerWord<T>; ++k) values[k] = sums[i + k / Width][k % Width];
      const std::uint32_t word = narrow_word<T>(values);
#pragma unroll
      for (int k = 0; k < Samples::kTimes; ++k) {
        if (Whole || first + i + k < rest) Samples::store(out, word, k);
        out += pitch;
      }
    }
  }
#pragma unroll
  for (int i = 0; i < Taps - 1; ++i) before[i] = words[kStep - (Taps - 1) + i];
}

template <class T, int Taps, int Width, bool Vectors>
__global__ RELAYOUT_LAUNCH_BOUNDS(kDepthwiseWalkThreads,
                                  (kBlocks<Taps, Width>)) void depthwise_channel_kernel(DepthwiseParams p,
                                                                                        WalkGrid grid) {
  using Samples = Couple<T, Width>;
  std::uint32_t unit = block_index();
  const std::int64_t batch = split(unit, grid.by_blocks);
  if (is_spare(batch, p.batch)) return;
  unit = unit * kDepthwiseWalkThreads + threadIdx.x;
  const std::uint32_t run = split(unit, grid.by_groups);
  unit -= grid.lead;  // less than 0: a large number
  if (run >= grid.runs || unit >= grid.groups) return;
  const std::int64_t channel = std::int64_t{unit} * Width, begin = std::int64_t{run} * p.run;
  const T* in = static_cast<const T*>(p.in) + batch * p.in_batch + channel + begin * p.in_time;
  T* out = static_cast<T*>(p.out) + batch * p.out_batch + channel + begin * p.out_time;
  const int in_pitch = static_cast<int>(p.in_time), out_pitch = static_cast<int>(p.out_time);
  int rest = p.length - begin < p.run ? static_cast<int>(p.length - begin) : p.run;

  // What the walk needs comes before what it multiplies with: both come from afar.
  constexpr bool kStaged = relayout::RELAYOUT_BACKEND::kStaged<T, Width>;
  constexpr bool kWholeRun = relayout::RELAYOUT_BACKEND::kWholeRun<Taps, Vectors>;
  constexpr int kStages = relayout::RELAYOUT_BACKEND::kStages<Taps, Vectors>;
  constexpr int kFirstStages = kWholeRun ? kStages : kStages - 1;
  RELAYOUT_DYNAMIC_SHARED(std::uint32_t, shared);
  const CopyLane<Vectors> lane;
  const int stages = static_cast<int>(threadIdx.x / kCopyLanes) * (kStages * kStage);
  std::uint32_t next[kStep], before[Taps] = {};
  int ahead = rest - lane.sample();  // samples whose loads have not started
  const T* from = in + lane.words() * Width + lane.sample() * in_pitch;
  const auto load = [&](int stage) {
    if constexpr (kStaged) {
      lane.template start<kStep>(shared + stages + stage, from, in_pitch, ahead);
      commit_async_copies();
    } else if (ahead >= kStep) {
#pragma unroll
      for (int i = 0; i < kStep; ++i) next[i] = Samples::load(from + i * in_pitch);
    } else if (ahead > 0) {  // behind the run's end its last sample, which nobody uses
#pragma unroll
      for (int i = 0; i < kStep; ++i) next[i] = Samples::load(from + (i < ahead ? i : ahead - 1) * in_pitch);
    }
    ahead -= kStep;
    from += kStep * in_pitch;
  };
  if constexpr (kStaged) {
#pragma unroll
    for (int stage = 0; stage < kFirstStages; ++stage) load(stage * kStage);
  } else {
    load(0);
  }
  if (begin >= Taps - 1) {
#pragma unroll
    for (int i = 0; i < Taps - 1; ++i) before[i] = Samples::load(in - (Taps - 1 - i) * in_pitch);
  } else {
#pragma unroll
    for (int j = 0; j < Width; ++j) {
      const SampleRow<T> row(p, batch, channel + j);
#pragma unroll
      for (int i = 0; i < Taps - 1; ++i)
        before[i] |= element_bits(row.at(p, begin + i - (Taps - 1))) << (j * 16);
    }
  }
  ChannelNumbers<Taps> numbers[Width];
#pragma unroll
  for (int j = 0; j < Width; ++j) numbers[j].load(p, channel + j, grid.whole_weights);
  float weights[Width][Taps], bias[Width][1];
#pragma unroll
  for (int j = 0; j < Width; ++j) numbers[j].widen(p, weights[j], bias[j]);
  int stage = 0, free_stage = (kStages - 1) * kStage;
#pragma unroll 1
  while (rest > 0) {
    if constexpr (kStaged) {
      if constexpr (Vectors) {
        wait_for_async_copies_of_warp<kFirstStages - 1>();
      } else {
        wait_for_async_copies<kFirstStages - 1>();
      }
#pragma unroll
      for (int i = 0; i < kStep; ++i) next[i] = shared[stages + stage + lane.number + i * kCopyLanes];
    }
    std::uint32_t words[kStep];
#pragma unroll
    for (int i = 0; i < kStep; ++i) words[i] = next[i];
    if constexpr (kWholeRun) {
      commit_async_copies();  // none: it is what the next step counts
      stage += kStage;
    } else {
      load(free_stage);
      free_stage = stage;
      stage = stage == (kStages - 1) * kStage ? 0 : stage + kStage;
    }
    if (rest >= kStep) {
      store_step<T, Taps, Width, true>(weights, bias, before, words, out, out_pitch, rest, p.silu);
    } else {
      store_step<T, Taps, Width, false>(weights, bias, before, words, out, out_pitch, rest, p.silu);
    }
    out += kStep * out_pitch;
    rest -= kStep;
  }
}

template <class T, int Taps, int Width, bool Vectors>
constexpr std::size_t stage_bytes() {
  return kStaged<T, Width> ? std::size_t{kStages<Taps, Vectors>} * kStep * kDepthwiseWalkThreads * 4 : 0;
}

/// A row's threads: `lead` before its first group of channels.
struct WalkRow {
  std::int64_t lead = 0, threads = 0;
};

template <class T, int Width>
WalkRow walk_row(const DepthwiseParams& p) {
  constexpr std::int64_t kBytes = Width * static_cast<std::int64_t>(sizeof(T)),
                         kPerSector = kSectorBytes / kBytes;
  const std::int64_t groups = p.channels / Width;
  if (!has_lead(p)) return {0, groups};
  const auto base = static_cast<std::int64_t>(reinterpret_cast<std::uintptr_t>(p.out));
  const std::int64_t lead = base % kSectorBytes / kBytes;
  return {lead, round_up(groups + lead, kPerSector)};
}

template <class T, int Width>
void launch_walk(const LaunchContext& context, const DepthwiseParams& p) {
  const WalkRow row = walk_row<T, Width>(p);
  const std::int64_t runs = divide_up(p.length, p.run);
  const std::int64_t blocks = divide_up(row.threads * runs, kDepthwiseWalkThreads);
  const WalkGrid grid{make_grid_divisor(blocks),
                      make_grid_divisor(row.threads),
                      static_cast<std::uint32_t>(runs),
                      static_cast<std::uint32_t>(p.channels / Width),
                      static_cast<std::uint32_t>(row.lead),
                      has_whole_weights(p)};
  const bool vectors =
      row.lead == 0 && has_copy_vectors(row.threads, p.in, p.in_batch * static_cast<std::int64_t>(sizeof(T)),
                                        p.in_time * static_cast<std::int64_t>(sizeof(T)));
  visit_taps(p.taps, [&](auto taps) {
    constexpr int kTaps = decltype(taps)::value;
    const auto start = [&](auto with_vectors) {
      constexpr bool kVectors = decltype(with_vectors)::value;
      const NumberedBlocks shape =
          numbered_blocks(p.batch * blocks, kDepthwiseWalkThreads, stage_bytes<T, kTaps, Width, kVectors>());
      launch("depthwise_conv1d", context, shape, depthwise_channel_kernel<T, kTaps, Width, kVectors>, p,
             grid);
    };
    if constexpr (kStaged<T, Width>) {
      const bool is_short = kTaps > kShortRunTaps || p.run <= kMaxShortRun;
      if (vectors && is_short) return start(std::true_type{});
    }
    start(std::false_type{});
  });
}

}  // namespace

void launch_depthwise_channel(const LaunchContext& context, const DepthwiseParams& p) {
  visit_floats_up_to_f32(p.type, [&](auto type) {
    using T = typename decltype(type)::type;
    if constexpr (sizeof(T) == 2) {
      if (p.width > 1) return launch_walk<T, 2>(context, p);
    }
    launch_walk<T, 1>(context, p);
  });
}

}  // namespace relayout::RELAYOUT_BACKEND
