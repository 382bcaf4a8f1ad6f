// A block's weights in shared memory, in f32, of the kernels that keep them there.
#pragma once

#include "kernels/depthwise/depthwise_common.hpp"

namespace relayout::RELAYOUT_BACKEND {

/// Where a weight stands: channel * channel_pitch + distance * distance_pitch.
struct WeightPlaces {
  int channel_pitch, distance_pitch;
};

template <int kThreads, class W>
__device__ __forceinline__ void fill_weights_of(const DepthwiseParams& p, std::int64_t first_channel,
                                                int channels, const Divisor& by_taps,
                                                const WeightPlaces& places, float* shared) {
  const int taps = static_cast<int>(p.taps);
  const W* weights = static_cast<const W*>(p.weights) + first_channel * p.weight_channel;
#pragma unroll 4
  for (int number = static_cast<int>(threadIdx.x); number < channels * taps; number += kThreads) {
    std::uint32_t tap = static_cast<std::uint32_t>(number);
    const std::uint32_t channel = split(tap, by_taps);
    shared[static_cast<int>(channel) * places.channel_pitch +
           (taps - 1 - static_cast<int>(tap)) * places.distance_pitch] =
        convert<float>(weights[channel * p.weight_channel + tap * p.weight_tap]);
  }
}
/// The block's kThreads lie along taps, as the weights of a channel do in memory.
template <int kThreads = kDepthwiseThreads>
__device__ __forceinline__ void fill_weights(const DepthwiseParams& p, std::int64_t first_channel,
                                             int channels, const Divisor& by_taps, const WeightPlaces& places,
                                             float* shared) {
  if (p.weight_type == DType::f16) {
    fill_weights_of<kThreads, f16>(p, first_channel, channels, by_taps, places, shared);
  } else if (p.weight_type == DType::bf16) {
    fill_weights_of<kThreads, bf16>(p, first_channel, channels, by_taps, places, shared);
  } else {
    fill_weights_of<kThreads, float>(p, first_channel, channels, by_taps, places, shared);
  }
}

}  // namespace relayout::RELAYOUT_BACKEND
