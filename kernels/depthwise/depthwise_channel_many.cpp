// depthwise for channels-last data (see depthwise_channel.cpp) with more than 8 taps.
//
// A thread takes two neighbouring channels and p.run times kTimes times. It computes kTimes sums of each
// channel at once: the samples, each widened once, stand in a ring of registers; kTurn weights pass over
// them, then as many older samples replace the newest of the ring. Weights in shared memory, for all tiles of
// the block. Global traffic, a word a lane where couples of channels lie on boundaries, else an element: each
// input element once, a tile's taps-1 older ones through the caches; each output element once.
#include <type_traits>

#include "kernels/backend_kernels.hpp"
#include "kernels/block_index.hpp"
#include "kernels/depthwise/depthwise_channel.hpp"
#include "kernels/depthwise/depthwise_common.hpp"
#include "kernels/depthwise/depthwise_span.hpp"
#include "kernels/depthwise/depthwise_weights.hpp"
#include "kernels/words.hpp"
#include "launch.hpp"

namespace relayout::RELAYOUT_BACKEND {
namespace {

constexpr int kTurn = 4;
constexpr int kChannels = kManyTapsChannels;
/// Whole: couples of channels are accessed as one.
template <bool Whole>
constexpr int kTimes = many_taps_times(Whole ? kChannels : 1);

/// Two channels of one time. Whole: they lie on a boundary of their size, and both exist; else the second
/// lies `second` bytes behind the first, 0 where there is none.
template <class T, bool Whole>
struct alignas(sizeof(T) * kChannels) Couple {
  static constexpr int kWords = kChannels / kPerWord<T>;
  std::uint32_t words[kWords];

  __device__ __forceinline__ void load(const char* from, int second) {
    if constexpr (Whole) {
      load_words<kWords>(words, from);
    } else {
      const std::uint32_t low = element_bits(*reinterpret_cast<const T*>(from)),
                          high = element_bits(*reinterpret_cast<const T*>(from + second));
      words[0] = kWords == 1 ? low | high << 16 : low;
      if constexpr (kWords > 1) words[1] = high;
    }
  }
  __device__ __forceinline__ void store(char* to, int second) const {
    if constexpr (Whole) {
      *reinterpret_cast<Couple*>(to) = *this;
    } else {
      store_element(reinterpret_cast<T*>(to), words[0], 0);
      if (second != 0) store_element(reinterpret_cast<T*>(to + second), words[kWords - 1], 2 - kWords);
    }
  }

