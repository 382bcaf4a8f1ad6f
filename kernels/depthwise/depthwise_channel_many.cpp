// depthwise for channels-last data (see depthwise_channel.cpp) with more than 8 taps.
//
// A thread takes two neighbouring channels and p.run times kTimes times. It computes kTimes sums of each
// channel at once: the samples, each widened once, stand in a ring of registers; kTurn weights pass over
// them, then as many older samples replace the newest of the ring. Weights in shared memory, for all tiles of
// the block. Global traffic, a word a lane: each input element once, a tile's taps-1 older ones through the
// caches; each output element once.
#include <type_traits>

#include "kernels/backend_kernels.hpp"
#include "kernels/depthwise/depthwise_channel.hpp"
#include "kernels/depthwise/depthwise_common.hpp"
#include "kernels/words.hpp"
#include "launch.hpp"

namespace relayout::RELAYOUT_BACKEND {
namespace {

constexpr int kTimes = kManyTapsTimes;
constexpr int kTurn = 4;
constexpr int kRing = kTimes + kTurn;
constexpr int kChannels = kManyTapsChannels;
/// Where in the ring a turn's first sample is.
template <int Turn>
using Phase = std::integral_constant<int, Turn * kTurn>;

/// Two channels of one time.
template <class T>
struct alignas(sizeof(T) * kChannels) Couple {
  static constexpr int kWords = kChannels / kPerWord<T>;
  std::uint32_t words[kWords];

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

/// Rows of numbers in shared memory: row d holds the weights of distance d, row taps the biases.
template <class W>
__device__ __forceinline__ void fill_rows(const DepthwiseParams& p, const DepthwiseGrid& grid,
                                          std::int64_t first_channel, float* shared) {
  const int channels = p.lanes * kChannels, rows_apart = kDepthwiseThreads / channels;
  const int column = static_cast<int>(threadIdx.x) & (channels - 1), taps = static_cast<int>(p.taps);
  int distance = static_cast<int>(threadIdx.x) >> (grid.lanes_shift + 1);
  if (first_channel + column >= p.channels) return;
  if (distance == 0) shared[taps * channels + column] = load_bias(p, first_channel + column);
  const W* weight = static_cast<const W*>(p.weights) + (first_channel + column) * p.weight_channel +
                    (taps - 1 - distance) * p.weight_tap;
  const std::int64_t step = rows_apart * p.weight_tap;
#pragma unroll 4
  for (; distance < taps; distance += rows_apart) {
    shared[distance * channels + column] = convert<float>(*weight);
    weight -= step;
  }
}
__device__ __forceinline__ void fill_weights(const DepthwiseParams& p, const DepthwiseGrid& grid,
                                             std::int64_t first_channel, float* shared) {
  if (p.weight_type == DType::f16) {
    fill_rows<f16>(p, grid, first_channel, shared);
  } else if (p.weight_type == DType::bf16) {
    fill_rows<bf16>(p, grid, first_channel, shared);
  } else {
    fill_rows<float>(p, grid, first_channel, shared);
  }
  __syncthreads();
}

/// The outputs of kTimes times, the last of them `newest`; `weights` of the thread's channels. Inside: all
/// samples that they reach, and a turn more, exist; else the times may lie behind the signal's end, too.
template <class T, bool Inside>
__device__ __forceinline__ void store_tile(const DepthwiseParams& p, const ChannelGroup<T, kChannels>& group,
                                           std::int64_t newest, const float* weights, int row_pitch) {
  constexpr std::int64_t kFar = 1 << 28;
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
      Couple<T>& sample = samples[i];
      if constexpr (Inside) {
        load_words<Couple<T>::kWords>(sample.words, in);
        in -= in_pitch;
      } else {
        const int from_begin = loaded > behind_end ? loaded : behind_end;
        const int nearest = from_begin < existing ? from_begin : existing - 1;
        load_words<Couple<T>::kWords>(sample.words, in - nearest * in_pitch);
        const auto outside =
            static_cast<std::uint32_t>((loaded - behind_end) | (existing - 1 - loaded)) >> 31;
#pragma unroll
        for (int word = 0; word < Couple<T>::kWords; ++word) sample.words[word] &= outside - 1u;
        ++loaded;
      }
    }
  };
  Couple<T> first[kTimes], next[kTurn];
  load(first);
  load(next);
  // The sample i before the newest is in ring[i mod kRing]; sums[u] is of the time u before the newest.
  float ring[kRing][kChannels], sums[kTimes][kChannels] = {};
#pragma unroll
  for (int i = 0; i < kTimes; ++i) first[i].widen(ring[i]);
  int rest = static_cast<int>(p.taps);
  // A turn of up to kTurn taps; false: it was the last. Its phase is part of its type, since a compiler that
  // did not unroll a loop over phases would keep the ring in memory.
  const auto turn = [&](auto phase) {
    constexpr int kPhase = decltype(phase)::value;
#pragma unroll
    for (int i = 0; i < kTurn; ++i) next[i].widen(ring[(kPhase + kTimes + i) % kRing]);
    if (rest > kTurn) load(next);
#pragma unroll
    for (int i = 0; i < kTurn; ++i) {
      if (i >= rest) break;
      std::uint32_t bits[kChannels];
      load_words<kChannels>(bits, weights + i * row_pitch);
#pragma unroll
      for (int u = 0; u < kTimes; ++u) {
#pragma unroll
        for (int j = 0; j < kChannels; ++j)
          sums[u][j] = fmaf(__uint_as_float(bits[j]), ring[(kPhase + u + i) % kRing][j], sums[u][j]);
      }
    }
    rest -= kTurn;
    weights += (rest < 0 ? kTurn + rest : kTurn) * row_pitch;
    return rest > 0;
  };
  static_assert(kRing == 6 * kTurn, "six turns bring every sample back to its place");
  while (turn(Phase<0>{}) && turn(Phase<1>{}) && turn(Phase<2>{}) && turn(Phase<3>{}) && turn(Phase<4>{}) &&
         turn(Phase<5>{})) {
  }

