// What the depthwise kernels share. Every one of them forms a sum in the same way, from the newest sample to
// the oldest, so that all give the same bits:
//   sum = 0; for d in 0 .. taps-1: sum = fma(weights[c, taps-1-d], x[t - d], sum); out = round(act(sum +
//   bias))
#pragma once

#include <math.h>

#include "half.hpp"
#include "kernel_language.hpp"
#include "kernels/depthwise_params.hpp"
#include "kernels/element_ops.hpp"

namespace relayout::RELAYOUT_BACKEND {

/// Where __launch_bounds__ has a second argument it asks for registers instead of occupancy: at least so few
/// blocks a multiprocessor, or waves a SIMD, and whatever a compiler makes of it, 128 registers a thread.
constexpr int kDepthwiseThreads = 256;

/// Weights and biases, whatever their type: few are read, so a branch does no harm.
__device__ __forceinline__ float load_number(const void* base, DType type, std::int64_t offset) {
  if (type == DType::f16) return half_to_float(static_cast<const f16*>(base)[offset]);
  if (type == DType::bf16) return bfloat_to_float(static_cast<const bf16*>(base)[offset]);
  return static_cast<const float*>(base)[offset];
}

__device__ __forceinline__ float load_bias(const DepthwiseParams& p, std::int64_t channel) {
  return p.bias == nullptr ? 0.0f : load_number(p.bias, p.bias_type, channel * p.bias_channel);
}

/// The weight that meets the sample `distance` before the newest.
__device__ __forceinline__ float load_weight(const DepthwiseParams& p, std::int64_t channel,
                                             std::int64_t distance) {
  return load_number(p.weights, p.weight_type,
                     channel * p.weight_channel + (p.taps - 1 - distance) * p.weight_tap);
}

template <class T>
__device__ __forceinline__ T finish(float sum, float bias, bool silu) {
  const float value = sum + bias;
  return convert<T>(silu ? __fdividef(value, 1.0f + __expf(-value)) : value);
}

/// Where the samples of one batch and channel lie.
template <class T>
struct SampleRow {
  const T* in;
  const T* initial;  // null: zeros

  __device__ __forceinline__ SampleRow(const DepthwiseParams& p, std::int64_t batch, std::int64_t channel)
      : in(static_cast<const T*>(p.in) + batch * p.in_batch + channel * p.in_channel),
        initial(p.initial_state == nullptr ? nullptr
                                           : static_cast<const T*>(p.initial_state) +
                                                 batch * p.initial_batch + channel * p.initial_channel) {}

  /// time > -taps; before the first sample the initial state, or zeros.
  __device__ __forceinline__ T at(const DepthwiseParams& p, std::int64_t time) const {
    if (time >= 0) return in[time * p.in_time];
    return initial == nullptr ? T{} : initial[(p.taps - 1 + time) * p.initial_time];
  }
};

/// One output by itself: what vectors cannot reach. Ids: there may be sequence ids.
template <class T, bool Ids>
__device__ __forceinline__ T depthwise_output(const DepthwiseParams& p, std::int64_t batch,
                                              std::int64_t channel, std::int64_t time) {
  const SampleRow<T> row(p, batch, channel);
  const std::int32_t* ids = !Ids || p.ids == nullptr ? nullptr : p.ids + batch * p.id_batch;
  const std::int32_t id = ids == nullptr ? 0 : ids[time * p.id_time];
  if (id < 0) return T{};
  float sum = 0.0f;
#pragma unroll 2
  for (std::int64_t distance = 0; distance < p.taps; ++distance) {
    const std::int64_t source = time - distance;
    const bool counts = ids == nullptr || (source >= 0 && ids[source * p.id_time] == id);
    const float sample = counts ? convert<float>(row.at(p, source)) : 0.0f;
    sum = fmaf(load_weight(p, channel, distance), sample, sum);
  }
  return finish<T>(sum, load_bias(p, channel), p.silu);
}

template <class T, bool Ids = false>
__device__ __forceinline__ void store_output(const DepthwiseParams& p, std::int64_t batch,
                                             std::int64_t channel, std::int64_t time) {
  static_cast<T*>(p.out)[batch * p.out_batch + channel * p.out_channel + time * p.out_time] =
      depthwise_output<T, Ids>(p, batch, channel, time);
}

/// The grid of a kernel whose blocks take tile_channels x tile_times of one batch. The counts fit 32 bits
/// whenever the grid does.
struct DepthwiseGrid {
  std::int64_t tile_channels, tile_times;
  unsigned channel_tiles, time_tiles;

  DepthwiseGrid(const DepthwiseParams& p, std::int64_t channels, std::int64_t times)
      : tile_channels(channels),
        tile_times(times),
        channel_tiles(static_cast<unsigned>((p.channels + channels - 1) / channels)),
        time_tiles(static_cast<unsigned>((p.length + times - 1) / times)) {}
  std::int64_t blocks(const DepthwiseParams& p) const {
    return p.batch * ((p.channels + tile_channels - 1) / tile_channels) *
           ((p.length + tile_times - 1) / tile_times);
  }
};

struct DepthwisePlace {
  std::int64_t batch, channel, time;  // the first ones of the block's tile
};

/// TimeFirst: neighbouring blocks take neighbouring times, else neighbouring channels.
template <bool TimeFirst>
__device__ __forceinline__ DepthwisePlace place_block(const DepthwiseGrid& grid) {
  const unsigned first_count = TimeFirst ? grid.time_tiles : grid.channel_tiles;
  const unsigned second_count = TimeFirst ? grid.channel_tiles : grid.time_tiles;
  const unsigned rest = blockIdx.x / first_count, first = blockIdx.x - rest * first_count;
  const unsigned batch = rest / second_count, second = rest - batch * second_count;
  return {batch, (TimeFirst ? second : first) * grid.tile_channels,
          (TimeFirst ? first : second) * grid.tile_times};
}

/// Calls visit(TypeTag<T>) for the element type of in, out and the states.
template <class Visit>
void visit_signal_type(DType type, Visit&& visit) {
  if (type == DType::f16) return visit(TypeTag<f16>{});
  if (type == DType::bf16) return visit(TypeTag<bf16>{});
  return visit(TypeTag<float>{});
}

/// Calls visit(std::integral_constant<int, Taps>) with 1..8, or 0 for any other number.
template <class Visit>
void visit_taps(std::int64_t taps, Visit&& visit) {
  switch (taps) {
    case 1:
      return visit(std::integral_constant<int, 1>{});
    case 2:
      return visit(std::integral_constant<int, 2>{});
    case 3:
      return visit(std::integral_constant<int, 3>{});
    case 4:
      return visit(std::integral_constant<int, 4>{});
    case 5:
      return visit(std::integral_constant<int, 5>{});
    case 6:
      return visit(std::integral_constant<int, 6>{});
    case 7:
      return visit(std::integral_constant<int, 7>{});
    case 8:
      return visit(std::integral_constant<int, 8>{});
    default:
      return visit(std::integral_constant<int, 0>{});
  }
}

}  // namespace relayout::RELAYOUT_BACKEND
