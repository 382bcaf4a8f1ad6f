// depthwise along time (see depthwise_time.cpp) with more than 8 taps: any bases and pitches.
//
// A thread takes, p.run times, kManyTapsPacks neighbouring packs of 16 bytes that lie on the boundaries of
// the output in memory. Their sums stay in registers while the samples, each loaded and widened once, pass
// by: a ring of packs, in which the next older one replaces the newest after a pack's taps. Packs of samples
// begin anywhere: each is joined of two aligned words of 16 bytes, the younger of which the pack before it
// had, too; where rows lie as those of the output do, it is one word. A tile inside its row may have code of
// its own, which asks for no ends (p.inside_apart). Weights in shared memory, for all of a block's runs.
// Global traffic: each input element once, the older packs through the L1; each output element once.
#include <type_traits>

#include "kernels/block_index.hpp"
#include "kernels/depthwise/depthwise_time.hpp"
#include "kernels/depthwise/depthwise_weights.hpp"
#include "launch.hpp"

namespace relayout::RELAYOUT_BACKEND {
namespace {

/// Moves 16 bytes down by an element; `bits` stand on top.
template <class T>
__device__ __forceinline__ void push_element(std::uint32_t (&words)[kPackWords], std::uint32_t bits) {
#pragma unroll
  for (int i = 0; i + 1 < kPackWords; ++i)
    words[i] = sizeof(T) == 2 ? __funnelshift_r(words[i], words[i + 1], 16) : words[i + 1];
  words[kPackWords - 1] = sizeof(T) == 2 ? words[kPackWords - 1] >> 16 | bits << 16 : bits;
}

/// The 16 bytes that begin `shift` bytes behind `low`'s first: by 8 bytes, then by 4, then by 2. kAlike:
/// none behind.
template <class T, bool kAlike>
__device__ __forceinline__ void join(const std::uint32_t (&low)[kPackWords],
                                     const std::uint32_t (&high)[kPackWords], int shift,
                                     std::uint32_t (&pack)[kPackWords]) {
  if constexpr (kAlike) {
#pragma unroll
    for (int i = 0; i < kPackWords; ++i) pack[i] = low[i];
  } else {
    std::uint32_t words[kPackWords + 2];
#pragma unroll
    for (int i = 0; i < kPackWords + 2; ++i) {
      const std::uint32_t here = i < kPackWords ? low[i] : high[i - kPackWords];
      const std::uint32_t there = i + 2 < kPackWords ? low[i + 2] : high[i + 2 - kPackWords];
      words[i] = (shift & 8) != 0 ? there : here;
    }
#pragma unroll
    for (int i = 0; i < kPackWords + 1; ++i) words[i] = (shift & 4) != 0 ? words[i + 1] : words[i];
#pragma unroll
    for (int i = 0; i < kPackWords; ++i)
      pack[i] = sizeof(T) == 2 ? __funnelshift_r(words[i], words[i + 1], (shift & 2) * 8) : words[i];
  }
}

/// What a launch knows of its rows. kAlike: packs of samples lie on boundaries, as those of outputs do.
/// kInsideApart: p.inside_apart.
template <bool kAlike, bool kInsideApart>
struct ManyRows {
  static constexpr bool alike = kAlike, inside_apart = kInsideApart;
};

/// A thread's place in its row. Offsets count samples from its first output on, and are 32-bit.
template <class T, class Rows>
struct ManyRow {
  static constexpr int kCount = Vector<T>::kCount;
  DepthwisePlace place;  // time: of the first output, which may lie before the row
  T* out;
  const char* in;  // the aligned word of 16 bytes that holds the first sample
  int shift;       // bytes from there to it
  int before, left;
  int readable_from, readable_to;  // bytes from `in` to the first and the last word inside the input's memory

