// depthwise_varlen where channels are the fast axis of in and out: up to 8 taps, any bases and pitches.
//
// A thread owns a word of channels, 4 bytes, or one channel, and walks q.run samples of all sequences
// together, kStep at a time, the loads of a step in flight together. Weights and the last taps-1 samples stay
// in registers. Neighbouring threads take neighbouring channels, and behind the last channel the next run of
// time. Global traffic: each input element once plus taps-1 samples a run, each output element once, the
// numbers of the sequences from the caches. Who reads and who replaces a state is in SequencePiece
// (core/depthwise_sequence_params.hpp).
#include "core/integer_math.hpp"
#include "kernels/block_index.hpp"
#include "kernels/depthwise/depthwise_packs.hpp"
#include "kernels/depthwise/depthwise_varlen.hpp"
#include "launch.hpp"

namespace relayout::RELAYOUT_BACKEND {
namespace {

constexpr int kStep = kDepthwiseStep;

/// The blocks' threads lie along packs of channels first, then along runs of time.
struct VarlenGrid {
  Divisor by_packs;
  std::uint32_t runs;
};

template <class T, int Taps, int Width>
struct PackWalk {
  using Pack = ChannelPack<T, Width>;
  static constexpr int kBefore = Taps - 1, kRoom = kBefore > 0 ? kBefore : 1;

  /// Outputs of `count` > 0 samples; window[i] is the sample kBefore - i before the first.
  static __device__ __forceinline__ void run(const DepthwiseParams& p, const WholePacks& whole, const T* in,
                                             T* out, std::int64_t count, Pack (&window)[kRoom],
                                             const PackNumbers<Taps, Width>& numbers) {
#pragma unroll 1
    for (; count > 0; count -= kStep) {
      const int some = count < kStep ? static_cast<int>(count) : kStep;
      // Behind the end the last sample is loaded, which nobody uses.
      Pack next[kStep];
#pragma unroll
      for (int i = 0; i < kStep; ++i)
        next[i].load(in + (i < some ? i : some - 1) * p.in_time, p.in_channel, whole.in);
#pragma unroll
      for (int i = 0; i < kStep; ++i) {
        if (i < some)
          numbers.outputs(next[i], window, p.silu).store(out + i * p.out_time, p.out_channel, whole.out);
#pragma unroll
        for (int j = 0; j + 1 < kBefore; ++j) window[j] = window[j + 1];
        if constexpr (kBefore > 0) window[kBefore - 1] = next[i];
      }
      in += kStep * p.in_time;
      out += kStep * p.out_time;
    }
  }

  /// The last kBefore samples of a sequence, those of the old state at its front: all loads, then all stores.
  static __device__ __forceinline__ void store_state(const DepthwiseParams& p, const WholePacks& whole,
                                                     const SequenceRow<T>& row, std::int64_t length) {
    Pack last[kRoom];
#pragma unroll
    for (int i = 0; i < kBefore; ++i) {
      const std::int64_t time = length - kBefore + i;
      if (time >= 0) {
        last[i].load(row.in + time * p.in_time, p.in_channel, whole.in);
      } else if (row.initial) {
        last[i].load(row.state + (kBefore + time) * p.state_time, p.state_channel, whole.state);
      }
    }
#pragma unroll
    for (int i = 0; i < kBefore; ++i)
      last[i].store(row.state + i * p.state_time, p.state_channel, whole.state);
  }
};

template <bool Blocks, class T, int Taps, int Width>
__global__ __launch_bounds__(kDepthwiseThreads,
                             Taps* Width <= 8 ? 4 : 3) void varlen_channel_kernel(DepthwiseSequenceParams q,
                                                                                  WholePacks whole,
                                                                                  VarlenGrid grid) {
  using Walk = PackWalk<T, Taps, Width>;
  using Pack = ChannelPack<T, Width>;
  const DepthwiseParams& p = q.conv;
  std::uint32_t unit = block_index() * kDepthwiseThreads + threadIdx.x;
  const std::uint32_t run = split(unit, grid.by_packs);
  if (run >= grid.runs) return;
  const std::int64_t channel = std::int64_t{unit} * Width, begin = std::int64_t{run} * q.run;
  const std::int64_t end = begin + q.run < p.length ? begin + q.run : p.length;
  PackNumbers<Taps, Width> numbers;
  numbers.load(p, channel);
  const std::int64_t first = sequence_at(q, begin);
  numbers.widen(p);
  visit_pieces<Blocks>(q, first, begin, end, [&](std::int64_t sequence, const SequencePiece& piece) {
    const SequenceRow<T> row(q, sequence, piece.sequence, channel);
    const std::int64_t from = piece.from - piece.sequence.begin, count = piece.to - piece.from;
    T* out = row.out + from * p.out_time;
    if (piece.sequence.is_null()) {
      for (std::int64_t i = 0; q.zero_null && i < count; ++i)
        Pack().store(out + i * p.out_time, p.out_channel, whole.out);
      return;
    }
    Pack window[Walk::kRoom];
#pragma unroll
    for (int i = 0; i < Walk::kBefore; ++i) {
      if (!piece.owns) {
        window[i].load(row.in + (from - Walk::kBefore + i) * p.in_time, p.in_channel, whole.in);
      } else if (row.initial) {
        window[i].load(row.state + i * p.state_time, p.state_channel, whole.state);
      }
    }
    Walk::run(p, whole, row.in + from * p.in_time, out, count, window, numbers);
    if (piece.owns && row.state != nullptr && !Blocks)
      Walk::store_state(p, whole, row, piece.sequence.length);
  });
}

template <class T, int Width>
void launch_walk(const LaunchContext& context, const DepthwiseSequenceParams& q) {
  const DepthwiseParams& p = q.conv;
  const std::int64_t packs = p.channels / Width, runs = divide_up(p.length, q.run);
  const VarlenGrid grid{make_grid_divisor(packs), static_cast<std::uint32_t>(runs)};
  const NumberedBlocks shape = one_thread_each(packs * runs, kDepthwiseThreads);
  visit_taps(p.taps, [&](auto taps) {
    constexpr int kTaps = decltype(taps)::value;
    const auto kernel = q.blocks > 0 ? varlen_channel_kernel<true, T, kTaps, Width>
                                     : varlen_channel_kernel<false, T, kTaps, Width>;
    launch("depthwise_varlen", context, shape, kernel, q, WholePacks(p, Width), grid);
  });
}

}  // namespace

void launch_depthwise_varlen_channel(const LaunchContext& context, const DepthwiseSequenceParams& q) {
  visit_floats_up_to_f32(q.conv.type, [&](auto type) {
    using T = typename decltype(type)::type;
    if constexpr (sizeof(T) == 2) {
      if (q.width > 1) return launch_walk<T, 2>(context, q);
    }
    launch_walk<T, 1>(context, q);
  });
}

}  // namespace relayout::RELAYOUT_BACKEND
