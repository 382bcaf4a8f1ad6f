// depthwise_update where each sequence has its own row of a table of states: by index, as a ring, after
// speculation, or with its own number of samples.
//
// One thread owns a channel, or a pack of neighbouring ones, of a sequence. It alone reads and writes their
// states and their samples, in the order of time, so that nothing is overwritten while somebody still needs
// it, and outputs may take the place of the samples. (Two sequences with one row of the table are the
// caller's race: it changes values, not addresses.) Global traffic: of the state what is read and what
// changes, each sample and output once.
#include "core/integer_math.hpp"
#include "kernels/backend_kernels.hpp"
#include "kernels/block_index.hpp"
#include "kernels/depthwise/depthwise_packs.hpp"
#include "kernels/depthwise/depthwise_update_words.hpp"
#include "launch.hpp"

namespace relayout::RELAYOUT_BACKEND {
namespace {

constexpr int kIndexedThreads = 128;

/// Where a thread's channels begin. Blocks: the state that is read may be in another row than the one that is
/// written; otherwise they are one, and take the registers of one.
template <bool Blocks, class T>
struct SequencePlace {
  DepthwiseSequence sequence;
  const T* in;  // the first sample
  T* out;
  T* state;           // that is written, of a sequence that is not null
  const T* of_block;  // that is read, with blocks