  __device__ __forceinline__ ManyRow(const DepthwiseParams& p, const DepthwiseGrid& grid,
                                     const MemorySpan& span)
      : place(place_block<true>(grid)) {
    place.channel += grid.row();
    out = static_cast<T*>(p.out) + place.batch * p.out_batch + place.channel * p.out_channel;
    place.time += grid.lane() * (kManyTapsPacks * Vector<T>::kCount) - misaligned_elements<kSectorBytes>(out);
    out += place.time;
    in = reinterpret_cast<const char*>(static_cast<const T*>(p.in) + place.batch * p.in_batch +
                                       place.channel * p.in_channel + place.time);
    shift = Rows::alike ? 0 : static_cast<int>(reinterpret_cast<std::uintptr_t>(in) & 15);
    in -= shift;
    before = near_offset(place.time);
    left = place.channel < p.channels ? near_offset(p.length - place.time) : 0;
    readable_from = near_offset(span.begin - in);
    readable_to = near_offset(span.end - in - 16);
  }
  /// Whether a tile's samples, and a turn more, lie inside the row and the input's memory, and its outputs
  /// inside the row: for all lanes that run together, since both ways would take twice as long.
  __device__ __forceinline__ bool is_inside(int offset, int taps) const {
    const int oldest = offset - round_up(taps, kCount), end = offset + kManyTapsPacks * kCount;
    constexpr int kBytes = static_cast<int>(sizeof(T));
    return Rows::inside_apart && !any_beside(before + oldest < 0 || end > left ||
                                             oldest * kBytes < readable_from || end * kBytes > readable_to);
  }
  /// The aligned word `bytes` behind the first one. Where not all are inside, of one that lies across an end
  /// of the input's memory the elements that do.
  template <bool kInside>
  __device__ __forceinline__ void load(std::uint32_t (&words)[kPackWords], int bytes) const {
    if constexpr (kInside) {
      load_words<kPackWords>(words, in + bytes);
    } else {
      if (bytes >= readable_from && bytes <= readable_to) return load_words<kPackWords>(words, in + bytes);
      constexpr int kBytes = static_cast<int>(sizeof(T));
#pragma unroll 1
      for (int end = bytes + 16; bytes < end; bytes += kBytes) {
        const bool inside = bytes >= readable_from && bytes <= readable_to + 16 - kBytes;
        push_element<T>(words, inside ? element_bits(*reinterpret_cast<const T*>(in + bytes)) : 0u);
      }
    }
  }
  /// Replaces the samples before the row, in a pack of samples from `time` on.
  __device__ __forceinline__ void replace_states(const DepthwiseParams& p, int time,
                                                 std::uint32_t (&pack)[kPackWords]) const {
    if (p.initial_state == nullptr) return clear_samples<T>(pack, -time);
    const SampleRow<T> row(p, place.batch, place.channel);
#pragma unroll 1
    for (int i = 0; i < kCount; ++i, ++time) {
      std::uint32_t bits = sizeof(T) == 2 ? pack[0] & 0xffffu : pack[0];
      if (time < 0) bits = time > -p.taps ? element_bits(row.at(p, time)) : 0u;
      push_element<T>(pack, bits);
    }
  }
  /// The outputs of a pack that exist.
  template <bool kInside>
  __device__ __forceinline__ void store(const Words& result, int offset) const {
    T* const to = out + offset;
    if constexpr (kInside) {
      store_global_16_bytes(to, &result, false);
    } else {
      const int first = -before - offset, end = left - offset;
      if (first <= 0 && end >= kCount) return store_global_16_bytes(to, &result, false);
#pragma unroll
      for (int i = 0; i < kCount; ++i) {
        if (i >= first && i < end) store_element(to + i, result.values[i / kPerWord<T>], i % kPerWord<T>);
      }
    }
  }
};

/// The aligned words of a tile's packs, one more behind them, and the next older one.
struct ManyWords {
  std::uint32_t newest[kManyTapsPacks + 1][kPackWords] = {}, next[kPackWords] = {};

  template <class T, class Rows>
  __device__ __forceinline__ void load(const ManyRow<T, Rows>& row, int offset, int taps) {
    if (offset >= row.left) return;
    row.is_inside(offset, taps) ? load_all<true>(row, offset) : load_all<false>(row, offset);
  }

