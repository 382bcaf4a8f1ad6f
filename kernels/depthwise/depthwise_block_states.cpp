// The states that depthwise_varlen leaves in the rows of a block table: behind the last sample of each
// sequence, and at the ends of the blocks inside it.
//
// They have a launch of their own, behind that of the outputs: that one only reads states then, so that a row
// may be read as the state before a sequence and replaced as the end of one of its blocks. A thread takes one
// channel of a piece. The first pieces are the sequences: their last state, and then that at the first end of
// a block. Only these two can reach back to the state before the samples, and a thread that has both writes
// them in this order, as it is the first end's block whose row may be that state's. The other pieces are
// stretches of block_size samples of all sequences together, with the further ends in them: no more than one
// of each sequence. Global traffic: taps-1 elements read and written for each state.
#include "kernels/block_index.hpp"
#include "kernels/depthwise/depthwise_varlen.hpp"
#include "launch.hpp"

namespace relayout::RELAYOUT_BACKEND {
namespace {

template <class T>
__device__ __forceinline__ void store_end(const DepthwiseSequenceParams& q, std::int64_t number,
                                          const SequenceRow<T>& row, const BlockEnds& ends, std::int64_t end,
                                          std::int64_t channel) {
  if (end >= ends.count) return;
  const std::int64_t slot = slot_of(q, number, q.first_block[number] + end);
  row.store_state(q.conv, state_at<T>(q, slot, channel), ends.end(q, end));
}

template <class T>
__global__ __launch_bounds__(kDepthwiseThreads) void block_states_kernel(DepthwiseSequenceParams q,
                                                                         std::int64_t threads) {
  const DepthwiseParams& p = q.conv;
  const std::int64_t thread = static_cast<std::int64_t>(block_index()) * kDepthwiseThreads + threadIdx.x;
  if (thread >= threads) return;
  const std::int64_t piece = thread / p.channels, channel = thread - piece * p.channels;
  if (piece < p.batch) {
    const DepthwiseSequence sequence = sequence_of(q, piece);
    if (sequence.is_null() || sequence.length == 0) return;
    const SequenceRow<T> row(q, piece, sequence, channel);
    row.store_state(p, state_at<T>(q, sequence.slot, channel), sequence.length);
    store_end(q, piece, row, BlockEnds(q, piece, sequence.length), 0, channel);
    return;
  }
  const std::int64_t begin = (piece - p.batch) * q.block_size, behind = begin + q.block_size;
  for (std::int64_t number = sequence_at(q, begin); number < p.batch; ++number) {
    const DepthwiseSequence sequence = sequence_of(q, number);
    if (sequence.begin >= behind) break;
    const BlockEnds ends(q, number, sequence.length);
    const std::int64_t samples = behind - 1 - sequence.begin;  // up to the last time of the stretch
    if (sequence.is_null() || samples < ends.end(q, 1)) continue;
    const SequenceRow<T> row(q, number, sequence, channel);
    store_end(q, number, row, ends, (samples - ends.first) / q.block_size, channel);
  }
}

}  // namespace

void launch_depthwise_block_states(const LaunchContext& context, const DepthwiseSequenceParams& q) {
  const DepthwiseParams& p = q.conv;
  const std::int64_t stretches = q.block_size > 0 ? (p.length - 1) / q.block_size + 1 : 0;
  const std::int64_t threads = (p.batch + stretches) * p.channels;
  const NumberedBlocks shape = one_thread_each(threads, kDepthwiseThreads);
  visit_floats_up_to_f32(p.type, [&](auto type) {
    using T = typename decltype(type)::type;
    launch("depthwise_varlen", context, shape, block_states_kernel<T>, q, threads);
  });
}

}  // namespace relayout::RELAYOUT_BACKEND