  __device__ __forceinline__ void widen(float (&values)[kChannels]) const {
#pragma unroll
    for (int i = 0; i < kWords; ++i) {
      float some[kPerWord<T>];
      widen_word<T>(words[i], some);
#pragma unroll
      for (int j = 0; j < kPerWord<T>; ++j) values[i * kPerWord<T> + j] = some[j];
    }
  }
  __device__ __forceinline__ void narrow(const float (&values)[kChannels]) {
#pragma unroll
    for (int i = 0; i < kWords; ++i) {
      float some[kPerWord<T>];
#pragma unroll
      for (int j = 0; j < kPerWord<T>; ++j) some[j] = values[i * kPerWord<T> + j];
      words[i] = narrow_word<T>(some);
    }
  }
};

/// Rows of numbers in shared memory, `row_pitch` apart: row d holds the weights of distance d, row taps the
/// biases.
__device__ __forceinline__ void fill_rows(const DepthwiseParams& p, std::int64_t first_channel,
                                          const Divisor& by_taps, int row_pitch, float* shared) {
  const int left = p.channels - first_channel < p.lanes * kChannels
                       ? static_cast<int>(p.channels - first_channel)
                       : p.lanes * kChannels;
  fill_weights(p, first_channel, left, by_taps, {1, row_pitch}, shared);
  const int own = static_cast<int>(threadIdx.x);
  if (own < left) shared[static_cast<int>(p.taps) * row_pitch + own] = load_bias(p, first_channel + own);
  __syncthreads();
}

/// The outputs of kTimes times, the last of them `newest`; `weights` of the thread's channels. Inside: all
/// samples that they reach, and a turn more, exist; else the times may lie behind the signal's end, too.
template <class T, bool Whole, bool Inside>
__device__ __forceinline__ void store_tile(const DepthwiseParams& p, const ChannelGroup<T, kChannels>& group,
                                           std::int64_t newest, const float* weights, int row_pitch) {
  constexpr std::int64_t kFar = 1 << 28;
  const int second = group.count == kChannels ? static_cast<int>(sizeof(T)) : 0;
  const int behind_end = Inside || newest < p.length ? 0 : static_cast<int>(newest - p.length + 1);
  const std::int64_t in_pitch = p.in_time * static_cast<int>(sizeof(T));
  const auto* in = reinterpret_cast<const char*>(group.in) + newest * in_pitch;
  // Counted from the newest: the samples behind_end..existing exist.
  const int existing = static_cast<int>(newest < kFar ? newest : kFar) + 1;
  int loaded = 0;
  // Outside, the nearest sample is loaded and cleared: by arithmetic, since two dozen conditions at a time
  // would need more lane masks than AMD has scalar registers.
  const auto load = [&](auto& samples) {
#pragma unroll
    for (int i = 0; i < static_cast<int>(sizeof(samples) / sizeof(samples[0])); ++i) {
      Couple<T, Whole>& sample = samples[i];
      if constexpr (Inside) {
        sample.load(in, second);
        in -= in_pitch;
      } else {
        const int from_begin = loaded > behind_end ? loaded : behind_end;
        const int nearest = from_begin < existing ? from_begin : existing - 1;
        sample.load(in - nearest * in_pitch, second);
        const auto outside =
            static_cast<std::uint32_t>((loaded - behind_end) | (existing - 1 - loaded)) >> 31;
#pragma unroll
        for (int word = 0; word < Couple<T, Whole>::kWords; ++word) sample.words[word] &= outside - 1u;
        ++loaded;
      }
    }
  };
  constexpr int kOutputs = kTimes<Whole>, kRing = kOutputs + kTurn;
  Couple<T, Whole> first[kOutputs], next[kTurn];
  load(first);
  load(next);
  // The sample i before the newest is in ring[i mod kRing]; sums[u] is of the time u before the newest.
  float ring[kRing][kChannels], sums[kOutputs][kChannels] = {};
#pragma unroll
  for (int i = 0; i < kOutputs; ++i) first[i].widen(ring[i]);
  int rest = static_cast<int>(p.taps);
  // A turn of up to kTurn taps; false: it was the last.
  const auto turn = [&](auto phase) {
    constexpr int kPhase = decltype(phase)::value * kTurn;  // where in the ring its first sample is
#pragma unroll
    for (int i = 0; i < kTurn; ++i) next[i].widen(ring[(kPhase + kOutputs + i) % kRing]);
    if (rest > kTurn) load(next);
#pragma unroll
    for (int i = 0; i < kTurn; ++i) {
      if (i >= rest) break;
      std::uint32_t bits[kChannels];
      load_words<kChannels>(bits, weights + i * row_pitch);
#pragma unroll
      for (int u = 0; u < kOutputs; ++u) {
#pragma unroll
        for (int j = 0; j < kChannels; ++j)
          sums[u][j] = fmaf(__uint_as_float(bits[j]), ring[(kPhase + u + i) % kRing][j], sums[u][j]);
      }
    }
    rest -= kTurn;
    weights += (rest < 0 ? kTurn + rest : kTurn) * row_pitch;
    return rest > 0;
  };
  static_assert(kRing % kTurn == 0, "the turns bring every sample back to its place");
  while (each_phase<kRing / kTurn>(turn)) {
  }

  std::uint32_t bias[kChannels];
  load_words<kChannels>(bias, weights);
#pragma unroll
  for (int u = 0; u < kOutputs; ++u) {
#pragma unroll
    for (int j = 0; j < kChannels; ++j) sums[u][j] += __uint_as_float(bias[j]);
  }
  if (p.silu) {
#pragma unroll
    for (int u = 0; u < kOutputs; ++u) {
#pragma unroll
      for (int j = 0; j < kChannels; ++j) sums[u][j] = silu(sums[u][j]);
    }
  }
  const std::int64_t out_pitch = p.out_time * static_cast<int>(sizeof(T));
  auto* out = reinterpret_cast<char*>(group.out) + newest * out_pitch;
#pragma unroll
  for (int u = 0; u < kOutputs; ++u) {
    Couple<T, Whole> result;
    result.narrow(sums[u]);
    if (Inside || u >= behind_end) result.store(out, second);
    out -= out_pitch;
  }
}

template <class T, bool Whole>
__global__ RELAYOUT_LAUNCH_BOUNDS(kDepthwiseThreads, 2) void depthwise_channel_many_kernel(DepthwiseParams p,
                                                                                           DepthwiseGrid grid,
                                                                                           Divisor by_taps) {
  RELAYOUT_DYNAMIC_SHARED(float, shared);
  const DepthwisePlace place = place_block<false>(grid);
  if (is_spare(place.batch, p.batch)) return;
  const ChannelGroup<T, kChannels> group(p, grid, place);
  const int row_pitch = p.lanes * kChannels + kManyTapsPad;
  fill_rows(p, place.channel, by_taps, row_pitch, shared);
  if (group.count <= 0) return;
  const int apart = (kDepthwiseThreads >> grid.lanes_shift) * kTimes<Whole>;
  const std::int64_t first = place.time + grid.row() * kTimes<Whole>,
                     end = first + std::int64_t{p.run} * apart;
  const std::int64_t tiles_end = end < p.length ? end : p.length;
  // Tiles that meet an initial state come first; in a loop of their own, what stays the same in one loop
  // takes no registers in the other.
  std::int64_t begin = first;
#pragma unroll 1
  for (; begin < tiles_end && p.initial_state != nullptr && begin < p.taps - 1; begin += apart)
    group.store_border(p, begin, kTimes<Whole>);
  const float* weights = shared + grid.lane() * kChannels;
#pragma unroll 1
  for (; begin < tiles_end; begin += apart) {
    const std::int64_t newest = begin + kTimes<Whole> - 1;
    if (newest < p.length && begin >= p.taps + kTurn) {
      store_tile<T, Whole, true>(p, group, newest, weights, row_pitch);
    } else {
      store_tile<T, Whole, false>(p, group, newest, weights, row_pitch);
    }
  }
}

}  // namespace

void launch_depthwise_channel_many(const LaunchContext& context, const DepthwiseParams& p) {
  visit_floats_up_to_f32(p.type, [&](auto type) {
    using T = typename decltype(type)::type;
    const DepthwiseGrid grid(p, std::int64_t{p.lanes} * kChannels,
                             kDepthwiseThreads / p.lanes * many_taps_times(p.width) * p.run);
    const NumberedBlocks shape = numbered_blocks(grid.blocks(p), kDepthwiseThreads, p.shared_bytes);
    const Divisor by_taps = make_divisor(static_cast<std::uint32_t>(p.taps));
    const auto kernel = p.width == kChannels ? depthwise_channel_many_kernel<T, true>
                                             : depthwise_channel_many_kernel<T, false>;
    launch("depthwise_conv1d", context, shape, kernel, p, grid, by_taps);
  });
}

}  // namespace relayout::RELAYOUT_BACKEND
