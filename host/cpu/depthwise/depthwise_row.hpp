// What the native depthwise conv1d reads and writes: weights, biases, and the rows of samples and of states,
// of one batch and channel each.
#pragma once

#include <algorithm>
#include <cstdint>

#include "core/depthwise_params.hpp"
#include "host/cpu/convert.hpp"
#include "host/cpu/parallel.hpp"
#include "host/cpu/streaming.hpp"

namespace relayout::native {

template <class T>
const T* row_of(const void* base, std::int64_t batch, std::int64_t batch_stride, std::int64_t channel,
                std::int64_t channel_stride) {
  return static_cast<const T*>(base) + batch * batch_stride + channel * channel_stride;
}

inline float number(const void* base, DType type, std::int64_t offset) {
  if (type == DType::f16) return to_float(static_cast<const f16*>(base)[offset]);
  if (type == DType::bf16) return to_float(static_cast<const bf16*>(base)[offset]);
  return static_cast<const float*>(base)[offset];
}
inline float weight(const DepthwiseParams& p, std::int64_t channel, std::int64_t distance) {
  return number(p.weights, p.weight_type,
                channel * p.weight_channel + (p.taps - 1 - distance) * p.weight_tap);
}
inline float bias(const DepthwiseParams& p, std::int64_t channel) {
  return p.bias == nullptr ? 0.0f : number(p.bias, p.bias_type, channel * p.bias_channel);
}

/// The samples of one batch and channel. Those before the first are the initial state or zeros.
template <class T>
struct Row {
  const T* in;
  const T* initial;
  T* out;

  Row(const DepthwiseParams& p, std::int64_t batch, std::int64_t channel)
      : in(row_of<T>(p.in, batch, p.in_batch, channel, p.in_channel)),
        initial(p.initial_state == nullptr
                    ? nullptr
                    : row_of<T>(p.initial_state, batch, p.initial_batch, channel, p.initial_channel)),
        out(static_cast<T*>(p.out) + batch * p.out_batch + channel * p.out_channel) {}

  T at(const DepthwiseParams& p, std::int64_t time) const {
    if (time >= 0) return in[time * p.in_time];
    return initial == nullptr || time <= -p.taps ? T{} : initial[(p.taps - 1 + time) * p.initial_time];
  }
  void widen(const DepthwiseParams& p, std::int64_t begin, std::int64_t end, float* line) const {
    std::int64_t time = begin;
    for (; time < std::min<std::int64_t>(end, 0); ++time) line[time - begin] = to_float(at(p, time));
    if (time < end) convert_strided(in + time * p.in_time, p.in_time, line + (time - begin), 1, end - time);
  }
};

/// The row of states of one batch and channel.
template <class T>
T* state_of(const DepthwiseParams& p, std::int64_t batch, std::int64_t channel) {
  return static_cast<T*>(p.state) + batch * p.state_batch + channel * p.state_channel;
}

/// Calls body(batch, channel) for every row, in threads that share the rows; `elements` is the work in all of
/// them together. body must not throw.
template <class Body>
void parallel_rows(const DepthwiseParams& p, std::int64_t elements, const Body& body) {
  parallel_ranges(p.batch * p.channels, elements, [&](std::int64_t begin, std::int64_t end) {
    for (std::int64_t row = begin; row < end; ++row) body(row / p.channels, row % p.channels);
  });
}

/// Calls body with a sample of this type, which is f16, bf16 or f32.
template <class Body>
void with_signal_type(DType type, const Body& body) {
  if (type == DType::f16) return body(f16());
  if (type == DType::bf16) return body(bf16());
  body(float());
}

template <class T>
bool is_streamed(const DepthwiseParams& p) {
  return p.batch * p.channels * p.length * static_cast<std::int64_t>(sizeof(T)) > kStreamedBytes;
}

}  // namespace relayout::native