  __device__ __forceinline__ SequencePlace(const DepthwiseSequenceParams& q, std::int64_t batch,
                                           std::int64_t channel)
      : sequence(sequence_of<Blocks>(q, batch)) {
    const DepthwiseParams& p = q.conv;
    in = static_cast<const T*>(p.in) + batch * p.in_batch + channel * p.in_channel +
         sequence.begin * p.in_time;
    out =
        static_cast<T*>(p.out) + batch * p.out_batch + channel * p.out_channel + sequence.begin * p.out_time;
    state = static_cast<T*>(p.state) + (sequence.is_null() ? 0 : sequence.slot * p.state_batch) +
            channel * p.state_channel;
    if constexpr (Blocks)
      of_block = static_cast<const T*>(p.state) + (sequence.is_null() ? 0 : sequence.source * p.state_batch) +
                 channel * p.state_channel;
  }
  __device__ __forceinline__ const T* source() const {
    if constexpr (Blocks) return of_block;
    return state;
  }
};

template <bool Blocks, class T, int Taps, int Width>
__global__ __launch_bounds__(kIndexedThreads) void indexed_update_kernel(DepthwiseSequenceParams q,
                                                                         WholePacks whole,
                                                                         Divisor by_blocks) {
  using Pack = ChannelPack<T, Width>;
  constexpr int kBefore = Taps - 1;
  const DepthwiseParams& p = q.conv;
  std::uint32_t block = block_index();
  const std::int64_t batch = split(block, by_blocks);
  if (is_spare(batch, p.batch)) return;
  const std::int64_t channel = (std::int64_t{block} * kIndexedThreads + threadIdx.x) * Width;
  if (channel >= p.channels) return;
  const SequencePlace<Blocks, T> place(q, batch, channel);
  const std::int64_t length = place.sequence.length;
  T* out = place.out;
  if (place.sequence.is_null()) {
    for (std::int64_t time = 0; q.zero_null && time < length; ++time)
      Pack().store(out + time * p.out_time, p.out_channel, whole.out);
    return;
  }
  if (length <= 0) return;
  const StateMove move = state_move(q, batch, length);
  const auto column = [&](std::int64_t number) { return place.state + number * p.state_time; };
  const auto old_column = [&](std::int64_t number) { return place.source() + number * p.state_time; };
  Pack window[kBefore > 0 ? kBefore : 1];
#pragma unroll
  for (int i = 0; i < kBefore; ++i)
    window[i].load(old_column(StateMove::wrap(p, move.window + i)), p.state_channel, whole.state);
  const T* in = place.in;
  Pack next;
  next.load(in, p.in_channel, whole.in);
  PackNumbers<Taps, Width> numbers;
  numbers.load(p, channel);
  if (move.shift > 0) {
    for (std::int64_t i = 0; i + move.shift < move.window; ++i) {
      Pack older;
      older.load(old_column(i + move.shift), p.state_channel, whole.state);
      older.store(column(i), p.state_channel, whole.state);
    }
  }
#pragma unroll
  for (int i = 0; i < kBefore; ++i) {
    const std::int64_t to = move.first - kBefore + i;
    if (!move.is_ring && to >= 0) window[i].store(column(to), p.state_channel, whole.state);
  }
  numbers.widen(p);
  std::int64_t to = move.first;
#pragma unroll 1
  for (std::int64_t time = 0; time < length; ++time) {
    const Pack sample = next;
    in += p.in_time;
    if (time + 1 < length) next.load(in, p.in_channel, whole.in);
    if (to >= 0 && to < p.state_length) sample.store(column(to), p.state_channel, whole.state);
    ++to;
    if (move.is_ring) to = StateMove::wrap(p, to);
    numbers.outputs(sample, window, p.silu).store(out, p.out_channel, whole.out);
    out += p.out_time;
#pragma unroll
    for (int i = 0; i + 1 < kBefore; ++i) window[i] = window[i + 1];
    if constexpr (kBefore > 0) window[kBefore - 1] = sample;
  }
}

/// A thread takes a channel; the window stays in the state.
template <bool Blocks, class T>
__global__ __launch_bounds__(kDepthwiseThreads) void indexed_update_any_kernel(DepthwiseSequenceParams q,
                                                                               std::int64_t rows) {
  const std::int64_t row = static_cast<std::int64_t>(block_index()) * kDepthwiseThreads + threadIdx.x;
  if (row >= rows) return;
  const DepthwiseParams& p = q.conv;
  const std::int64_t batch = row / p.channels, channel = row - batch * p.channels;
  const SequencePlace<Blocks, T> place(q, batch, channel);
  const std::int64_t length = place.sequence.length;
  if (place.sequence.is_null()) {
    for (std::int64_t time = 0; q.zero_null && time < length; ++time) place.out[time * p.out_time] = T{};
    return;
  }
  if (length <= 0) return;
  StateColumns<T> state(p, place.source(), place.state, state_move(q, batch, length));
  for (std::int64_t time = 0; time < length; ++time) {
    const T sample = place.in[time * p.in_time];
    float sum = fmaf(load_weight(p, channel, 0), convert<float>(sample), 0.0f);
    for (std::int64_t distance = 1; distance < p.taps; ++distance)
      sum = fmaf(load_weight(p, channel, distance), convert<float>(state.before_next(distance)), sum);
    state.push(sample);
    place.out[time * p.out_time] = finish<T>(sum, load_bias(p, channel), p.silu);
  }
}

template <bool Blocks, class T, int Width>
void launch_packs(const LaunchContext& context, const DepthwiseSequenceParams& q) {
  const DepthwiseParams& p = q.conv;
  const std::int64_t packs = p.channels / Width, blocks = divide_up(packs, kIndexedThreads);
  const NumberedBlocks shape = numbered_blocks(p.batch * blocks, kIndexedThreads);
  visit_taps(p.taps, [&](auto taps) {
    constexpr int kTaps = decltype(taps)::value;
    launch("depthwise_update", context, shape, indexed_update_kernel<Blocks, T, kTaps, Width>, q,
           WholePacks(p, Width), make_grid_divisor(blocks));
  });
}

}  // namespace

void launch_depthwise_indexed_update(const LaunchContext& context, const DepthwiseSequenceParams& q) {
  visit_floats_up_to_f32(q.conv.type, [&](auto type) {
    using T = typename decltype(type)::type;
    if (q.kernel == DepthwiseSequenceKernel::update_unrolled) {
      if (q.width == kPerWord<T> && takes_update_words(q)) return launch_depthwise_indexed_words(context, q);
      if (q.blocks > 0) {
        if (q.width == kPerWord<T>) return launch_packs<true, T, kPerWord<T>>(context, q);
        return launch_packs<true, T, 1>(context, q);
      }
      if (q.width == vector_count<T>) return launch_packs<false, T, vector_count<T>>(context, q);
      if (q.width == kPerWord<T>) return launch_packs<false, T, kPerWord<T>>(context, q);
      return launch_packs<false, T, 1>(context, q);
    }
    const std::int64_t rows = q.conv.batch * q.conv.channels;
    const NumberedBlocks shape = one_thread_each(rows, kDepthwiseThreads);
    launch("depthwise_update", context, shape,
           q.blocks > 0 ? indexed_update_any_kernel<true, T> : indexed_update_any_kernel<false, T>, q, rows);
  });
}

}  // namespace relayout::RELAYOUT_BACKEND
