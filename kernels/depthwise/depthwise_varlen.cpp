// depthwise_varlen for any taps and strides, and depthwise_varlen_states.
//
// A thread takes q.run samples of one channel of all sequences together, and finds the sequences that they
// are of. It computes an output at a time; taps are read through the caches. Who reads and who replaces a
// state is in SequencePiece (core/depthwise_sequence_params.hpp).
#include "kernels/depthwise/depthwise_varlen.hpp"
#include "core/integer_math.hpp"
#include "kernels/block_index.hpp"
#include "launch.hpp"

namespace relayout::RELAYOUT_BACKEND {
namespace {

template <bool Blocks, class T>
__global__ __launch_bounds__(kDepthwiseThreads) void varlen_kernel(DepthwiseSequenceParams q,
                                                                   std::int64_t tiles) {
  const DepthwiseParams& p = q.conv;
  const std::int64_t thread = static_cast<std::int64_t>(block_index()) * kDepthwiseThreads + threadIdx.x;
  if (thread >= tiles * p.channels) return;
  const std::int64_t fast = q.lanes_along_time ? tiles : p.channels, slow = thread / fast,
                     rest = thread - slow * fast;
  const std::int64_t channel = q.lanes_along_time ? slow : rest;
  const std::int64_t begin = (q.lanes_along_time ? rest : slow) * q.run;
  const std::int64_t end = begin + q.run < p.length ? begin + q.run : p.length;
  visit_pieces<Blocks>(q, sequence_at(q, begin), begin, end,
                       [&](std::int64_t sequence, const SequencePiece& piece) {
                         store_piece<Blocks, T>(q, sequence, piece, channel);
                       });
}

/// state[b, c, s] = the sample `length - columns + s` of the sequence, 0 before its first one.
template <class T>
__global__ __launch_bounds__(kDepthwiseThreads) void varlen_states_kernel(DepthwiseSequenceParams q,
                                                                          std::int64_t elements) {
  const DepthwiseParams& p = q.conv;
  std::int64_t element = static_cast<std::int64_t>(block_index()) * kDepthwiseThreads + threadIdx.x;
  if (element >= elements) return;
  const std::int64_t fast = q.lanes_along_time ? p.state_length : p.channels,
                     slow = q.lanes_along_time ? p.channels : p.state_length;
  const std::int64_t row = element / fast, batch = row / slow;
  const std::int64_t first = element - row * fast, second = row - batch * slow;
  const std::int64_t channel = q.lanes_along_time ? second : first,
                     column = q.lanes_along_time ? first : second;
  const DepthwiseSequence sequence = sequence_of(q, batch);
  const std::int64_t time = sequence.length - p.state_length + column;
  T sample = T{};
  if (time >= 0)
    sample = static_cast<const T*>(p.in)[channel * p.in_channel + (sequence.begin + time) * p.in_time];
  static_cast<T*>(p.state)[batch * p.state_batch + channel * p.state_channel + column * p.state_time] =
      sample;
}

void launch_general(const LaunchContext& context, const DepthwiseSequenceParams& q) {
  const DepthwiseParams& p = q.conv;
  visit_floats_up_to_f32(p.type, [&](auto type) {
    using T = typename decltype(type)::type;
    if (q.kernel == DepthwiseSequenceKernel::states) {
      const std::int64_t elements = p.batch * p.channels * p.state_length;
      return launch("depthwise_varlen_states", context, one_thread_each(elements, kDepthwiseThreads),
                    varlen_states_kernel<T>, q, elements);
    }
    const std::int64_t tiles = divide_up(p.length, q.run);
    launch("depthwise_varlen", context, one_thread_each(tiles * p.channels, kDepthwiseThreads),
           q.blocks > 0 ? varlen_kernel<true, T> : varlen_kernel<false, T>, q, tiles);
  });
}

}  // namespace

void launch_depthwise_sequences(const LaunchContext& context, const DepthwiseSequenceParams& params) {
  switch (params.kernel) {
    case DepthwiseSequenceKernel::update:
    case DepthwiseSequenceKernel::update_unrolled:
      return launch_depthwise_indexed_update(context, params);
    case DepthwiseSequenceKernel::varlen_channel:
      launch_depthwise_varlen_channel(context, params);
      break;
    case DepthwiseSequenceKernel::varlen_time:
      launch_depthwise_varlen_time(context, params);
      break;
    case DepthwiseSequenceKernel::varlen:
    case DepthwiseSequenceKernel::states:
      launch_general(context, params);
      break;
    default:
      return;
  }
  if (params.blocks > 0) launch_depthwise_block_states(context, params);
}

}  // namespace relayout::RELAYOUT_BACKEND
