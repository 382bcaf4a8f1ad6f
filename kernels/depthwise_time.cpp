// depthwise where time is the fast axis of in and out and every row lies on a 16-byte boundary.
//
// A block takes some channels (256 / p.lanes of them) and, of each, a run of time. A thread loads packs of 16
// bytes and the samples before them that its oldest tap reaches (its neighbour's, so from the L1), and stores
// packs. Up to 8 taps: p.run packs, p.lanes apart, the first ones all in flight before one is used; weights
// in registers. More taps: p.run times two neighbouring packs, whose outputs stay in registers while the
// older packs pass by; weights in shared memory. Global traffic: each input element once, each output element
// once.
#include <type_traits>

#include "kernels/backend_kernels.hpp"
#include "kernels/depthwise_common.hpp"
#include "kernels/pack.hpp"
#include "kernels/words.hpp"
#include "launch.hpp"

namespace relayout::RELAYOUT_BACKEND {
namespace {

constexpr int kInFlight = 4;  // packs of a thread
constexpr int kPacksOfManyTaps = 2;
constexpr int kWords = 4;  // of a pack

/// A thread's place in its row. Offsets from its first pack are 32-bit.
template <class T>
struct RowPlace {
  static constexpr int kCount = Pack<T>::kCount;
  DepthwisePlace place;  // time: of the first pack
  const T* in;           // the first pack
  T* out;
  int before, left;  // samples before and from the first pack on, as far as they matter

  __device__ __forceinline__ RowPlace(const DepthwiseParams& p, const DepthwiseGrid& grid, int packs_apart)
      : place(place_block<true>(grid)) {
    constexpr std::int64_t kFar = 1 << 28;
    place.channel += grid.row();
    place.time += grid.lane() * packs_apart * kCount;
    in = static_cast<const T*>(p.in) + place.batch * p.in_batch + place.channel * p.in_channel + place.time;
    out = static_cast<T*>(p.out) + place.batch * p.out_batch + place.channel * p.out_channel + place.time;
    before = static_cast<int>(place.time < kFar ? place.time : kFar);
    left = static_cast<int>(p.length - place.time < kFar ? p.length - place.time : kFar);
    if (place.channel >= p.channels) left = 0;
  }
  /// Whether vectors can compute `count` outputs: no sample of an initial state, and the row goes on.
  __device__ __forceinline__ bool is_whole(const DepthwiseParams& p, int offset, int count) const {
    return offset + count <= left && !meets_initial(p, offset);
  }
  __device__ __forceinline__ bool meets_initial(const DepthwiseParams& p, int offset) const {
    return p.initial_state != nullptr && before + offset < p.taps - 1;
  }
  /// What they cannot.
  __device__ __forceinline__ void store_border(const DepthwiseParams& p, int offset, int count) const {
#pragma unroll 1
    for (int i = offset; i < offset + count && i < left; ++i) {
      store_output<T>(p, place.batch, place.channel, place.time + i);
    }
  }
};

template <class T, int Words>
__device__ __forceinline__ void widen_words(const std::uint32_t* words, float* samples) {
#pragma unroll
  for (int i = 0; i < Words; ++i) {
    float values[kPerWord<T>];
    widen_word<T>(words[i], values);
#pragma unroll
    for (int j = 0; j < kPerWord<T>; ++j) samples[i * kPerWord<T> + j] = values[j];
  }
}

/// A pack of outputs from its sums.
template <class T>
__device__ __forceinline__ Pack<std::uint32_t> finish_pack(float (&sums)[Pack<T>::kCount], float bias,
                                                           bool with_silu) {
#pragma unroll
  for (int j = 0; j < Pack<T>::kCount; ++j) sums[j] += bias;
  if (with_silu) {
#pragma unroll
    for (int j = 0; j < Pack<T>::kCount; ++j) sums[j] = silu(sums[j]);
  }
  Pack<std::uint32_t> result;
#pragma unroll
  for (int i = 0; i < kWords; ++i) {
    float values[kPerWord<T>];
#pragma unroll
    for (int j = 0; j < kPerWord<T>; ++j) values[j] = sums[i * kPerWord<T> + j];
    result.values[i] = narrow_word<T>(values);
  }
  return result;
}

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
  std::uint32_t words[kOlder + kWords];

  /// The older words come in pieces of one access each; those that begin before the first sample, `before`
  /// samples back, are to be cleared before they are used.
  static constexpr int kPiece = kOlder == 0 ? 1 : kOlder < kWords ? kOlder : kWords;
  static __device__ __forceinline__ int samples_back(int word) {
    return (kOlder - word / kPiece * kPiece) * kPerWord<T>;
  }
  __device__ __forceinline__ void load(const T* in, int before) {
#pragma unroll
    for (int word = 0; word < kOlder; word += kPiece) {
      const int back = samples_back(word);
      load_words<kPiece>(words + word, in - (before >= back ? back : 0));
    }
    load_words<kWords>(words + kOlder, in);
  }
  __device__ __forceinline__ void clear_missing(int before) {
#pragma unroll
    for (int word = 0; word < kOlder; ++word) words[word] &= before >= samples_back(word) ? ~0u : 0u;
  }
  __device__ __forceinline__ Pack<std::uint32_t> outputs(const float (&weights)[Taps], float bias,
                                                         bool with_silu) const {
    constexpr int kCount = Pack<T>::kCount;
    float samples[kOlderSamples + kCount], sums[kCount];
    widen_words<T, kOlder + kWords>(words, samples);
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
                             Taps <= 4 ? 4 : 2) void depthwise_time_kernel(DepthwiseParams p,
                                                                           DepthwiseGrid grid) {
  constexpr int kCount = Pack<T>::kCount;
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
    constexpr int kEnough = 2 * Pack<T>::kCount;  // samples before a pack, of which it reaches none earlier
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
        const Pack<std::uint32_t> result = windows[i].outputs(weights, bias[0], p.silu);
        store_global_16_bytes(row.out + pack * step, &result, false);
        if (pack + kInFlight < end) windows[i].load(row.in + (pack + kInFlight) * step, kEnough);
      }
      before = kEnough;
    }
  }
  if (begin > 0) row.store_border(p, 0, kCount);
  if (end < p.run && end >= begin) row.store_border(p, end * step, kCount);
}