  std::uint32_t bias[kChannels];
  load_words<kChannels>(bias, weights);
#pragma unroll
  for (int u = 0; u < kTimes; ++u) {
#pragma unroll
    for (int j = 0; j < kChannels; ++j) sums[u][j] += __uint_as_float(bias[j]);
  }
  if (p.silu) {
#pragma unroll
    for (int u = 0; u < kTimes; ++u) {
#pragma unroll
      for (int j = 0; j < kChannels; ++j) sums[u][j] = silu(sums[u][j]);
    }
  }
  const std::int64_t out_pitch = p.out_time * static_cast<int>(sizeof(T));
  auto* out = reinterpret_cast<char*>(group.out) + newest * out_pitch;
#pragma unroll
  for (int u = 0; u < kTimes; ++u) {
    Couple<T> result;
    result.narrow(sums[u]);
    if (Inside || u >= behind_end) *reinterpret_cast<Couple<T>*>(out) = result;
    out -= out_pitch;
  }
}

template <class T>
__global__ RELAYOUT_LAUNCH_BOUNDS(kDepthwiseThreads,
                                  2) void depthwise_channel_many_kernel(DepthwiseParams p,
                                                                        DepthwiseGrid grid) {
  RELAYOUT_DYNAMIC_SHARED(float, shared);
  const DepthwisePlace place = place_block<false>(grid);
  const ChannelGroup<T, kChannels> group(p, grid, place);
  fill_weights(p, grid, place.channel, shared);
  if (group.count <= 0) return;
  const int apart = (kDepthwiseThreads >> grid.lanes_shift) * kTimes;
  const std::int64_t first = place.time + grid.row() * kTimes, end = first + std::int64_t{p.run} * apart;
  const std::int64_t tiles_end = end < p.length ? end : p.length;
  // Tiles that meet an initial state come first; in a loop of their own, what stays the same in one loop
  // takes no registers in the other.
  std::int64_t begin = first;
#pragma unroll 1
  for (; begin < tiles_end && (group.count < kChannels || (p.initial_state != nullptr && begin < p.taps - 1));
       begin += apart)
    group.store_border(p, begin, kTimes);
  const float* weights = shared + grid.lane() * kChannels;
#pragma unroll 1
  for (; begin < tiles_end; begin += apart) {
    const std::int64_t newest = begin + kTimes - 1;
    if (newest < p.length && begin >= p.taps + kTurn) {
      store_tile<T, true>(p, group, newest, weights, p.lanes * kChannels);
    } else {
      store_tile<T, false>(p, group, newest, weights, p.lanes * kChannels);
    }
  }
}

}  // namespace

void launch_depthwise_channel_many(const LaunchContext& context, const DepthwiseParams& p) {
  visit_signal_type(p.type, [&](auto type) {
    using T = typename decltype(type)::type;
    const DepthwiseGrid grid(p, std::int64_t{p.lanes} * kChannels,
                             kDepthwiseThreads / p.lanes * kTimes * p.run);
    LaunchShape shape;
    shape.blocks_x = grid.blocks(p);
    shape.threads_x = kDepthwiseThreads;
    shape.shared_bytes = static_cast<std::size_t>(p.shared_bytes);
    launch("depthwise_conv1d", context, shape, depthwise_channel_many_kernel<T>, p, grid);
  });
}

}  // namespace relayout::RELAYOUT_BACKEND
