// depthwise where time is the fast axis of in and out: up to 8 taps, any bases and pitches.
//
// A block takes some channels (256 / p.lanes of them) and, of each, a run of time. A row is cut into packs of
// 16 bytes at the boundaries of its output in memory, so that only its first and its last pack are stored
// element by element. A pack's window, its samples and the taps-1 before them, begins anywhere: a thread
// loads the aligned 16-byte words around it (the neighbours' too, so from the L1), and shifts them into
// place. It takes p.run packs, p.lanes apart, the first ones all in flight before one is used; weights in
// registers. Global traffic: each input element once, each output element once.
#include "kernels/depthwise/depthwise_time.hpp"
#include "kernels/depthwise/depthwise_window.hpp"
#include "launch.hpp"

namespace relayout::RELAYOUT_BACKEND {
namespace {

/// A pack's window, sample by sample, from the sample `oldest` of the row on: all loads at once, of the
/// nearest sample that exists, which is cleared where it is not the right one.
template <class T, int Taps>
__device__ __forceinline__ void load_samples(const DepthwiseParams& p, const SampleRow<T>& source,
                                             std::int64_t oldest, Window<T, Taps>& window) {
#pragma unroll
  for (int i = 0; i < Window<T, Taps>::kWords; ++i) {
    window.words[i] = 0;
#pragma unroll
    for (int j = 0; j < kPerWord<T>; ++j) {
      const std::int64_t time = oldest + i * kPerWord<T> + j, last = p.length - 1;
      const std::uint32_t bits = element_bits(source.in[time < 0 ? 0 : time < last ? time : last]);
      window.words[i] |= time < 0 ? 0 : bits << (j * 16);
    }
  }
  if (p.initial_state == nullptr) return;
#pragma unroll
  for (int i = 0; i < Window<T, Taps>::kSamples; ++i) {
    const std::int64_t time = oldest + i;
    if (time > -Taps && time < 0)
      window.words[i / kPerWord<T>] |= element_bits(source.at(p, time)) << (i % kPerWord<T> * 16);
  }
}

/// A thread's packs. Times are 32-bit, from the thread's first pack on, and cut off where they cease to
/// matter.
template <class T>
struct PackRow {
  static constexpr int kCount = Vector<T>::kCount;
  DepthwisePlace place;  // time: of the first pack, which may begin before the row
  T* out;                // the first pack
  int step;              // samples from a pack to the next

