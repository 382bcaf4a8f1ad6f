// depthwise where channels are the fast axis of in and out (channels-last data) and every row of channels
// lies on a 16-byte boundary.
//
// A block takes p.lanes packs of channels and a run of time for each of its 256 / p.lanes rows of threads. A
// thread owns a pack of channels. Up to 8 taps: it walks p.run samples, keeping the last taps samples and all
// weights in registers. More taps: it owns four channels, computes 8 times at once and lets the samples pass
// by, from the newest to the oldest; weights in shared memory. Global traffic: each input element once plus
// taps-1 samples a run, which the neighbouring rows of threads have brought into the caches; each output
// element once.
#include <type_traits>

#include "kernels/backend_kernels.hpp"
#include "kernels/depthwise_common.hpp"
#include "kernels/pack.hpp"
#include "launch.hpp"

namespace relayout::RELAYOUT_BACKEND {
namespace {

constexpr int kTimesOfManyTaps = 8;

/// The sums of 8 times of more channels would leave RDNA no registers.
constexpr int kGroupOfManyTaps = 4;

/// N neighbouring channels of one time, moved by one access.
template <class T, int N>
struct alignas(sizeof(T) * N) Group {
  T values[N];
};
template <int N>
using Channels = float[N];

template <int N, class T>
__device__ __forceinline__ Group<T, N> load_group(const T* address) {
  return *reinterpret_cast<const Group<T, N>*>(address);
}
template <class T, int N>
__device__ __forceinline__ void store_group(T* address, const Group<T, N>& group) {
  *reinterpret_cast<Group<T, N>*>(address) = group;
}
template <class T, int N>
__device__ __forceinline__ void widen(const Group<T, N>& group, Channels<N>& values) {
#pragma unroll
  for (int i = 0; i < N; ++i) values[i] = convert<float>(group.values[i]);
}

/// Rows of the block's channels in shared memory: row d the weights of distance d, row taps the biases. Lane
/// l's channels lie in N / 4 pieces, `4 * lanes` apart, so that lanes read neighbouring 16 bytes.
template <int N>
struct WeightRows {
  const float* own;
  int lanes;

  __device__ __forceinline__ WeightRows(const DepthwiseParams& p, const DepthwisePlace& place, float* shared)
      : own(shared + static_cast<int>(threadIdx.x) % p.lanes * 4), lanes(p.lanes) {
    const int taps = static_cast<int>(p.taps), channels = lanes * N;
    for (int i = static_cast<int>(threadIdx.x); i < channels * (taps + 1); i += kDepthwiseThreads) {
      const int channel = i / (taps + 1), distance = i - channel * (taps + 1);
      float value = 0.0f;
      if (place.channel + channel < p.channels) {
        value = distance == taps ? load_bias(p, place.channel + channel)
                                 : load_weight(p, place.channel + channel, distance);
      }
      const int lane = channel / N, piece = channel % N / 4;
      shared[distance * channels + (piece * lanes + lane) * 4 + channel % 4] = value;
    }
    __syncthreads();
  }
  __device__ __forceinline__ void load(int row, Channels<N>& values) const {
#pragma unroll
    for (int piece = 0; piece < N / 4; ++piece) {
      const Pack<float> four = load_pack(own + (row * (N / 4) + piece) * lanes * 4);
#pragma unroll
      for (int i = 0; i < 4; ++i) values[piece * 4 + i] = four.values[i];
    }
  }
};

/// A thread's channels and the row of samples they start.
template <class T, int N>
struct ChannelPack {
  std::int64_t batch, channel;
  const T* in;
  T* out;
  int count;  // channels that exist, at most N

  __device__ __forceinline__ ChannelPack(const DepthwiseParams& p, const DepthwisePlace& place)
      : batch(place.batch),
        channel(place.channel + static_cast<int>(threadIdx.x) % p.lanes * N),
        in(static_cast<const T*>(p.in) + batch * p.in_batch + channel),
        out(static_cast<T*>(p.out) + batch * p.out_batch + channel),
        count(p.channels - channel < N ? static_cast<int>(p.channels - channel) : N) {}

