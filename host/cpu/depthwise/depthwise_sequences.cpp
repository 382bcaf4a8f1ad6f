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
  StateColumns<T> state(p,
                        static_cast<T*>(p.state) + sequence.slot * p.state_batch + channel * p.state_channel,
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
  parallel_ranges(p.batch * p.channels, p.channels * samples * std::min(p.taps, kSerialElements),
                  [&](std::int64_t begin, std::int64_t end) {
                    for (std::int64_t item = begin; item < end; ++item)
                      update_channel<T>(q, item / p.channels, item % p.channels);
                  });
}

}  // namespace

void depthwise_sequences(const LaunchContext& /*context*/, const DepthwiseSequenceParams& params) {
  const auto run = [&](auto element) { update_sequences<decltype(element)>(params); };
  if (params.conv.type == DType::f16) return run(f16());
  if (params.conv.type == DType::bf16) return run(bf16());
  run(float());
}

}  // namespace relayout::native
