// What the depthwise kernels share. Kernels without matrix units add from the newest sample to the oldest, as
// sum_over_taps() does, and so give the same bits:
//   sum = 0; for d in 0 .. taps-1: sum = fma(weights[c, taps-1-d], x[t - d], sum); out = round(act(sum +
//   bias))
//
// Where RELAYOUT_LAUNCH_BOUNDS has a second argument it asks for registers instead of occupancy: so few
// blocks a multiprocessor leave 128 or 255 a thread.
#pragma once

#include <math.h>

#include <type_traits>

#include "core/depthwise_params.hpp"
#include "core/integer_math.hpp"
#include "half.hpp"
#include "kernel_language.hpp"
#include "kernels/block_index.hpp"
#include "kernels/divide.hpp"
#include "kernels/element_ops.hpp"
#include "kernels/words.hpp"
#include "launch.hpp"

namespace relayout::RELAYOUT_BACKEND {

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

/// Numbers of any type in two halves: the loads, which run beside those that follow, and what has to wait for
/// them.
template <int Count>
struct RawNumbers {
  std::uint32_t bits[Count] = {};

  /// The first `count` numbers, zeros behind them.
  __device__ __forceinline__ void load(const void* base, DType type, std::int64_t first, std::int64_t stride,
                                       int count = Count) {
    if (type == DType::f32) {
      const auto* numbers = static_cast<const std::uint32_t*>(base) + first;
#pragma unroll
      for (int i = 0; i < Count; ++i) bits[i] = i < count ? numbers[i * stride] : 0;
    } else {
      const auto* numbers = static_cast<const std::uint16_t*>(base) + first;
#pragma unroll
      for (int i = 0; i < Count; ++i) bits[i] = i < count ? numbers[i * stride] : 0;
    }
  }
  /// 2 or 4 numbers that lie side by side on a boundary of all their bytes, by one access. They are taken
  /// apart by widen_whole(), so that no load waits for this one.
  __device__ __forceinline__ void load_whole(const void* base, DType type, std::int64_t first) {
    if constexpr (Count == 2 || Count == 4) {
      if (type == DType::f32) {
        load_words<Count>(bits, static_cast<const std::uint32_t*>(base) + first);
      } else {
        load_words<Count / 2>(bits, static_cast<const std::uint16_t*>(base) + first);
      }
    }
  }
  __device__ __forceinline__ void widen(DType type, float (&numbers)[Count]) const {
    if (type == DType::f16) {
#pragma unroll
      for (int i = 0; i < Count; ++i) numbers[i] = half_to_float({static_cast<std::uint16_t>(bits[i])});
    } else {
      const int shift = type == DType::bf16 ? 16 : 0;
#pragma unroll
      for (int i = 0; i < Count; ++i) numbers[i] = __uint_as_float(bits[i] << shift);
    }
  }
  template <class W>
  __device__ __forceinline__ void widen_words_of(float (&numbers)[Count]) const {
#pragma unroll
    for (int i = 0; i + 1 < Count; i += 2) {
      float halves[2];
      widen_word<W>(bits[i / 2], halves);
      numbers[Count - 1 - i] = halves[0];
      numbers[Count - 2 - i] = halves[1];
    }
  }
  /// The last number first.
  __device__ __forceinline__ void widen_whole(DType type, float (&numbers)[Count]) const {
    if (type == DType::f32) {
#pragma unroll
      for (int i = 0; i < Count; ++i) numbers[Count - 1 - i] = __uint_as_float(bits[i]);
    } else if (type == DType::f16) {
      widen_words_of<f16>(numbers);
    } else {
      widen_words_of<bf16>(numbers);
    }
  }
};

/// Whether one access moves the weights of a channel: 2 or 4 that lie side by side.
inline bool has_whole_weights(const DepthwiseParams& p) {
  return (p.taps == 2 || p.taps == 4) && p.weight_tap == 1 && p.weight_channel == p.taps &&
         reinterpret_cast<std::uintptr_t>(p.weights) %
                 (static_cast<std::uintptr_t>(p.taps) * size_of(p.weight_type)) ==
             0;
}

/// The weights of one channel by distance, and its bias.
template <int Taps>
struct ChannelNumbers {
  RawNumbers<Taps> raw_weights;
  RawNumbers<1> raw_bias;
  bool is_whole = false;  // the weights came by one access