  /// time < p.length; zeros before the first sample.
  __device__ __forceinline__ Group<T, N> sample_or_zeros(const DepthwiseParams& p, std::int64_t time) const {
    return time >= 0 ? load_group<N>(in + time * p.in_time) : Group<T, N>{};
  }
  /// One output at a time: fewer channels than a pack, or samples of an initial state.
  __device__ __forceinline__ void store_border(const DepthwiseParams& p, std::int64_t time, int times) const {
#pragma unroll 1
    for (int i = 0; i < times && time + i < p.length; ++i) {
#pragma unroll 1
      for (int j = 0; j < count; ++j) store_output<T>(p, batch, channel + j, time + i);
    }
  }
};

template <class T, int N>
__device__ __forceinline__ Group<T, N> finish_group(const Channels<N>& sums, const Channels<N>& bias,
                                                    bool silu) {
  Group<T, N> result;
#pragma unroll
  for (int i = 0; i < N; ++i) result.values[i] = finish<T>(sums[i], bias[i], silu);
  return result;
}

/// `times` outputs of a whole pack from the time `begin` on.
template <class T, int Taps>
__device__ __forceinline__ void walk(const DepthwiseParams& p, const ChannelPack<T, Pack<T>::kCount>& pack,
                                     const WeightRows<Pack<T>::kCount>& rows, std::int64_t begin, int times) {
  constexpr int kCount = Pack<T>::kCount;
  // At least 4, and a multiple of Taps, so that a sample's place in the ring is known when compiling.
  constexpr int kStep = (4 + Taps - 1) / Taps * Taps;
  Channels<kCount> ring[Taps];  // the sample of time begin + i is in ring[i mod Taps]
#pragma unroll
  for (int i = 1; i < Taps; ++i) widen(pack.sample_or_zeros(p, begin - i), ring[Taps - i]);
  Channels<kCount> weights[Taps], bias;
#pragma unroll
  for (int distance = 0; distance < Taps; ++distance) rows.load(distance, weights[distance]);
  rows.load(Taps, bias);

  const T* in = pack.in + begin * p.in_time;
  T* out = pack.out + begin * p.out_time;
  for (int done = 0; done < times; done += kStep) {
    Group<T, kCount> packs[kStep];
#pragma unroll
    for (int i = 0; i < kStep; ++i) {
      if (done + i < times) packs[i] = load_group<kCount>(in + i * p.in_time);
    }
#pragma unroll
    for (int i = 0; i < kStep; ++i) {
      if (done + i >= times) continue;
      widen(packs[i], ring[i % Taps]);
      Channels<kCount> sums = {};
#pragma unroll
      for (int distance = 0; distance < Taps; ++distance) {
#pragma unroll
        for (int j = 0; j < kCount; ++j)
          sums[j] = fmaf(weights[distance][j], ring[(i - distance + Taps) % Taps][j], sums[j]);
      }
      store_group(out + i * p.out_time, finish_group<T>(sums, bias, p.silu));
    }
    in += kStep * p.in_time;
    out += kStep * p.out_time;
  }
}

template <class T, int Taps>
__global__ __launch_bounds__(kDepthwiseThreads, 1) void depthwise_channel_kernel(DepthwiseParams p,
                                                                                 DepthwiseGrid grid) {
  constexpr int kCount = Pack<T>::kCount;
  RELAYOUT_DYNAMIC_SHARED(float, shared);
  const DepthwisePlace place = place_block<false>(grid);
  const WeightRows<Pack<T>::kCount> rows(p, place, shared);
  const ChannelPack<T, Pack<T>::kCount> pack(p, place);
  const std::int64_t begin = place.time + static_cast<int>(threadIdx.x) / p.lanes * p.run;
  if (pack.count <= 0 || begin >= p.length) return;
  const int times = p.length - begin < p.run ? static_cast<int>(p.length - begin) : p.run;
  if (pack.count == kCount) walk<T, Taps>(p, pack, rows, begin, times);
  // The walk took zeros for an initial state: the few outputs that meet it are written once more.
  const int meet_initial = p.initial_state != nullptr && begin < Taps - 1 ? Taps - 1 : 0;
  pack.store_border(p, begin, pack.count < kCount ? times : meet_initial);
}

/// Step m of the walk from the newest sample to the oldest brings the sample of time
/// begin + kTimesOfManyTaps - 1 - m, which the output u before the newest meets at distance m - u.
/// Edge: outputs whose taps have not begun or are over at this step are left out.
template <class T, bool Edge>
__device__ __forceinline__ void take_steps(const DepthwiseParams& p,
                                           const ChannelPack<T, kGroupOfManyTaps>& pack,
                                           const WeightRows<kGroupOfManyTaps>& rows, std::int64_t newest,
                                           int first, Channels<kGroupOfManyTaps> (&weights)[kTimesOfManyTaps],
                                           Channels<kGroupOfManyTaps> (&sums)[kTimesOfManyTaps]) {
  const int taps = static_cast<int>(p.taps);
#pragma unroll
  for (int i = 0; i < kTimesOfManyTaps; ++i) {
    const int step = first + i;
    if (Edge && step >= taps + kTimesOfManyTaps - 1) return;
    if (!Edge || step < taps) rows.load(step, weights[i]);
    const std::int64_t time = newest - step;
    Channels<kGroupOfManyTaps> samples;
    widen(!Edge || time < p.length ? pack.sample_or_zeros(p, time) : Group<T, kGroupOfManyTaps>{}, samples);
#pragma unroll
    for (int u = 0; u < kTimesOfManyTaps; ++u) {
      if (Edge && (step < u || step - u >= taps)) continue;
#pragma unroll
      for (int j = 0; j < kGroupOfManyTaps; ++j)
        sums[u][j] = fmaf(weights[(i - u + kTimesOfManyTaps) % kTimesOfManyTaps][j], samples[j], sums[u][j]);
    }
  }
}

template <class T>
__global__ __launch_bounds__(kDepthwiseThreads, 1) void depthwise_channel_many_kernel(DepthwiseParams p,
                                                                                      DepthwiseGrid grid) {
  RELAYOUT_DYNAMIC_SHARED(float, shared);
  const DepthwisePlace place = place_block<false>(grid);
  const WeightRows<kGroupOfManyTaps> rows(p, place, shared);
  const ChannelPack<T, kGroupOfManyTaps> pack(p, place);
  const std::int64_t begin = place.time + static_cast<int>(threadIdx.x) / p.lanes * kTimesOfManyTaps;
  if (pack.count <= 0 || begin >= p.length) return;
  const bool reaches_initial_state = p.initial_state != nullptr && begin < p.taps - 1;
  if (pack.count < kGroupOfManyTaps || reaches_initial_state)
    return pack.store_border(p, begin, kTimesOfManyTaps);

  const int taps = static_cast<int>(p.taps);
  const std::int64_t newest = begin + kTimesOfManyTaps - 1;
  Channels<kGroupOfManyTaps> weights[kTimesOfManyTaps] = {}, sums[kTimesOfManyTaps] = {};
  take_steps<T, true>(p, pack, rows, newest, 0, weights, sums);
  int step = kTimesOfManyTaps;
  for (; step + kTimesOfManyTaps <= taps; step += kTimesOfManyTaps)
    take_steps<T, false>(p, pack, rows, newest, step, weights, sums);
  for (; step < taps + kTimesOfManyTaps - 1; step += kTimesOfManyTaps)
    take_steps<T, true>(p, pack, rows, newest, step, weights, sums);

  Channels<kGroupOfManyTaps> bias;
  rows.load(taps, bias);
#pragma unroll
  for (int u = 0; u < kTimesOfManyTaps; ++u) {
    if (newest - u < p.length)
      store_group(pack.out + (newest - u) * p.out_time, finish_group<T>(sums[u], bias, p.silu));
  }
}

}  // namespace

void launch_depthwise_channel(const LaunchContext& context, const DepthwiseParams& p) {
  visit_signal_type(p.type, [&](auto type) {
    using T = typename decltype(type)::type;
    visit_taps(p.taps, [&](auto taps) {
      constexpr int kTaps = decltype(taps)::value;
      const std::int64_t channels = std::int64_t{p.lanes} * (kTaps == 0 ? kGroupOfManyTaps : Pack<T>::kCount);
      const DepthwiseGrid grid(p, channels,
                               kDepthwiseThreads / p.lanes * (kTaps == 0 ? kTimesOfManyTaps : p.run));
      LaunchShape shape;
      shape.blocks_x = grid.blocks(p);
      shape.threads_x = kDepthwiseThreads;
      shape.shared_bytes = static_cast<std::size_t>(channels * (p.taps + 1)) * sizeof(float);
      if constexpr (kTaps == 0) {
        launch("depthwise_conv1d", context, shape, depthwise_channel_many_kernel<T>, p, grid);
      } else {
        launch("depthwise_conv1d", context, shape, depthwise_channel_kernel<T, kTaps>, p, grid);
      }
    });
  });
}

}  // namespace relayout::RELAYOUT_BACKEND
