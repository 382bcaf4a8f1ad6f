// What the depthwise kernels are told; see params.hpp.
#pragma once

#include <cstdint>

#include <relayout/dtype.hpp>

namespace relayout {

/// Which access both in and out allow: 16 bytes along time, 16 bytes along channels, or single elements.
enum class DepthwisePath : std::int32_t { scalar, time, channel };

/// out[b, c, t] = act(bias[c] + sum_k weights[c, k] * in[b, c, t - (taps-1-k)]).
struct DepthwiseParams {
  const void* in = nullptr;
  const void* weights = nullptr;
  const void* bias = nullptr;           // null: none
  const void* initial_state = nullptr;  // null: zeros; column s is the sample of time s - (taps-1)
  const std::int32_t* ids = nullptr;    // null: one sequence
  void* out = nullptr;
  /// null: none. depthwise: receives the last taps-1 samples. depthwise_update: the whole state, of
  /// state_length columns, whose last taps-1 are initial_state.
  void* state = nullptr;
  DType type = DType::f16;  // in, out and the states
  DType weight_type = DType::f32, bias_type = DType::f32;
  std::int64_t batch = 0, channels = 0, length = 0, taps = 1, state_length = 0;
  std::int64_t in_batch = 0, in_channel = 0, in_time = 0;
  std::int64_t out_batch = 0, out_channel = 0, out_time = 0;
  std::int64_t weight_channel = 0, weight_tap = 0, bias_channel = 0;
  std::int64_t initial_batch = 0, initial_channel = 0, initial_time = 0;
  std::int64_t state_batch = 0, state_channel = 0, state_time = 0;
  std::int64_t id_batch = 0, id_time = 0;
  bool silu = false;
  /// Of host/plan/depthwise/depthwise_plan.hpp; native code reads only `path`.
  DepthwisePath path = DepthwisePath::scalar;
  std::int32_t lanes = 1, run = 1;
  bool lanes_along_time = true;
};

}  // namespace relayout
