// What the kernels of the depthwise backward pass share. All form their sums in the same order: s[t] as the
// forward pass does, and d_x[t] from d = 0 to taps-1 by
//
//     sum = fma(weights[c, taps-1-d], g[t + d], sum)
#pragma once

#include "approximate_functions.hpp"
#include "core/depthwise_backward_params.hpp"
#include "kernels/depthwise/depthwise_common.hpp"

namespace relayout::RELAYOUT_BACKEND {

/// The derivative of v / (1 + exp(-v)). As in silu(), subnormal exponentials and reciprocals count as 0.
__device__ __forceinline__ float silu_derivative(float value) {
  constexpr float kLog2E = 1.44269504f;
  const float sigmoid = approximate_reciprocal(1.0f + power_of_two(value * -kLog2E));
  return fmaf(sigmoid, fmaf(-value, sigmoid, value), sigmoid);
}

__device__ __forceinline__ void store_number(void* base, DType type, std::int64_t offset, float value) {
  if (type == DType::f16) {
    static_cast<f16*>(base)[offset] = convert<f16>(value);
  } else if (type == DType::bf16) {
    static_cast<bf16*>(base)[offset] = convert<bf16>(value);
  } else {
    static_cast<float*>(base)[offset] = value;
  }
}

/// Stores a sum over all samples: row d is the weights' of distance d, row taps the bias's.
__device__ __forceinline__ void store_gradient(const DepthwiseBackwardParams& p, std::int64_t channel,
                                               std::int64_t row, float sum) {
  if (row == p.forward.taps) {
    if (p.d_bias != nullptr) store_number(p.d_bias, p.d_bias_type, channel * p.d_bias_channel, sum);
  } else if (p.d_weights != nullptr) {
    store_number(p.d_weights, p.d_weights_type,
                 channel * p.d_weight_channel + (p.forward.taps - 1 - row) * p.d_weight_tap, sum);
  }
}

/// Calls visit(std::integral_constant<int, Taps>) with 1..kBackwardWalkTaps.
template <class Visit>
void visit_backward_walk_taps(std::int64_t taps, Visit&& visit) {
  visit_taps(taps, [&](auto constant) {
    if constexpr (decltype(constant)::value <= kBackwardWalkTaps) visit(constant);
  });
}

/// The samples and gradients of one batch and channel, element by element from global memory. Kept: g is in
/// the workspace.
template <class T, bool Kept>
struct BackwardRow {
  const DepthwiseBackwardParams& p;
  SampleRow<T> samples;
  const std::int32_t* ids;  // null: one sequence
  const T* d_out;
  std::int64_t batch, channel;

  __device__ __forceinline__ BackwardRow(const DepthwiseBackwardParams& params, std::int64_t batch_,
                                         std::int64_t channel_)
      : p(params),
        samples(params.forward, batch_, channel_),
        ids(params.forward.ids == nullptr ? nullptr : params.forward.ids + batch_ * params.forward.id_batch),
        d_out(static_cast<const T*>(params.d_out) + batch_ * params.d_out_batch +
              channel_ * params.d_out_channel),
        batch(batch_),
        channel(channel_) {}

  /// Whether a tap of the output of `time` on the sample of `source` counts. Padding, whose ids are negative,
  /// is no sequence.
  __device__ __forceinline__ bool counts(std::int64_t time, std::int64_t source) const {
    if (ids == nullptr) return true;
    const std::int32_t id = ids[time * p.forward.id_time];
    return source >= 0 && id >= 0 && ids[source * p.forward.id_time] == id;
  }
  __device__ __forceinline__ float sample(std::int64_t time, std::int64_t source) const {
    return counts(time, source) ? convert<float>(samples.at(p.forward, source)) : 0.0f;
  }
  /// g of 0 <= time < length, from what the forward pass was given.
  __device__ __forceinline__ float compute_g(std::int64_t time) const {
    const DepthwiseParams& f = p.forward;
    if (ids != nullptr && ids[time * f.id_time] < 0) return 0.0f;
    const float gradient = convert<float>(d_out[time * p.d_out_time]);
    if (!f.silu) return gradient;
    float sum = 0.0f;
#pragma unroll 1
    for (std::int64_t distance = 0; distance < f.taps; ++distance)
      sum = fmaf(load_weight(f, channel, distance), sample(time, time - distance), sum);
    return gradient * silu_derivative(sum + load_bias(f, channel));
  }
  __device__ __forceinline__ float g(std::int64_t time) const {
    if constexpr (Kept) {
      return p.g[batch * p.g_batch + channel * p.g_channel + time * p.g_time];
    } else {
      return compute_g(time);
    }
  }
  /// The gradient of the sample of -taps < time < length.
  __device__ __forceinline__ T d_sample(std::int64_t time) const {
    const DepthwiseParams& f = p.forward;
    float sum = 0.0f;
#pragma unroll 1
    for (std::int64_t distance = time < 0 ? -time : 0; distance < f.taps && time + distance < f.length;
         ++distance) {
      if (counts(time + distance, time))
        sum = fmaf(load_weight(f, channel, distance), g(time + distance), sum);
    }
    const std::int64_t column = time - f.length + f.taps - 1;
    if (p.d_final != nullptr && column >= 0) {
      sum += convert<float>(static_cast<const T*>(
          p.d_final)[batch * p.d_final_batch + channel * p.d_final_channel + column * p.d_final_time]);
    }
    return convert<T>(sum);
  }
  __device__ __forceinline__ void store_d_sample(std::int64_t time) const {
    T* const in = static_cast<T*>(p.d_in);
    T* const initial = static_cast<T*>(p.d_initial);
    if (time >= 0) {
      in[batch * p.d_in_batch + channel * p.d_in_channel + time * p.d_in_time] = d_sample(time);
    } else if (initial != nullptr) {
      initial[batch * p.d_initial_batch + channel * p.d_initial_channel +
              (time + p.forward.taps - 1) * p.d_initial_time] = d_sample(time);
    }
  }
};

}  // namespace relayout::RELAYOUT_BACKEND
