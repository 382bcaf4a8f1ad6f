// depthwise where time is the fast axis of in and out and every row lies on a 16-byte boundary: up to 8 taps.
//
// A block takes some channels (256 / p.lanes of them) and, of each, a run of time. A thread loads packs of 16
// bytes and the samples before them that its oldest tap reaches (its neighbour's, so from the L1), and stores
// packs: p.run of them, p.lanes apart, the first ones all in flight before one is used; weights in registers.
// It needs none of the shifts of depthwise_time.cpp, which takes any base and pitch, and has twice its packs
// in flight. Global traffic: each input element once, each output element once.
#include "kernels/depthwise/depthwise_time.hpp"
#include "launch.hpp"

namespace relayout::RELAYOUT_BACKEND {
namespace {

constexpr int kInFlight = 4;  // packs of a thread

/// Words before a pack that hold its oldest tap's samples: 0, 1, 2, 4 or 8.
template <class T, int Taps>
struct OlderWords {
  static constexpr int kNeeded = ((Taps - 1) * static_cast<int>(sizeof(T)) + 3) / 4;
  static constexpr int kCount = kNeeded <= 2 ? kNeeded : (kNeeded + 3) / 4 * 4;
};

/// A pack and the words before it. Loaded without a branch: a compiler would take the samples out of the
/// words inside it, and so wait there for each load before the next one.
template <class T, int Taps>
struct Window {
  static constexpr int kOlder = OlderWords<T, Taps>::kCount, kOlderSamples = kOlder * kPerWord<T>;
  std::uint32_t words[kOlder + kPackWords];

  /// The older words come in pieces of one access each; those that begin before the first sample, `before`
  /// samples back, are to be cleared before they are used.
  static constexpr int kPiece = kOlder == 0 ? 1 : kOlder < kPackWords ? kOlder : kPackWords;
  static __device__ __forceinline__ int samples_back(int word) {
    return (kOlder - word / kPiece * kPiece) * kPerWord<T>;
  }
  __device__ __forceinline__ void load(const T* in, int before) {
#pragma unroll
    for (int word = 0; word < kOlder; word += kPiece) {
      const int back = samples_back(word);
      load_words<kPiece>(words + word, in - (before >= back ? back : 0));
    }
    load_words<kPackWords>(words + kOlder, in);
  }
  __device__ __forceinline__ void clear_missing(int before) {
#pragma unroll
    for (int word = 0; word < kOlder; ++word) words[word] &= before >= samples_back(word) ? ~0u : 0u;
  }
  __device__ __forceinline__ Words outputs(const float (&weights)[Taps], float bias, bool with_silu) const {
    constexpr int kCount = Vector<T>::kCount;
    float samples[kOlderSamples + kCount], sums[kCount];
    widen_words<T, kOlder + kPackWords>(words, samples);
#pragma unroll
    for (int j = 0; j < kCount; ++j) {
      sums[j] = 0.0f;
#pragma unroll
      for (int distance = 0; distance < Taps; ++distance)
        sums[j] = fmaf(weights[distance], samples[kOlderSamples + j - distance], sums[j]);
    }
    return finish_pack<T>(sums, bias, with_silu);
  }
};

template <class T, int Taps>
__global__ __launch_bounds__(kDepthwiseThreads,
                             Taps <= 4 ? 4 : 2) void depthwise_time_aligned_kernel(DepthwiseParams p,
                                                                                   DepthwiseGrid grid) {
  constexpr int kCount = Vector<T>::kCount;
  const RowPlace<T> row(p, grid, 1);
  if (row.left <= 0) return;
  const int step = p.lanes * kCount;
  // Packs begin..end are whole: a thread's first one may meet an initial state, its last one the row's end.
  const int begin = row.meets_initial(p, 0) ? 1 : 0;
  int end = p.run;
  while (end > 0 && (end - 1) * step + kCount > row.left) --end;

  if (begin < end) {
    ChannelNumbers<Taps> numbers;
    numbers.load(p, row.place.channel);
    constexpr int kEnough = 2 * Vector<T>::kCount;  // samples before a pack, of which it reaches none earlier
    int before = row.before + begin * step;
    Window<T, Taps> windows[kInFlight];
#pragma unroll
    for (int i = 0; i < kInFlight; ++i)
      windows[i].load(row.in + (begin + i < end ? begin + i : begin) * step,
                      i == 0 || begin + i >= end ? before : kEnough);
    float weights[Taps], bias[1];
    numbers.widen(p, weights, bias);
#pragma unroll 1
    for (int first = begin; first < end; first += kInFlight) {
#pragma unroll
      for (int i = 0; i < kInFlight; ++i) {
        const int pack = first + i;
        if (pack >= end) break;
        if (i == 0) windows[0].clear_missing(before);
        const Words result = windows[i].outputs(weights, bias[0], p.silu);
        store_global_16_bytes(row.out + pack * step, &result, false);
        if (pack + kInFlight < end) windows[i].load(row.in + (pack + kInFlight) * step, kEnough);
      }
      before = kEnough;
    }
  }
  if (begin > 0) row.store_border(p, 0, kCount);
  if (end < p.run && end >= begin) row.store_border(p, end * step, kCount);
}

}  // namespace

void launch_depthwise_time_aligned(const LaunchContext& context, const DepthwiseParams& p) {
  visit_signal_type(p.type, [&](auto type) {
    using T = typename decltype(type)::type;
    visit_taps(p.taps, [&](auto taps) {
      constexpr int kTaps = decltype(taps)::value;
      const DepthwiseGrid grid(p, kDepthwiseThreads / p.lanes,
                               std::int64_t{p.lanes} * p.run * Vector<T>::kCount);
      LaunchShape shape;
      shape.blocks_x = grid.blocks(p);
      shape.threads_x = kDepthwiseThreads;
      launch("depthwise_conv1d", context, shape, depthwise_time_aligned_kernel<T, kTaps>, p, grid);
    });
  });
}

}  // namespace relayout::RELAYOUT_BACKEND
