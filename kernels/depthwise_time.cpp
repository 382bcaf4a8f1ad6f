// depthwise where time is the fast axis of in and out and every row lies on a 16-byte boundary.
//
// A block takes some channels (256 / p.lanes of them) and, of each, a run of time. A thread loads packs of 16
// bytes and, before each, the packs that its oldest tap reaches (its neighbour's, so from the L1), and stores
// packs. Up to 8 taps: p.run packs, p.lanes apart, all loaded before the first is used; weights in registers.
// more: two neighbouring packs, whose outputs stay in registers while the older packs pass by;
// weights in shared memory. Global traffic: each input element once, each output element once.
#include <type_traits>

#include "kernels/backend_kernels.hpp"
#include "kernels/depthwise_common.hpp"
#include "kernels/pack.hpp"
#include "launch.hpp"

namespace relayout::RELAYOUT_BACKEND {
namespace {

constexpr int kMostRun = 4;
constexpr int kPacksOfManyTaps = 2;

/// A thread's place in its row. Offsets from its first pack are 32-bit.
template <class T>
struct RowPlace {
  DepthwisePlace place;  // time: of the first pack
  const T* in;           // the first pack
  T* out;
  int before, left;  // samples before and from the first pack on, as far as they matter

  __device__ __forceinline__ RowPlace(const DepthwiseParams& p, const DepthwiseGrid& grid, int packs_apart)
      : place(place_block<true>(grid)) {
    constexpr std::int64_t kFar = 1 << 28;
    place.channel += static_cast<int>(threadIdx.x) / p.lanes;
    place.time += static_cast<int>(threadIdx.x) % p.lanes * packs_apart * Pack<T>::kCount;
    in = static_cast<const T*>(p.in) + place.batch * p.in_batch + place.channel * p.in_channel + place.time;
    out = static_cast<T*>(p.out) + place.batch * p.out_batch + place.channel * p.out_channel + place.time;
    before = static_cast<int>(place.time < kFar ? place.time : kFar);
    left = static_cast<int>(p.length - place.time < kFar ? p.length - place.time : kFar);
    if (place.channel >= p.channels) left = 0;
  }
  /// The pack at an offset; zeros where it lies before the first sample.
  __device__ __forceinline__ Pack<T> pack(int offset) const {
    return before + offset >= 0 ? load_pack(in + offset) : Pack<T>{};
  }
  /// Whether vectors can compute `count` outputs: no sample of an initial state, and the row goes on.
  __device__ __forceinline__ bool is_whole(const DepthwiseParams& p, int offset, int count) const {
    return offset + count <= left && (p.initial_state == nullptr || before + offset >= p.taps - 1);
  }
  /// What they cannot.
  __device__ __forceinline__ void store_border(const DepthwiseParams& p, int offset, int count) const {
#pragma unroll 1
    for (int i = offset; i < offset + count && i < left; ++i) {
      store_output<T>(p, place.batch, place.channel, place.time + i);
    }
  }
};

template <class T, int Taps>
__global__ __launch_bounds__(kDepthwiseThreads, 2) void depthwise_time_kernel(DepthwiseParams p,
                                                                              DepthwiseGrid grid) {
  constexpr int kCount = Pack<T>::kCount;
  constexpr int kOlder = (Taps - 1 + kCount - 1) / kCount;  // packs before a pack that its taps reach
  const RowPlace<T> row(p, grid, 1);
  if (row.left <= 0) return;
  const int step = p.lanes * kCount;

  Pack<T> packs[kMostRun][kOlder + 1];
#pragma unroll
  for (int i = 0; i < kMostRun; ++i) {
    if (i >= p.run || !row.is_whole(p, i * step, kCount)) continue;
#pragma unroll
    for (int older = 0; older <= kOlder; ++older)
      packs[i][kOlder - older] = row.pack(i * step - older * kCount);
  }
  float weights[Taps];
#pragma unroll
  for (int distance = 0; distance < Taps; ++distance)
    weights[distance] = load_weight(p, row.place.channel, distance);
  const float bias = load_bias(p, row.place.channel);

#pragma unroll
  for (int i = 0; i < kMostRun; ++i) {
    if (i >= p.run || !row.is_whole(p, i * step, kCount)) continue;
    float samples[(kOlder + 1) * kCount];
#pragma unroll
    for (int j = 0; j < (kOlder + 1) * kCount; ++j)
      samples[j] = convert<float>(packs[i][j / kCount].values[j % kCount]);
    Pack<T> result;
#pragma unroll
    for (int j = 0; j < kCount; ++j) {
      float sum = 0.0f;
#pragma unroll
      for (int distance = 0; distance < Taps; ++distance)
        sum = fmaf(weights[distance], samples[kOlder * kCount + j - distance], sum);
      result.values[j] = finish<T>(sum, bias, p.silu);
    }
    store_pack(row.out + i * step, result);
  }
#pragma unroll 1
  for (int i = 0; i < p.run; ++i) {
    if (!row.is_whole(p, i * step, kCount)) row.store_border(p, i * step, kCount);
  }
}

template <class T>
using Samples = float[Pack<T>::kCount];

template <class T>
__device__ __forceinline__ void widen(const Pack<T>& pack, Samples<T>& samples) {
#pragma unroll
  for (int i = 0; i < Pack<T>::kCount; ++i) samples[i] = convert<float>(pack.values[i]);
}

/// sums[j] += the taps whose distance is first_distance + d, d < kCount, where older, newer are the packs
/// that these reach.
template <class T, bool Whole>
__device__ __forceinline__ void accumulate(const float* weights, int count, const Samples<T>& older,
                                           const Samples<T>& newer, Samples<T>& sums) {
  constexpr int kCount = Pack<T>::kCount;
  float taps[kCount];
#pragma unroll
  for (int i = 0; i < kCount; i += 4) {
    const Pack<float> four = load_pack(weights + i);
#pragma unroll
    for (int j = 0; j < 4; ++j) taps[i + j] = four.values[j];
  }
#pragma unroll
  for (int distance = 0; distance < kCount; ++distance) {
    if (!Whole && distance >= count) break;
#pragma unroll
    for (int j = 0; j < kCount; ++j) {
      const float sample = j >= distance ? newer[j - distance] : older[kCount + j - distance];
      sums[j] = fmaf(taps[distance], sample, sums[j]);
    }
  }
}

/// Any number of taps; weights lie in shared memory by distance, a row of `pitch` for each of the block's
/// channels.
template <class T>
__global__ __launch_bounds__(kDepthwiseThreads, 2) void depthwise_time_many_kernel(DepthwiseParams p,
                                                                                   DepthwiseGrid grid,
                                                                                   int pitch) {
  constexpr int kCount = Pack<T>::kCount;
  RELAYOUT_DYNAMIC_SHARED(float, shared);
  const RowPlace<T> row(p, grid, kPacksOfManyTaps);
  float* weights = shared + static_cast<int>(threadIdx.x) / p.lanes * pitch;
  if (row.place.channel < p.channels) {
    for (int distance = static_cast<int>(threadIdx.x) % p.lanes; distance < pitch; distance += p.lanes)
      weights[distance] = distance < p.taps ? load_weight(p, row.place.channel, distance) : 0.0f;
  }
  __syncthreads();
  if (row.left <= 0) return;
  if (!row.is_whole(p, 0, kPacksOfManyTaps * kCount))
    return row.store_border(p, 0, kPacksOfManyTaps * kCount);

  // Three packs of samples take turns as the older one, so that nothing is moved.
  Samples<T> a, b, c, first = {}, second = {};
  widen(row.pack(0), b);
  widen(row.pack(kCount), c);
  int rest = static_cast<int>(p.taps), older = 0;
  const auto take = [&](Samples<T>& old, const Samples<T>& middle, const Samples<T>& newest) {
    older -= kCount;
    widen(row.pack(older), old);
    if (rest >= kCount) {
      accumulate<T, true>(weights, kCount, old, middle, first);
      accumulate<T, true>(weights, kCount, middle, newest, second);
    } else {
      accumulate<T, false>(weights, rest, old, middle, first);
      accumulate<T, false>(weights, rest, middle, newest, second);
    }
    weights += kCount;
    rest -= kCount;
    return rest > 0;
  };
  while (take(a, b, c) && take(c, a, b) && take(b, c, a)) {
  }

  const float bias = load_bias(p, row.place.channel);
  Pack<T> results[kPacksOfManyTaps];
#pragma unroll
  for (int j = 0; j < kCount; ++j) {
    results[0].values[j] = finish<T>(first[j], bias, p.silu);
    results[1].values[j] = finish<T>(second[j], bias, p.silu);
  }
  store_pack(row.out, results[0]);
  store_pack(row.out + kCount, results[1]);
}

}  // namespace

void launch_depthwise_time(const LaunchContext& context, const DepthwiseParams& p) {
  visit_signal_type(p.type, [&](auto type) {
    using T = typename decltype(type)::type;
    constexpr int kCount = Pack<T>::kCount;
    const std::int64_t rows = kDepthwiseThreads / p.lanes;
    visit_taps(p.taps, [&](auto taps) {
      constexpr int kTaps = decltype(taps)::value;
      constexpr bool kMany = kTaps == 0;
      const DepthwiseGrid grid(p, rows, std::int64_t{p.lanes} * (kMany ? kPacksOfManyTaps : p.run) * kCount);
      LaunchShape shape;
      shape.blocks_x = grid.blocks(p);
      shape.threads_x = kDepthwiseThreads;
      if constexpr (kMany) {
        const int pitch = (static_cast<int>(p.taps) + kCount - 1) / kCount * kCount;
        shape.shared_bytes = static_cast<std::size_t>(rows * pitch) * sizeof(float);
        launch("depthwise_conv1d", context, shape, depthwise_time_many_kernel<T>, p, grid, pitch);
      } else {
        launch("depthwise_conv1d", context, shape, depthwise_time_kernel<T, kTaps>, p, grid);
      }
    });
  });
}

}  // namespace relayout::RELAYOUT_BACKEND
