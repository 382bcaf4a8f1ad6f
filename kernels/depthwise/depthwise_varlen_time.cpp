// depthwise_varlen where time is the fast axis of in and out: up to 8 taps, any bases and pitches.
//
// As depthwise_time.cpp: a thread takes packs of 16 bytes of one channel, q.lanes apart, cut at the
// boundaries of its output in memory, and loads the aligned 16-byte words around a pack's samples and the
// taps-1 before them. A pack whose outputs and samples are all of one sequence is computed from these; the
// others, in which sequences begin or end, an output at a time. The words are loaded before the sequence is
// known. Who reads and who replaces a state is in SequencePiece (core/depthwise_sequence_params.hpp).
#include "kernels/block_index.hpp"
#include "kernels/depthwise/depthwise_varlen.hpp"
#include "kernels/depthwise/depthwise_window.hpp"
#include "launch.hpp"

namespace relayout::RELAYOUT_BACKEND {
namespace {

/// Packs whose words a thread loads together. It takes no more than 32 in all.
constexpr int kTogether = 2;

/// The aligned words around a pack, if all of them lie in the input's memory.
template <class T, int Taps>
struct LoadedPack {
  Window<T, Taps> window;
  int offset = 0;  // bytes of the first sample behind the first word
  bool loaded = false;

  __device__ __forceinline__ void load(const T* first, const MemorySpan& span) {
    const auto* const bytes = reinterpret_cast<const char*>(first);
    offset = static_cast<int>(reinterpret_cast<std::uintptr_t>(bytes) & 15);
    const char* const aligned = bytes - offset;
    loaded = aligned >= span.begin && span.end - aligned >= (offset + Window<T, Taps>::kBytes + 15) / 16 * 16;
    if (loaded) window.load(aligned, offset);
  }
};

template <class T, int Taps>
__global__ __launch_bounds__(kDepthwiseThreads,
                             Taps <= 4 ? 3 : 2) void varlen_time_kernel(DepthwiseSequenceParams q,
                                                                        DepthwiseGrid grid, MemorySpan span) {
  constexpr int kCount = Vector<T>::kCount;
  const DepthwiseParams& p = q.conv;
  DepthwisePlace place = place_block<true>(grid);
  if (is_spare(place.batch, 1)) return;
  place.channel += grid.row();
  if (place.channel >= p.channels) return;
  const T* const in = static_cast<const T*>(p.in) + place.channel * p.in_channel;
  T* const out = static_cast<T*>(p.out) + place.channel * p.out_channel;
  place.time += grid.lane() * kCount - misaligned_elements(out);  // may be before the first sample
  if (place.time >= p.length) return;
  const std::int64_t step = std::int64_t{q.lanes} * kCount;
  ChannelNumbers<Taps> numbers;
  numbers.load(p, place.channel);
  float weights[Taps], bias[1];
  std::int64_t sequence = -1;
  // Packs that are left for the second loop, so that the words of the first take no registers there.
  std::uint32_t left = 0;
#pragma unroll 1
  for (int first = 0; first < q.run; first += kTogether) {
    LoadedPack<T, Taps> packs[kTogether];
    const std::int64_t first_time = place.time + first * step;
#pragma unroll
    for (int i = 0; i < kTogether; ++i) {
      if (first + i < q.run && first_time + i * step < p.length)
        packs[i].load(in + (first_time + i * step - (Taps - 1)), span);
    }
    if (sequence < 0) {
      sequence = sequence_at(q, first_time < 0 ? 0 : first_time);
      numbers.widen(p, weights, bias);
    }
    const auto finish = [&](int number, LoadedPack<T, Taps>& pack) {
      const std::int64_t time = place.time + number * step, end = time + kCount;
      if (number >= q.run || time >= p.length) return;
      while (sequence < p.batch && q.starts[sequence + 1] <= time) ++sequence;
      bool whole = pack.loaded && sequence < p.batch && time >= 0 && end <= p.length;
      if (whole) {
        const SequencePiece piece = piece_of<false>(q, sequence, time, end);
        whole = !piece.owns && !piece.sequence.is_null() && piece.from == time && piece.to == end;
      }
      if (whole) {
        pack.window.align(pack.offset);
        const Words result = pack.window.outputs(weights, bias[0], p.silu);
        store_global_16_bytes(out + time, &result, false);
      } else {
        left |= 1u << number;
      }
    };
#pragma unroll
    for (int i = 0; i < kTogether; ++i) finish(first + i, packs[i]);
  }
#pragma unroll 1
  for (int pack = 0; left >> pack != 0; ++pack) {
    if ((left >> pack & 1u) == 0) continue;
    const std::int64_t time = place.time + pack * step, begin = time < 0 ? 0 : time,
                       end = time + kCount < p.length ? time + kCount : p.length;
    visit_pieces<false>(q, sequence_at(q, begin), begin, end,
                        [&](std::int64_t one, const SequencePiece& piece) {
                          store_piece<false, T>(q, one, piece, place.channel);
                        });
  }
}

}  // namespace

void launch_depthwise_varlen_time(const LaunchContext& context, const DepthwiseSequenceParams& q) {
  // All samples are one row for each channel, whatever the sequences.
  DepthwiseParams row = q.conv;
  row.batch = 1;
  row.lanes = q.lanes;
  visit_floats_up_to_f32(row.type, [&](auto type) {
    using T = typename decltype(type)::type;
    constexpr int kCount = Vector<T>::kCount;
    const DepthwiseGrid grid(row, kDepthwiseThreads / q.lanes, std::int64_t{q.lanes} * q.run * kCount,
                             has_aligned_output_rows(row) ? 0 : kCount - 1);
    const NumberedBlocks shape = numbered_blocks(grid.blocks(row), kDepthwiseThreads);
    visit_taps(row.taps, [&](auto taps) {
      constexpr int kTaps = decltype(taps)::value;
      launch("depthwise_varlen", context, shape, varlen_time_kernel<T, kTaps>, q, grid, input_span(row));
    });
  });
}

}  // namespace relayout::RELAYOUT_BACKEND