/// Any number of taps; weights lie in shared memory by distance, a row of `pitch` for each of the block's
/// channels.
template <class T>
__global__ __launch_bounds__(kDepthwiseThreads, 3) void depthwise_time_many_kernel(DepthwiseParams p,
                                                                                   DepthwiseGrid grid,
                                                                                   int pitch) {
  constexpr int kCount = Pack<T>::kCount, kPacks = kPacksOfManyTaps, kSlots = kPacks + 1;
  RELAYOUT_DYNAMIC_SHARED(float, shared);
  const RowPlace<T> row(p, grid, kPacks);
  float* const weights = shared + grid.row() * pitch;
  float bias = 0.0f;
  // The samples of kPacks packs and the next older one.
  std::uint32_t newest[kPacks][kWords] = {}, next[kWords] = {};
  const auto load = [&](int offset) {
    if (!row.is_whole(p, offset, kPacks * kCount)) return;
#pragma unroll
    for (int i = 0; i < kPacks; ++i) load_words<kWords>(newest[i], row.in + offset + i * kCount);
#pragma unroll
    for (int i = 0; i < kWords; ++i) next[i] = 0;
    if (row.before + offset > 0) load_words<kWords>(next, row.in + offset - kCount);
  };
  load(0);  // before the weights: both come from afar
  if (row.place.channel < p.channels) {
    bias = load_bias(p, row.place.channel);
    for (int distance = grid.lane(); distance < pitch; distance += p.lanes)
      weights[distance] = distance < p.taps ? load_weight(p, row.place.channel, distance) : 0.0f;
  }
  __syncthreads();

  const int step = p.lanes * kPacks * kCount, taps = static_cast<int>(p.taps);
#pragma unroll 1
  for (int group = 0; group < p.run && group * step < row.left; ++group) {
    const int offset = group * step;
    if (!row.is_whole(p, offset, kPacks * kCount)) {
      row.store_border(p, offset, kPacks * kCount);
      if (group + 1 < p.run) load(offset + step);
      continue;
    }
    // A ring of packs: pack i before the newest of all, counted down from kPacks - 1, is in slot i mod
    // kSlots.
    float ring[kSlots][kCount], sums[kPacks][kCount] = {};
#pragma unroll
    for (int i = 0; i < kPacks; ++i) widen_words<T, kWords>(newest[kPacks - 1 - i], ring[i]);
    const T* in = row.in + offset - kCount;  // the oldest pack of `next`
    int before = row.before + offset - kCount;
    const float* own = weights;
    int rest = taps;
    const auto take = [&](auto phase_constant, auto whole) {
      constexpr int kPhase = decltype(phase_constant)::value;
      widen_words<T, kWords>(next, ring[(kPhase + kPacks) % kSlots]);
      if (rest > kCount) {
        in -= kCount;
        before -= kCount;
#pragma unroll
        for (int i = 0; i < kWords; ++i) next[i] = 0;
        if (before >= 0) load_words<kWords>(next, in);
      } else if (group + 1 < p.run) {
        load(offset + step);
      }
#pragma unroll
      for (int four = 0; four < kCount; four += 4) {
        const Pack<float> some = load_pack(own + four);
#pragma unroll
        for (int i = 0; i < 4; ++i) {
          const int distance = four + i;
          if (!decltype(whole)::value && distance >= rest) break;
#pragma unroll
          for (int pack = 0; pack < kPacks; ++pack) {
#pragma unroll
            for (int j = 0; j < kCount; ++j) {
              const float sample = j >= distance ? ring[(kPhase + pack) % kSlots][j - distance]
                                                 : ring[(kPhase + pack + 1) % kSlots][kCount + j - distance];
              sums[pack][j] = fmaf(some.values[i], sample, sums[pack][j]);
            }
          }
        }
      }
      own += kCount;
      rest -= kCount;
    };
    const auto turn = [&](auto phase) {
      if (rest >= kCount) {
        take(phase, std::true_type{});
      } else if (rest > 0) {
        take(phase, std::false_type{});
      }
      return rest > 0;
    };
    static_assert(kSlots == 3, "three turns bring every pack back to its slot");
    while (turn(std::integral_constant<int, 0>{}) && turn(std::integral_constant<int, 1>{}) &&
           turn(std::integral_constant<int, 2>{})) {
    }
#pragma unroll
    for (int i = 0; i < kPacks; ++i) {
      const Pack<std::uint32_t> result = finish_pack<T>(sums[i], bias, p.silu);
      store_global_16_bytes(row.out + offset + (kPacks - 1 - i) * kCount, &result, false);
    }
  }
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
      const DepthwiseGrid grid(p, rows,
                               std::int64_t{p.lanes} * p.run * (kMany ? kPacksOfManyTaps : 1) * kCount);
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
