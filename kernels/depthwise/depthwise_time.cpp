// depthwise where time is the fast axis of in and out: up to 8 taps, any bases and pitches.
//
// A block takes some channels (128 / p.lanes of them) and, of each, a run of time, cut into packs from the
// begin of a sector of the output in memory on: a thread has p.run of them, p.lanes apart. All the input's
// packs, cut at its own boundaries, are on their way to shared memory before the first is used, so that much
// is in flight and few registers hold it. There a row's packs lie one behind the other, kEdge packs before
// the run first, and a thread reads the words around its outputs' samples; it shifts them into place where
// the input's rows begin at another distance from a boundary than the output's. Packs at a row's ends are
// loaded whole, too, where they lie in the input's memory, and what is not the row's is cleared or not used;
// element by element, where they do not, or meet an initial state. Global traffic: each input element once,
// each output element once.
#include "kernels/depthwise/depthwise_time.hpp"
#include "kernels/depthwise/depthwise_window.hpp"
#include "launch.hpp"

namespace relayout::RELAYOUT_BACKEND {
namespace {

/// Packs before a run, which hold the samples that its first outputs need.
constexpr int kEdge = kTimeEdge;

/// Where rows begin: on boundaries of 16 bytes; as far behind them in the input as in the output; anywhere.
enum class RowBegins { aligned, alike, anywhere };

/// A thread's place in its row. Offsets from its first pack are 32-bit.
template <class T, RowBegins Rows>
struct RowPlace {
  static constexpr int kCount = Vector<T>::kCount;
  static constexpr bool kAligned = Rows == RowBegins::aligned;
  DepthwisePlace place;  // time: of the first pack, which may begin before the row
  T* out;                // the first pack
  const T* in;           // the pack that holds its first sample, `shift` samples before that
  int shift;
  int before, left;  // samples before and from the first pack on, as far as they matter
  bool there;        // the row

  __device__ __forceinline__ RowPlace(const DepthwiseParams& p, const DepthwiseGrid& grid)
      : place(place_block<true>(grid)) {
    constexpr std::int64_t kFar = 1 << 28;
    place.channel += grid.row();
    out = static_cast<T*>(p.out) + place.batch * p.out_batch + place.channel * p.out_channel;
    in = static_cast<const T*>(p.in) + place.batch * p.in_batch + place.channel * p.in_channel;
    place.time += grid.lane() * kCount - (kAligned ? 0 : misaligned_elements<kSectorBytes>(out));
    out += place.time;
    in += place.time;
    shift = kAligned ? 0 : misaligned_elements(in);
    in -= shift;
    before = static_cast<int>(place.time < kFar ? place.time : kFar);
    left = static_cast<int>(p.length - place.time < kFar ? p.length - place.time : kFar);
    there = place.channel < p.channels;
    if (!there) left = before = 0;
  }
  /// Whether the row has all outputs of a pack.
  __device__ __forceinline__ bool has_outputs(int offset) const {
    return before + offset >= 0 && left - offset >= kCount;
  }
  /// Whether the row has a sample of an input's pack.
  __device__ __forceinline__ bool has_samples(int offset) const {
    return there && before + offset - shift > -kCount && left - offset + shift > 0;
  }

  /// A pack of the input sample by sample: where the row has none, the initial state, or zeros.
  __device__ __forceinline__ void load_some(const DepthwiseParams& p, int offset,
                                            std::uint32_t (&words)[kPackWords]) const {
    const SampleRow<T> row(p, place.batch, place.channel);
#pragma unroll
    for (int i = 0; i < kPackWords; ++i) {
      words[i] = 0;
#pragma unroll
      for (int j = 0; j < kPerWord<T>; ++j) {
        const std::int64_t at = place.time + (offset - shift + i * kPerWord<T> + j);
        if (there && at > -p.taps && at < p.length) words[i] |= element_bits(row.at(p, at)) << (j * 16);
      }
    }
  }
  /// Those outputs of a pack that the row has.
  __device__ __forceinline__ void store_some(const Words& result, int offset) const {
#pragma unroll
    for (int i = 0; i < kCount; ++i) {
      const int at = offset + i;
      if (before + at >= 0 && at < left)
        store_element(out + at, result.values[i / kPerWord<T>], i % kPerWord<T>);
    }
  }
};

/// The outputs of a pack whose own input pack is at `own` in shared memory. before: samples before the pack
/// that are there; those before them are cleared, unless rows are aligned: their edges hold zeros.
template <class T, int Taps, RowBegins Rows>
__device__ __forceinline__ Words outputs_of(const std::uint32_t* own, int shift, int before,
                                            const float (&weights)[Taps], float bias, bool with_silu) {
  if constexpr (Rows == RowBegins::anywhere) {
    Window<T, Taps> window;
    const int offset = kEdge * 16 + (shift - (Taps - 1)) * static_cast<int>(sizeof(T));
    const auto* const edge = reinterpret_cast<const char*>(own) - kEdge * 16;
    window.template load<true>(edge + offset / 16 * 16, offset % 16);
    window.align(offset % 16);
    if (before < Taps - 1) clear_samples<T>(window.words, Taps - 1 - before);
    return window.outputs(weights, bias, with_silu);
  } else {
    // The words before the pack in pieces of one access each: 0, 1, 2, 4 or 8 of them.
    constexpr int kNeeded = ((Taps - 1) * static_cast<int>(sizeof(T)) + 3) / 4;
    constexpr int kOlder = kNeeded <= 2 ? kNeeded : (kNeeded + 3) / 4 * 4;
    constexpr int kPiece = kOlder == 0 ? 1 : kOlder < kPackWords ? kOlder : kPackWords;
    static_assert(kOlder <= kEdge * kPackWords);
    std::uint32_t words[kOlder + kPackWords];
#pragma unroll
    for (int word = 0; word < kOlder; word += kPiece) load_words<kPiece>(words + word, own - kOlder + word);
    load_16_bytes(words + kOlder, own);
    constexpr int kOlderSamples = kOlder * kPerWord<T>;
    if (Rows == RowBegins::alike && before < kOlderSamples) clear_samples<T>(words, kOlderSamples - before);
    return pack_outputs<T, Taps, kOlder + kPackWords, kOlderSamples>(words, weights, bias, with_silu);
  }
}

/// Which packs of the input are loaded whole: offsets from a thread's first one, as RowPlace counts them.
struct WholeLoads {
  int first, last;
  bool are_all;  // that the row has samples of, or takes from an initial state

