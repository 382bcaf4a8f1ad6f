// Depthwise operations on sequences, on the processor. Sums are those of depthwise_sums.hpp, so that the bits
// are those of a convolution.
#include <algorithm>

#include "core/depthwise_sequence_params.hpp"
#include "host/cpu/convert.hpp"
#include "host/cpu/depthwise/depthwise_row.hpp"
#include "host/cpu/depthwise/depthwise_sums.hpp"
#include "host/cpu/native_table.hpp"
#include "host/cpu/parallel.hpp"

namespace relayout::native {
namespace {

/// The output after `sample`, before which the state's samples were.
template <class T>
T output_after(const DepthwiseParams& p, const StateColumns<T>& state, T sample, std::int64_t channel) {
  const DepthwiseSums& add = depthwise_sums();
  const float of_channel = bias(p, channel);
  float sum = 0.0f;
  for (std::int64_t d = 0; d < p.taps; d += kTapsAtOnce) {
    const int part = static_cast<int>(std::min<std::int64_t>(kTapsAtOnce, p.taps - d));
    float samples[kTapsAtOnce], weights[kTapsAtOnce];
    for (int i = 0; i < part; ++i) {
      samples[part - 1 - i] = to_float(d + i == 0 ? sample : state.before_next(d + i));
      weights[i] = weight(p, channel, d + i);
    }
    add.along_time(&sum, samples + (part - 1), weights, part, of_channel, {d == 0, d + part == p.taps}, 1);
  }
  if (p.silu) add.silu(&sum, 1);
  return convert<T>(sum);
}

/// A channel of a sequence by itself: nobody else reads or writes its state and samples.
template <class T>
void update_channel(const DepthwiseSequenceParams& q, std::int64_t batch, std::int64_t channel) {
  const DepthwiseParams& p = q.conv;
  const DepthwiseSequence sequence = sequence_of(q, batch);
  const T* in = row_of<T>(p.in, batch, p.in_batch, channel, p.in_channel) + sequence.begin * p.in_time;
  T* out =
      static_cast<T*>(p.out) + batch * p.out_batch + channel * p.out_channel + sequence.begin * p.out_time;
  if (sequence.is_null()) {
    for (std::int64_t time = 0; q.zero_null && time < sequence.length; ++time) out[time * p.out_time] = T{};
    return;
  }
  if (sequence.length <= 0) return;
  T* const table = static_cast<T*>(p.state) + channel * p.state_channel;
  StateColumns<T> state(p, table + sequence.source * p.state_batch, table + sequence.slot * p.state_batch,
                        state_move(q, batch, sequence.length));
  for (std::int64_t time = 0; time < sequence.length; ++time) {
    const T sample = in[time * p.in_time];
    const T result = output_after(p, state, sample, channel);
    state.push(sample);
    out[time * p.out_time] = result;
  }
}

template <class T>
void update_sequences(const DepthwiseSequenceParams& q) {
  const DepthwiseParams& p = q.conv;
  const std::int64_t samples = q.starts.is_given() ? p.length : p.batch * p.length;
  parallel_rows(p, p.channels * samples * std::min(p.taps, kSerialElements),
                [&](std::int64_t batch, std::int64_t channel) { update_channel<T>(q, batch, channel); });
}

/// A sequence as a convolution of its own, and then its last samples. Its columns move to the front one by
/// one, so that none is overwritten before it is read.
template <class T>
void convolve_sequence(const LaunchContext& context, const DepthwiseSequenceParams& q,
                       std::int64_t sequence) {
  const DepthwiseSequence found = sequence_of(q, sequence);
  if (found.length == 0) return;
  DepthwiseParams p = q.conv;
  p.batch = 1;
  p.length = found.length;
  p.in = static_cast<const T*>(p.in) + found.begin * p.in_time;
  p.out = static_cast<T*>(p.out) + found.begin * p.out_time;
  if (found.is_null()) {
    for (std::int64_t c = 0; q.zero_null && c < p.channels; ++c)
      for (std::int64_t time = 0; time < p.length; ++time)
        static_cast<T*>(p.out)[c * p.out_channel + time * p.out_time] = T{};
    return;
  }
  T* const table = static_cast<T*>(p.state);
  p.state = nullptr;
  if (table != nullptr && q.has_initial.is_given() && q.has_initial[sequence] != 0) {
    p.initial_state = table + found.source * p.state_batch;
    p.initial_channel = p.state_channel;
    p.initial_time = p.state_time;
  }
  depthwise(context, p);
  if (table == nullptr) return;
  const auto store = [&](std::int64_t slot, std::int64_t length) {
    for (std::int64_t c = 0; slot >= 0 && c < p.channels; ++c) {
      const Row<T> row(p, 0, c);
      T* state = table + slot * p.state_batch + c * p.state_channel;
      for (std::int64_t column = 0; column < p.taps - 1; ++column)
        state[column * p.state_time] = row.at(p, length - (p.taps - 1) + column);
    }
  };
  // From the last to the first: the first end of a block alone may need the state that was read.
  store(found.slot, p.length);
  const BlockEnds ends(q, sequence, p.length);
  for (std::int64_t i = ends.count - 1; i >= 0; --i)
    store(slot_of(q, sequence, q.first_block[sequence] + i), ends.end(q, i));
}

/// Many sequences are shared among the threads, few are each done by all of them.
template <class T>
void convolve_sequences(const LaunchContext& context, const DepthwiseSequenceParams& q) {
  const std::int64_t elements = q.conv.channels * q.conv.length;
  const auto some = [&](std::int64_t begin, std::int64_t end) {
    for (std::int64_t b = begin; b < end; ++b) convolve_sequence<T>(context, q, b);
  };
  if (q.conv.batch < 2 * threads_for(q.conv.batch, elements)) return some(0, q.conv.batch);
  parallel_ranges(q.conv.batch, elements, some);
}

template <class T>
void store_last_samples(const DepthwiseSequenceParams& q) {
  const DepthwiseParams& p = q.conv;
  parallel_rows(p, p.batch * p.channels * p.state_length, [&](std::int64_t batch, std::int64_t channel) {
    const DepthwiseSequence sequence = sequence_of(q, batch);
    const T* in = row_of<T>(p.in, sequence.begin, p.in_time, channel, p.in_channel);
    T* state = state_of<T>(p, batch, channel);
    for (std::int64_t column = 0; column < p.state_length; ++column) {
      const std::int64_t time = sequence.length - p.state_length + column;
      state[column * p.state_time] = time >= 0 ? in[time * p.in_time] : T{};
    }
  });
}

}  // namespace

void depthwise_sequences(const LaunchContext& context, const DepthwiseSequenceParams& params) {
  with_signal_type(params.conv.type, [&](auto element) {
    using T = decltype(element);
    switch (params.task) {
      case DepthwiseSequenceTask::update:
        return update_sequences<T>(params);
      case DepthwiseSequenceTask::varlen:
        return convolve_sequences<T>(context, params);
      case DepthwiseSequenceTask::states:
        return store_last_samples<T>(params);
    }
  });
}

}  // namespace relayout::native