  __device__ __forceinline__ PackRow(const DepthwiseParams& p, const DepthwiseGrid& grid)
      : place(place_block<true>(grid)), step(p.lanes * kCount) {
    place.channel += grid.row();
    out = static_cast<T*>(p.out) + place.batch * p.out_batch + place.channel * p.out_channel;
    place.time += grid.lane() * kCount - misaligned_elements(out);
    out += place.time;
  }
  static __device__ __forceinline__ int clamp(std::int64_t number) {
    constexpr std::int64_t kFar = 1 << 28;
    return static_cast<int>(number < -kFar ? -kFar : number < kFar ? number : kFar);
  }
  /// The outputs of a pack that exist.
  __device__ __forceinline__ void store(const Words& result, int pack, int before, int left) const {
    T* const to = out + pack * step;
    const int first = -before - pack * step, end = left - pack * step;
    if (first <= 0 && end >= kCount) return store_global_16_bytes(to, &result, false);
#pragma unroll
    for (int i = 0; i < kCount; ++i) {
      if (i >= first && i < end) store_element(to + i, result.values[i / kPerWord<T>], i % kPerWord<T>);
    }
  }
};

template <class T, int Taps>
constexpr int kTimeBlocks = Taps <= (sizeof(T) == 2 ? 5 : 6) ? 4 : 3;  // of a multiprocessor

template <class T, int Taps>
__global__ __launch_bounds__(kDepthwiseThreads,
                             (kTimeBlocks<T, Taps>)) void depthwise_time_kernel(DepthwiseParams p,
                                                                                DepthwiseGrid grid,
                                                                                MemorySpan span) {
  constexpr int kInFlight = Window<T, Taps>::kLoads <= 2 ? 3 : 2;
  const PackRow<T> row(p, grid);
  if (row.place.channel >= p.channels || row.place.time >= p.length) return;
  const SampleRow<T> source(p, row.place.batch, row.place.channel);
  const auto* const window = reinterpret_cast<const char*>(source.in + (row.place.time - (Taps - 1)));
  const int offset = static_cast<int>(reinterpret_cast<std::uintptr_t>(window) & 15);
  const char* const aligned = window - offset;
  const int step = row.step, step_bytes = step * static_cast<int>(sizeof(T));
  const int before = row.clamp(row.place.time), left = row.clamp(p.length - row.place.time);
  // Packs begin..end are loaded by words of 16 bytes: all of those lie in the input's memory, and no sample
  // comes from an initial state. The others take their samples one by one.
  const int packs = left >= p.run * step ? p.run : (left + step - 1) / step;
  const int vectors_from = row.clamp(span.begin - aligned),
            vectors_to = row.clamp(span.end - aligned) - (offset + Window<T, Taps>::kBytes + 15) / 16 * 16;
  int begin = 0, end = packs;
  while (begin < packs && (begin * step_bytes < vectors_from ||
                           (p.initial_state != nullptr && before + begin * step < Taps - 1)))
    ++begin;
  while (end > begin && (end - 1) * step_bytes > vectors_to) --end;

  ChannelNumbers<Taps> numbers;
  numbers.load(p, row.place.channel);
  Window<T, Taps> windows[kInFlight];
#pragma unroll
  for (int i = 0; i < kInFlight; ++i) {
    if (begin + i < end) windows[i].load(aligned + (begin + i) * step_bytes, offset);
  }
  float weights[Taps], bias[1];
  numbers.widen(p, weights, bias);
#pragma unroll 1
  for (int first = begin; first < end; first += kInFlight) {
#pragma unroll
    for (int i = 0; i < kInFlight; ++i) {
      const int pack = first + i;
      if (pack >= end) break;
      windows[i].align(offset);
      const int missing = Taps - 1 - (before + pack * step);
      if (missing > 0) windows[i].clear(missing);
      row.store(windows[i].outputs(weights, bias[0], p.silu), pack, before, left);
      if (pack + kInFlight < end) windows[i].load(aligned + (pack + kInFlight) * step_bytes, offset);
    }
  }
#pragma unroll 1
  for (int pack = 0; pack < packs; ++pack) {
    if (pack >= begin && pack < end) continue;
    Window<T, Taps> single;
    load_samples(p, source, row.place.time + pack * step - (Taps - 1), single);
    row.store(single.outputs(weights, bias[0], p.silu), pack, before, left);
  }
}

}  // namespace

void launch_depthwise_time(const LaunchContext& context, const DepthwiseParams& p) {
  visit_signal_type(p.type, [&](auto type) {
    using T = typename decltype(type)::type;
    visit_taps(p.taps, [&](auto taps) {
      constexpr int kTaps = decltype(taps)::value;
      // A row that does not begin on a boundary may need one pack more.
      constexpr int kCount = Vector<T>::kCount;
      const DepthwiseGrid grid(p, kDepthwiseThreads / p.lanes, std::int64_t{p.lanes} * p.run * kCount,
                               has_aligned_output_rows(p) ? 0 : kCount - 1);
      LaunchShape shape;
      shape.blocks_x = grid.blocks(p);
      shape.threads_x = kDepthwiseThreads;
      launch("depthwise_conv1d", context, shape, depthwise_time_kernel<T, kTaps>, p, grid, input_span(p));
    });
  });
}

}  // namespace relayout::RELAYOUT_BACKEND
