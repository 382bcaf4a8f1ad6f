// What the kernels of depthwise_varlen share: how a tile of time finds its sequences, and a sequence of one
// channel, sample by sample.
#pragma once

#include "core/depthwise_sequence_params.hpp"
#include "kernels/backend_kernels.hpp"
#include "kernels/depthwise/depthwise_common.hpp"

namespace relayout::RELAYOUT_BACKEND {

/// Calls visit(piece) with what falls to the tile of its sequences, from `sequence` on, and returns the last
/// sequence that reaches into it, where the next tile may go on.
template <bool Blocks, class Visit>
__device__ __forceinline__ std::int64_t visit_pieces(const DepthwiseSequenceParams& q, std::int64_t sequence,
                                                     std::int64_t begin, std::int64_t end, Visit&& visit) {
  for (; sequence < q.conv.batch; ++sequence) {
    const SequencePiece piece = piece_of<Blocks>(q, sequence, begin, end);
    if (piece.sequence.begin >= end) break;
    if (piece.from < piece.to) visit(sequence, piece);
    if (piece.sequence.begin + piece.sequence.length >= end) break;
  }
  return sequence;
}

/// A channel of a row of the table; null where there is none.
template <class T>
__device__ __forceinline__ T* state_at(const DepthwiseSequenceParams& q, std::int64_t slot,
                                       std::int64_t channel) {
  if (q.conv.state == nullptr || slot < 0) return nullptr;
  return static_cast<T*>(q.conv.state) + slot * q.conv.state_batch + channel * q.conv.state_channel;
}

__device__ __forceinline__ bool starts_from_state(const DepthwiseSequenceParams& q, std::int64_t sequence) {
  return q.has_initial.is_given() && q.has_initial[sequence] != 0;
}

/// One channel of one sequence: times count from its first sample.
template <class T>
struct SequenceRow {
  const T* in;
  T* out;
  T* state;      // that is read; null: none
  bool initial;  // the state comes before the samples

  __device__ __forceinline__ SequenceRow(const DepthwiseSequenceParams& q, std::int64_t number,
                                         const DepthwiseSequence& sequence, std::int64_t channel)
      : in(static_cast<const T*>(q.conv.in) + channel * q.conv.in_channel + sequence.begin * q.conv.in_time),
        out(static_cast<T*>(q.conv.out) + channel * q.conv.out_channel + sequence.begin * q.conv.out_time),
        state(state_at<T>(q, sequence.source, channel)),
        initial(state != nullptr && starts_from_state(q, number)) {}

  /// time > -taps
  __device__ __forceinline__ T at(const DepthwiseParams& p, std::int64_t time) const {
    if (time >= 0) return in[time * p.in_time];
    return initial ? state[(p.taps - 1 + time) * p.state_time] : T{};
  }
  __device__ __forceinline__ void store_output(const DepthwiseParams& p, std::int64_t channel,
                                               std::int64_t time) const {
    float sum = 0.0f;
#pragma unroll 1
    for (std::int64_t distance = 0; distance < p.taps; ++distance)
      sum = fmaf(load_weight(p, channel, distance), convert<float>(at(p, time - distance)), sum);
    out[time * p.out_time] = finish<T>(sum, load_bias(p, channel), p.silu);
  }
  /// The last taps-1 of `length` > 0 samples, of which those of the state that is read, which `to` may be,
  /// move to the front.
  __device__ __forceinline__ void store_state(const DepthwiseParams& p, T* to, std::int64_t length) const {
    if (to == nullptr) return;
    for (std::int64_t column = 0; column < p.taps - 1; ++column)
      to[column * p.state_time] = at(p, length - (p.taps - 1) + column);
  }
};

/// A piece of one channel, an output at a time.
template <bool Blocks, class T>
__device__ __forceinline__ void store_piece(const DepthwiseSequenceParams& q, std::int64_t sequence,
                                            const SequencePiece& piece, std::int64_t channel) {
  const DepthwiseParams& p = q.conv;
  const SequenceRow<T> row(q, sequence, piece.sequence, channel);
  const std::int64_t begin = piece.sequence.begin;
#pragma unroll 1
  for (std::int64_t time = piece.from - begin; time < piece.to - begin; ++time) {
    if (!piece.sequence.is_null()) {
      row.store_output(p, channel, time);
    } else if (q.zero_null) {
      row.out[time * p.out_time] = T{};
    }
  }
  if (piece.owns && !Blocks) row.store_state(p, row.state, piece.sequence.length);
}

}  // namespace relayout::RELAYOUT_BACKEND