  template <class T, RowBegins Rows>
  __device__ __forceinline__ WholeLoads(const DepthwiseParams& p, const RowPlace<T, Rows>& row,
                                        const MemorySpan& span) {
    constexpr int kCount = Vector<T>::kCount;
    const bool initial = p.initial_state != nullptr;
    if (Rows == RowBegins::aligned && p.length % kCount == 0) {  // no pack is the row's in part
      first = -row.before;
      last = row.left - 1;
      are_all = !(initial && row.before < 2 * kEdge * kCount);
      return;
    }
    const int begin = samples(span.begin, row), end = samples(span.end, row) - kCount;
    const int row_begin = row.shift - row.before - (initial ? 0 : kCount - 1),
              row_end = row.left + row.shift - 1;
    first = begin > row_begin ? begin : row_begin;
    last = end < row_end ? end : row_end;
    are_all = begin <= row_begin && end >= row_end && !(initial && row.before < 2 * kEdge * kCount);
    if (!row.there) last = first - 1;
  }
  __device__ __forceinline__ bool has(int offset) const { return offset >= first && offset <= last; }

 private:
  /// Samples from a thread's first pack on to an address, as far as they matter.
  template <class T, RowBegins Rows>
  static __device__ __forceinline__ int samples(const char* address, const RowPlace<T, Rows>& row) {
    constexpr std::int64_t kFar = 1 << 30;
    const std::int64_t bytes = address - reinterpret_cast<const char*>(row.in);
    return static_cast<int>(bytes < -kFar  ? -kFar
                            : bytes < kFar ? bytes
                                           : kFar) /
           static_cast<int>(sizeof(T));
  }
};

template <class T, int Taps, RowBegins Rows>
__global__ RELAYOUT_LAUNCH_BOUNDS(kDepthwiseWalkThreads, Taps <= 4 ? 10 : 8) void depthwise_time_kernel(
    DepthwiseParams p, DepthwiseGrid grid, MemorySpan span, bool whole_weights) {
  constexpr bool kAnywhere = Rows == RowBegins::anywhere;
  constexpr int kCount = Vector<T>::kCount, kBehind = kAnywhere ? 1 : 0;
  RELAYOUT_DYNAMIC_SHARED(std::uint32_t, memory);
  std::uint32_t* const shared = as_shared_address(memory);
  const RowPlace<T, Rows> row(p, grid);
  if (is_spare(row.place.batch, p.batch)) return;
  const WholeLoads whole(p, row, span);
  const int step = p.lanes * kCount;
  std::uint32_t* const first =
      shared + (grid.row() * (kEdge + p.run * p.lanes + kBehind) + kEdge + grid.lane()) * kPackWords;
  const auto slot = [&](int pack) { return first + pack * p.lanes * kPackWords; };
  // The first lanes also load the packs before the run, and the one behind it.
  constexpr int kBefore = kEdge * kCount;
  const bool has_edge = Taps > 1 && grid.lane() < kEdge, has_end = kAnywhere && grid.lane() == 0;
  std::uint32_t* const edge = first - kEdge * kPackWords;

  std::uint32_t held[kMaxTimePacks + 2][kPackWords];
  const auto start = [&](int i, const T* from, std::uint32_t* to) {
    if constexpr (kHasAsyncCopies) {
      start_async_copy<16>(to, from);
    } else {
      load_global_16_bytes(held[i], from);
    }
  };
  if (has_edge && whole.has(-kBefore)) start(kMaxTimePacks, row.in - kBefore, edge);
  const T* from = row.in;
#pragma unroll
  for (int i = 0; i < kMaxTimePacks; ++i) {
    if (i < p.run && whole.has(i * step)) start(i, from, slot(i));
    from += step;
    if (has_end && i + 1 == p.run && whole.has(p.run * step)) start(kMaxTimePacks + 1, from, slot(p.run));
    commit_async_copies();
  }
  const auto finish = [&](int i, int offset, std::uint32_t* to) {
    if (whole.has(offset)) store_16_bytes(to, held[i]);
  };
  if constexpr (!kHasAsyncCopies) {
    if (has_edge) finish(kMaxTimePacks, -kBefore, edge);
#pragma unroll
    for (int i = 0; i < kMaxTimePacks; ++i) {
      if (i < p.run) finish(i, i * step, slot(i));
    }
    if (has_end) finish(kMaxTimePacks + 1, p.run * step, slot(p.run));
  }
  // Before aligned rows there are zeros, unless there is an initial state.
  if (Rows == RowBegins::aligned && has_edge && row.before < kBefore) {
    const std::uint32_t zeros[kPackWords] = {};
    store_16_bytes(edge, zeros);
  }
  // The rest: at the ends of the input's memory, and from an initial state.
  if (row.there && !whole.are_all) {
#pragma unroll 1
    for (int i = has_edge ? -1 : 0; i < p.run + has_end; ++i) {
      const int offset = i < 0 ? -kBefore : i * step;
      if (whole.has(offset)) continue;
      std::uint32_t words[kPackWords] = {};
      if (row.has_samples(offset) || p.initial_state != nullptr) row.load_some(p, offset, words);
      store_16_bytes(i < 0 ? edge : slot(i), words);
    }
  }

  ChannelNumbers<Taps> numbers;
  float weights[Taps], bias[1];
  numbers.load(p, row.there ? row.place.channel : 0, whole_weights);
  numbers.widen(p, weights, bias);
  const auto pack_of_outputs = [&](int pack) {
    const int offset = pack * step;
    if (row.left <= offset) return;
    const int before = p.initial_state == nullptr ? row.before + offset : 2 * kBefore;
    const Words result = outputs_of<T, Taps, Rows>(slot(pack), row.shift, before, weights, bias[0], p.silu);
    if (row.has_outputs(offset)) {
      store_global_16_bytes(row.out + offset, &result, false);
    } else {
      row.store_some(result, offset);
    }
  };
  if constexpr (kHasAsyncCopies) {
    each_phase<kMaxTimePacks>([&](auto phase) {
      constexpr int kPack = decltype(phase)::value;
      if (kPack >= p.run) return false;
      // What lies behind a pack in a shifted row comes with the next one.
      constexpr int kLater = kMaxTimePacks - 1 - kPack - kBehind;
      wait_for_async_copies<(kLater > 0 ? kLater : 0)>();
      __syncthreads();
      pack_of_outputs(kPack);
      return true;
    });
  } else {
    __syncthreads();
#pragma unroll 1
    for (int pack = 0; pack < p.run; ++pack) pack_of_outputs(pack);
  }
}

RowBegins row_begins(const DepthwiseParams& p) {
  if (!has_alike_rows(p)) return RowBegins::anywhere;
  return has_aligned_output_rows(p) ? RowBegins::aligned : RowBegins::alike;
}

}  // namespace

void launch_depthwise_time(const LaunchContext& context, const DepthwiseParams& p) {
  const RowBegins begins = row_begins(p);
  visit_floats_up_to_f32(p.type, [&](auto type) {
    using T = typename decltype(type)::type;
    visit_taps(p.taps, [&](auto taps) {
      constexpr int kTaps = decltype(taps)::value, kCount = Vector<T>::kCount;
      const DepthwiseGrid grid(p, kDepthwiseWalkThreads / p.lanes, std::int64_t{p.lanes} * p.run * kCount,
                               time_slack(p));
      const NumberedBlocks shape = numbered_blocks(grid.blocks(p), kDepthwiseWalkThreads, p.shared_bytes);
      const auto start = [&](auto kernel) {
        launch("depthwise_conv1d", context, shape, kernel, p, grid, input_span(p), has_whole_weights(p));
      };
      if (begins == RowBegins::aligned) return start(depthwise_time_kernel<T, kTaps, RowBegins::aligned>);
      if (begins == RowBegins::alike) return start(depthwise_time_kernel<T, kTaps, RowBegins::alike>);
      start(depthwise_time_kernel<T, kTaps, RowBegins::anywhere>);
    });
  });
}

}  // namespace relayout::RELAYOUT_BACKEND
