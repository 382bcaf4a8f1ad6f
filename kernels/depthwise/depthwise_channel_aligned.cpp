// depthwise where channels are the fast axis of in and out (channels-last data) and every row of channels
// lies on a 16-byte boundary: up to 8 taps.
//
// A block takes p.lanes packs of channels and a run of time for each of its 256 / p.lanes rows of threads. A
// thread owns a pack of channels and walks p.run samples, a step of them at a time.
// Global traffic: each input element once plus taps-1 samples a run, which the neighbouring rows of threads
// have brought into the caches; each output element once. Its accesses are four times as wide as those of
// depthwise_channel.cpp, which has more threads at a time and takes any base and pitch.
#include "kernels/backend_kernels.hpp"
#include "kernels/block_index.hpp"
#include "kernels/depthwise/depthwise_channel.hpp"
#include "kernels/depthwise/depthwise_common.hpp"
#include "kernels/vector.hpp"
#include "kernels/words.hpp"
#include "launch.hpp"

namespace relayout::RELAYOUT_BACKEND {
namespace {

constexpr int kWords = 4;  // of a pack
/// Samples of a step: more of them with more taps would outgrow the registers.
template <int Taps>
constexpr int kStep = Taps <= 4 ? 8 : 4;

/// The weights and the bias of the block's channels in shared memory: row d holds the weights of distance d,
/// row Taps the biases. The words of a lane's pack lie `lanes` words apart, so that lanes read neighbouring
/// ones.
template <class T, int Taps>
struct TapWeights {
  float rows[Taps + 1][kPerWord<T>];