 private:
  template <bool kInside, class T, class Rows>
  __device__ __forceinline__ void load_all(const ManyRow<T, Rows>& row, int offset) {
    const int bytes = offset * static_cast<int>(sizeof(T));
#pragma unroll
    for (int i = 0; i <= kManyTapsPacks; ++i) {
      if (i < kManyTapsPacks || (!Rows::alike && row.shift != 0))
        row.template load<kInside>(newest[i], bytes + i * 16);
    }
    row.template load<kInside>(next, bytes - 16);
  }
};

/// Adds up a tile's outputs, whose words are there; the sums of pack i from the end are sums[i].
template <bool kInside, class T, class Rows>
__device__ __forceinline__ void sum_tile(const DepthwiseParams& p, const ManyRow<T, Rows>& row,
                                         const float* weights, int offset, ManyWords& words,
                                         float (&sums)[kManyTapsPacks][Vector<T>::kCount]) {
  constexpr int kCount = Vector<T>::kCount;
  constexpr int kPacks = kManyTapsPacks, kSlots = kPacks + 1;  // of a thread; of the ring
  // Pack i before the newest of all, counted down from kPacks - 1, is in slot i mod kSlots.
  float ring[kSlots][kCount];
  const auto take = [&](const std::uint32_t(&low)[kPackWords], const std::uint32_t(&high)[kPackWords],
                        int time, float(&samples)[kCount]) {
    std::uint32_t pack[kPackWords];
    join<T, Rows::alike>(low, high, row.shift, pack);
    if (!kInside && time < 0) row.replace_states(p, time, pack);
    widen_words<T, kPackWords>(pack, samples);
  };
  int time = row.before + offset + (kPacks - 1) * kCount;  // of the pack that is taken
#pragma unroll
  for (int i = 0; i < kPacks; ++i, time -= kCount)
    take(words.newest[kPacks - 1 - i], words.newest[kPacks - i], time, ring[i]);
  int bytes = offset * static_cast<int>(sizeof(T)) - 16, rest = static_cast<int>(p.taps);
  const auto turn = [&](auto phase_constant) {
    constexpr int kPhase = decltype(phase_constant)::value;
    take(words.next, words.newest[0], time, ring[(kPhase + kPacks) % kSlots]);
    time -= kCount;
#pragma unroll
    for (int i = 0; i < kPackWords; ++i) words.newest[0][i] = words.next[i];
    if (rest > kCount) row.template load<kInside>(words.next, bytes -= 16);
    const auto add = [&](auto whole) {
#pragma unroll
      for (int four = 0; four < kCount; four += 4) {
        const Vector<float> some = load_vector(weights + four);
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
    };
    if (rest >= kCount) {
      add(std::true_type{});
    } else {
      add(std::false_type{});
    }
    weights += kCount;
    rest -= kCount;
    return rest > 0;
  };
  while (each_phase<kSlots>(turn)) {
  }
}

/// Blocks of a multiprocessor: as many as its registers hold nearly all that a thread needs for.
template <class T, class Rows>
constexpr int kManyBlocks = sizeof(T) == 4 || Rows::alike ? 6 : 5;

/// Any number of taps; weights lie in shared memory by distance, a row of `pitch` for each of the block's
/// channels.
template <class T, class Rows>
__global__ RELAYOUT_LAUNCH_BOUNDS(kDepthwiseWalkThreads,
                                  (kManyBlocks<T, Rows>)) void depthwise_time_many_kernel(DepthwiseParams p,
                                                                                          DepthwiseGrid grid,
                                                                                          MemorySpan span,
                                                                                          int pitch,
                                                                                          Divisor by_taps) {
  constexpr int kCount = Vector<T>::kCount, kPacks = kManyTapsPacks;
  RELAYOUT_DYNAMIC_SHARED(float, shared);
  const ManyRow<T, Rows> row(p, grid, span);
  if (is_spare(row.place.batch, p.batch)) return;
  const int taps = static_cast<int>(p.taps);
  ManyWords words;
  words.load(row, 0, taps);  // before the weights: both come from afar
  float bias = 0.0f;
  if (row.place.channel < p.channels) bias = load_bias(p, row.place.channel);
  const std::int64_t first_channel = row.place.channel - grid.row(), channels = p.channels - first_channel;
  const int rows = kDepthwiseWalkThreads >> grid.lanes_shift;
  fill_weights<kDepthwiseWalkThreads>(p, first_channel, channels < rows ? static_cast<int>(channels) : rows,
                                      by_taps, {pitch, 1}, shared);
  __syncthreads();

  const float* const weights = shared + grid.row() * pitch;
  const int step = p.lanes * kPacks * kCount;
  const auto tile = [&](auto inside, int offset, bool is_last) {
    constexpr bool kInside = decltype(inside)::value;
    float sums[kPacks][kCount] = {};
    sum_tile<kInside>(p, row, weights, offset, words, sums);
    if (!is_last) words.load(row, offset + step, taps);
#pragma unroll
    for (int i = 0; i < kPacks; ++i)
      row.template store<kInside>(finish_pack<T>(sums[i], bias, p.silu), offset + (kPacks - 1 - i) * kCount);
  };
#pragma unroll 1
  for (int group = 0; group < p.run && group * step < row.left; ++group) {
    const int offset = group * step;
    const bool is_last = group + 1 == p.run;
    if (row.is_inside(offset, taps)) {
      tile(std::true_type{}, offset, is_last);
    } else {
      tile(std::false_type{}, offset, is_last);
    }
  }
}

}  // namespace

void launch_depthwise_time_many(const LaunchContext& context, const DepthwiseParams& p) {
  visit_floats_up_to_f32(p.type, [&](auto type) {
    using T = typename decltype(type)::type;
    constexpr int kCount = Vector<T>::kCount;
    const DepthwiseGrid grid(p, kDepthwiseWalkThreads / p.lanes,
                             std::int64_t{p.lanes} * p.run * kManyTapsPacks * kCount, time_slack(p));
    const int pitch = (static_cast<int>(p.taps) + kCount - 1) / kCount * kCount;
    const NumberedBlocks shape = numbered_blocks(grid.blocks(p), kDepthwiseWalkThreads, p.shared_bytes);
    const auto run = [&](auto rows) {
      launch("depthwise_conv1d", context, shape, depthwise_time_many_kernel<T, decltype(rows)>, p, grid,
             input_span(p), pitch, make_divisor(static_cast<std::uint32_t>(p.taps)));
    };
    if (has_alike_rows(p)) return p.inside_apart ? run(ManyRows<true, true>{}) : run(ManyRows<true, false>{});
    p.inside_apart ? run(ManyRows<false, true>{}) : run(ManyRows<false, false>{});
  });
}

}  // namespace relayout::RELAYOUT_BACKEND