  /// whole_weights: has_whole_weights().
  __device__ __forceinline__ void load(const DepthwiseParams& p, std::int64_t channel,
                                       bool whole_weights = false) {
    is_whole = (Taps == 2 || Taps == 4) && whole_weights;
    if (is_whole) {
      raw_weights.load_whole(p.weights, p.weight_type, channel * Taps);
    } else {
      raw_weights.load(p.weights, p.weight_type, channel * p.weight_channel + (Taps - 1) * p.weight_tap,
                       -p.weight_tap);
    }
    raw_bias.bits[0] = 0;
    if (p.bias != nullptr) raw_bias.load(p.bias, p.bias_type, channel * p.bias_channel, 0);
  }
  __device__ __forceinline__ void widen(const DepthwiseParams& p, float (&weights)[Taps],
                                        float (&bias)[1]) const {
    if (is_whole) {
      raw_weights.widen_whole(p.weight_type, weights);
    } else {
      raw_weights.widen(p.weight_type, weights);
    }
    raw_bias.widen(p.bias_type, bias);
  }
};

/// Calls visit(std::integral_constant<int, Phase>) for Phase = 0 .. Phases - 1, until it returns false;
/// returns whether it never did. Phases of a ring of registers are part of a type: a compiler that did not
/// unroll a loop over them would keep the ring in memory.
template <int Phases, int Phase = 0, class Visit>
__device__ __forceinline__ bool each_phase(Visit&& visit) {
  if constexpr (Phase < Phases) {
    return visit(std::integral_constant<int, Phase>{}) && each_phase<Phases, Phase + 1>(visit);
  } else {
    return true;
  }
}

/// sample(distance): the one so many samples before the newest.
template <int Taps, class Sample>
__device__ __forceinline__ float sum_over_taps(const float (&weights)[Taps], const Sample& sample) {
  float sum = 0.0f;
#pragma unroll
  for (int distance = 0; distance < Taps; ++distance) sum = fmaf(weights[distance], sample(distance), sum);
  return sum;
}

template <class T>
__device__ __forceinline__ T finish(float sum, float bias, bool with_silu) {
  const float value = sum + bias;
  return convert<T>(with_silu ? silu(value) : value);
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

/// One output by itself: what vectors cannot reach. Ids: there may be sequence ids. Unroll: taps at a time;
/// inside a kernel of vectors 1, since more would take registers from them.
template <class T, bool Ids, int Unroll>
__device__ __forceinline__ T depthwise_output(const DepthwiseParams& p, std::int64_t batch,
                                              std::int64_t channel, std::int64_t time) {
  const SampleRow<T> row(p, batch, channel);
  const std::int32_t* ids = !Ids || p.ids == nullptr ? nullptr : p.ids + batch * p.id_batch;
  const std::int32_t id = ids == nullptr ? 0 : ids[time * p.id_time];
  if (id < 0) return T{};
  float sum = 0.0f;
#pragma unroll Unroll
  for (std::int64_t distance = 0; distance < p.taps; ++distance) {
    const std::int64_t source = time - distance;
    const bool counts = ids == nullptr || (source >= 0 && ids[source * p.id_time] == id);
    const float sample = counts ? convert<float>(row.at(p, source)) : 0.0f;
    sum = fmaf(load_weight(p, channel, distance), sample, sum);
  }
  return finish<T>(sum, load_bias(p, channel), p.silu);
}

template <class T, bool Ids = false, int Unroll = 2>
__device__ __forceinline__ void store_output(const DepthwiseParams& p, std::int64_t batch,
                                             std::int64_t channel, std::int64_t time) {
  static_cast<T*>(p.out)[batch * p.out_batch + channel * p.out_channel + time * p.out_time] =
      depthwise_output<T, Ids, Unroll>(p, batch, channel, time);
}

/// The grid of a kernel whose blocks take tile_channels x tile_times of one batch. Its counts fit 32 bits
/// whenever the grid does; where they do not, the launch fails.
struct DepthwiseGrid {
  std::int64_t tile_channels, tile_times, channel_tiles, time_tiles;
  Divisor by_channel_tiles, by_time_tiles;
  int lanes_mask, lanes_shift = 0;  // a thread's number & mask is its lane, >> shift its row of lanes

  /// `slack`: samples by which a row's first tile may begin before it.
  DepthwiseGrid(const DepthwiseParams& p, std::int64_t channels, std::int64_t times, std::int64_t slack = 0)
      : tile_channels(channels),
        tile_times(times),
        channel_tiles(divide_up(p.channels, channels)),
        time_tiles(divide_up(p.length + slack, times)),
        by_channel_tiles(make_divisor(static_cast<std::uint32_t>(channel_tiles))),
        by_time_tiles(make_divisor(static_cast<std::uint32_t>(time_tiles))),
        lanes_mask(p.lanes - 1) {
    while (1 << lanes_shift < p.lanes) ++lanes_shift;
  }
  __device__ __forceinline__ int lane() const { return static_cast<int>(threadIdx.x) & lanes_mask; }
  __device__ __forceinline__ int row() const { return static_cast<int>(threadIdx.x) >> lanes_shift; }
  std::int64_t blocks(const DepthwiseParams& p) const { return p.batch * channel_tiles * time_tiles; }
};

struct DepthwisePlace {
  std::int64_t batch, channel, time;  // the first ones of the block's tile
};

/// TimeFirst: neighbouring blocks take neighbouring times, else neighbouring channels.
template <bool TimeFirst>
__device__ __forceinline__ DepthwisePlace place_block(const DepthwiseGrid& grid) {
  std::uint32_t first = block_index();
  std::uint32_t second = split(first, TimeFirst ? grid.by_time_tiles : grid.by_channel_tiles);
  const std::uint32_t batch = split(second, TimeFirst ? grid.by_channel_tiles : grid.by_time_tiles);
  return {batch, (TimeFirst ? second : first) * grid.tile_channels,
          (TimeFirst ? first : second) * grid.tile_times};
}

/// Calls visit(std::integral_constant<int, Taps>) within a kernel, for `taps` of First..Last: for kernels
/// whose other code, which does not depend on the taps, is most of it.
template <int First, int Last, class Visit>
__device__ __forceinline__ void visit_taps_in_kernel(int taps, Visit&& visit) {
  if constexpr (First < Last) {
    if (taps != First) return visit_taps_in_kernel<First + 1, Last>(taps, visit);
  }
  visit(std::integral_constant<int, First>{});
}

/// Calls visit(std::integral_constant<int, Taps>) with 1..8: of the kernels that unroll the taps.
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
    case kUnrolledTaps:
      return visit(std::integral_constant<int, 8>{});
    default:
      throw Error(ErrorCode::unsupported,
                  "depthwise_conv1d: a kernel that unrolls its taps was asked for " + std::to_string(taps));
  }
}

}  // namespace relayout::RELAYOUT_BACKEND