  static __device__ __forceinline__ void fill(const DepthwiseParams& p, std::int64_t first_channel,
                                              float* shared) {
    constexpr int kCount = Vector<T>::kCount, kPer = kPerWord<T>;
    const int channels = p.lanes * kCount;
    for (int channel = static_cast<int>(threadIdx.x); channel < channels; channel += kDepthwiseThreads) {
      if (first_channel + channel >= p.channels) break;
      ChannelNumbers<Taps> numbers;
      numbers.load(p, first_channel + channel);
      float weights[Taps], bias[1];
      numbers.widen(p, weights, bias);
      const int lane = channel / kCount, word = channel % kCount / kPer;
      float* place = shared + (word * p.lanes + lane) * kPer + channel % kPer;
      place[Taps * channels] = bias[0];
#pragma unroll
      for (int distance = 0; distance < Taps; ++distance) place[distance * channels] = weights[distance];
    }
    __syncthreads();
  }
  __device__ __forceinline__ void load(const float* of_lane, int lanes, int word) {
#pragma unroll
    for (int row = 0; row <= Taps; ++row) {
      std::uint32_t bits[kPerWord<T>];
      load_words<kPerWord<T>>(bits, of_lane + (row * kWords + word) * lanes * kPerWord<T>);
#pragma unroll
      for (int i = 0; i < kPerWord<T>; ++i) rows[row][i] = __uint_as_float(bits[i]);
    }
  }
};

/// One word of a step of outputs: window[i] is that word of the sample i - (Taps-1) of the step.
template <class T, int Taps>
__device__ __forceinline__ void compute_word(const TapWeights<T, Taps>& weights,
                                             const std::uint32_t (&window)[kStep<Taps> + Taps - 1][kWords],
                                             int word, bool with_silu,
                                             std::uint32_t (&results)[kStep<Taps>][kWords]) {
  constexpr int kPer = kPerWord<T>;
  float samples[kStep<Taps> + Taps - 1][kPer];
#pragma unroll
  for (int i = 0; i < kStep<Taps> + Taps - 1; ++i) widen_word<T>(window[i][word], samples[i]);
  float sums[kStep<Taps>][kPer] = {};
#pragma unroll
  for (int i = 0; i < kStep<Taps>; ++i) {
#pragma unroll
    for (int j = 0; j < kPer; ++j) {
#pragma unroll
      for (int distance = 0; distance < Taps; ++distance)
        sums[i][j] = fmaf(weights.rows[distance][j], samples[i + Taps - 1 - distance][j], sums[i][j]);
      sums[i][j] += weights.rows[Taps][j];
    }
  }
  if (with_silu) {
#pragma unroll
    for (int i = 0; i < kStep<Taps>; ++i) {
#pragma unroll
      for (int j = 0; j < kPer; ++j) sums[i][j] = silu(sums[i][j]);
    }
  }
#pragma unroll
  for (int i = 0; i < kStep<Taps>; ++i) results[i][word] = narrow_word<T>(sums[i]);
}

/// A step of outputs, or of its first `count`. Leaves the last Taps-1 samples at the window's
/// begin.
template <class T, int Taps, bool Whole>
__device__ __forceinline__ void take_step(const DepthwiseParams& p, const float* weights_of_lane, const T* in,
                                          T* out, int count,
                                          std::uint32_t (&window)[kStep<Taps> + Taps - 1][kWords]) {
#pragma unroll
  for (int i = 0; i < kStep<Taps>; ++i) {
    if (Whole || i < count) load_words<kWords>(window[Taps - 1 + i], in + i * p.in_time);
  }
  std::uint32_t results[kStep<Taps>][kWords];
#pragma unroll
  for (int word = 0; word < kWords; ++word) {
    TapWeights<T, Taps> weights;
    weights.load(weights_of_lane, p.lanes, word);
    compute_word<T, Taps>(weights, window, word, p.silu, results);
  }
#pragma unroll
  for (int i = 0; i < kStep<Taps>; ++i) {
    if (Whole || i < count) store_global_16_bytes(out + i * p.out_time, results[i], false);
  }
#pragma unroll
  for (int i = 0; i < Taps - 1; ++i) {
#pragma unroll
    for (int j = 0; j < kWords; ++j) window[i][j] = window[i + kStep<Taps>][j];
  }
}

template <class T, int Taps>
__global__ RELAYOUT_LAUNCH_BOUNDS(kDepthwiseThreads, Taps <= 4 ? 2 : 1) void depthwise_channel_aligned_kernel(
    DepthwiseParams p, DepthwiseGrid grid) {
  constexpr int kCount = Vector<T>::kCount;
  RELAYOUT_DYNAMIC_SHARED(float, shared);
  const DepthwisePlace place = place_block<false>(grid);
  if (is_spare(place.batch, p.batch)) return;
  const ChannelGroup<T, kCount> group(p, grid, place);
  const std::int64_t begin = place.time + grid.row() * p.run;
  const bool whole = group.count == kCount && begin < p.length;
  // The samples before the run, before the weights: both come from afar. Loaded without a branch, and cleared
  // where they do not exist: a compiler would take words apart inside it, and wait there for each of them.
  std::uint32_t window[kStep<Taps> + Taps - 1][kWords] = {};
  const T* in = whole ? group.in + begin * p.in_time : static_cast<const T*>(p.in) + place.batch * p.in_batch;
#pragma unroll
  for (int i = 0; i < Taps - 1; ++i)
    load_words<kWords>(window[i], whole && begin + i >= Taps - 1 ? in - (Taps - 1 - i) * p.in_time : in);
  TapWeights<T, Taps>::fill(p, place.channel, shared);
#pragma unroll
  for (int i = 0; i < Taps - 1; ++i) {
    // By arithmetic: conditions kept since the loads would take AMD's scalar registers, two each.
    const auto missing = static_cast<std::uint32_t>(static_cast<std::uint64_t>(begin + i - (Taps - 1)) >> 63);
#pragma unroll
    for (int j = 0; j < kWords; ++j) window[i][j] &= missing - 1u;
  }
  if (group.count <= 0 || begin >= p.length) return;
  const int times = p.length - begin < p.run ? static_cast<int>(p.length - begin) : p.run;
  if (whole) {
    const float* weights = shared + grid.lane() * kPerWord<T>;
    T* out = group.out + begin * p.out_time;
    int rest = times;
#pragma unroll 1
    for (; rest >= kStep<Taps>; rest -= kStep<Taps>) {
      take_step<T, Taps, true>(p, weights, in, out, kStep<Taps>, window);
      in += kStep<Taps> * p.in_time;
      out += kStep<Taps> * p.out_time;
    }
    if (rest > 0) take_step<T, Taps, false>(p, weights, in, out, rest, window);
  }
  // The walk took zeros for an initial state: the few outputs that meet it are written once more.
  const int meet_initial = p.initial_state != nullptr && begin < Taps - 1 ? Taps - 1 : 0;
  group.store_border(p, begin, !whole ? times : meet_initial < times ? meet_initial : times);
}

}  // namespace

void launch_depthwise_channel_aligned(const LaunchContext& context, const DepthwiseParams& p) {
  visit_floats_up_to_f32(p.type, [&](auto type) {
    using T = typename decltype(type)::type;
    visit_taps(p.taps, [&](auto taps) {
      constexpr int kTaps = decltype(taps)::value;
      const DepthwiseGrid grid(p, std::int64_t{p.lanes} * Vector<T>::kCount,
                               kDepthwiseThreads / p.lanes * p.run);
      const NumberedBlocks shape = numbered_blocks(grid.blocks(p), kDepthwiseThreads, p.shared_bytes);
      launch("depthwise_conv1d", context, shape, depthwise_channel_aligned_kernel<T, kTaps>, p, grid);
    });
  });
}

}  // namespace relayout::RELAYOUT_BACKEND
