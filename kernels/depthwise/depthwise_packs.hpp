// Neighbouring channels of one time, which a thread of the kernels for sequences owns.
#pragma once

#include <cstdint>

#include "core/bytes.hpp"
#include "core/depthwise_sequence_params.hpp"
#include "kernels/depthwise/depthwise_common.hpp"
#include "kernels/depthwise/depthwise_span.hpp"
#include "kernels/vector.hpp"
#include "kernels/words.hpp"

namespace relayout::RELAYOUT_BACKEND {

/// Width channels: an element, a word of 4 bytes or a pack of 16. `whole`: they lie side by side on a
/// boundary of as many bytes, so that one access moves them.
template <class T, int Width>
struct ChannelPack {
  static constexpr int kBytes = Width * static_cast<int>(sizeof(T));
  static constexpr int kWords = kBytes < 4 ? 1 : kBytes / 4, kPer = Width / kWords;
  static_assert(kBytes == 2 || kBytes == 4 || kBytes == 16);
  std::uint32_t words[kWords] = {};

  __device__ __forceinline__ void load(const T* first, std::int64_t stride, bool whole) {
    if (kBytes >= 4 && whole) return load_words < kBytes >= 4 ? kWords : 0 > (words, first);
#pragma unroll
    for (int i = 0; i < kWords; ++i) {
      words[i] = element_bits(first[i * kPer * stride]);
      if constexpr (kPer == 2) words[i] |= element_bits(first[(i * kPer + 1) * stride]) << 16;
    }
  }
  __device__ __forceinline__ void store(T* first, std::int64_t stride, bool whole) const {
    if constexpr (kBytes == 16) {
      if (whole) return store_global_16_bytes(first, words, false);
    } else if constexpr (kBytes == 4) {
      if (whole) {
        *reinterpret_cast<std::uint32_t*>(first) = words[0];
        return;
      }
    }
#pragma unroll
    for (int i = 0; i < kWords; ++i) {
#pragma unroll
      for (int j = 0; j < kPer; ++j) store_element(first + (i * kPer + j) * stride, words[i], j);
    }
  }
  __device__ __forceinline__ void widen(float (&values)[Width]) const {
    if constexpr (kBytes < 4) {
      values[0] = convert<float>(T{static_cast<std::uint16_t>(words[0])});
    } else {
#pragma unroll
      for (int i = 0; i < kWords; ++i) {
        float some[kPerWord<T>];
        widen_word<T>(words[i], some);
#pragma unroll
        for (int j = 0; j < kPer; ++j) values[i * kPer + j] = some[j];
      }
    }
  }
  /// Rounds once, to nearest even.
  __device__ __forceinline__ void narrow(const float (&values)[Width]) {
#pragma unroll
    for (int i = 0; i < kWords; ++i) {
      float some[kPerWord<T>] = {};
#pragma unroll
      for (int j = 0; j < kPer; ++j) some[j] = values[i * kPer + j];
      words[i] = narrow_word<T>(some);
    }
  }
};

/// Weights and biases of a thread's channels, by distance.
template <int Taps, int Width>
struct PackNumbers {
  ChannelNumbers<Taps> raw[Width];
  float weights[Width][Taps], biases[Width][1];

  __device__ __forceinline__ void load(const DepthwiseParams& p, std::int64_t channel,
                                       bool whole_weights = false) {
#pragma unroll
    for (int j = 0; j < Width; ++j) raw[j].load(p, channel + j, whole_weights);
  }
  __device__ __forceinline__ void widen(const DepthwiseParams& p) {
#pragma unroll
    for (int j = 0; j < Width; ++j) raw[j].widen(p, weights[j], biases[j]);
  }
  /// The outputs of the time of `newest`; window[i] is the sample Taps - 1 - i before it.
  template <class T, int Count>
  __device__ __forceinline__ ChannelPack<T, Width> outputs(const ChannelPack<T, Width>& newest,
                                                           const ChannelPack<T, Width> (&window)[Count],
                                                           bool with_silu) const {
    float sums[Width] = {};
#pragma unroll
    for (int distance = 0; distance < Taps; ++distance) {
      float samples[Width];
      (distance == 0 ? newest : window[Taps - 1 - distance]).widen(samples);
#pragma unroll
      for (int j = 0; j < Width; ++j) sums[j] = fmaf(weights[j][distance], samples[j], sums[j]);
    }
#pragma unroll
    for (int j = 0; j < Width; ++j) {
      sums[j] += biases[j][0];
      if (with_silu) sums[j] = silu(sums[j]);
    }
    ChannelPack<T, Width> result;
    result.narrow(sums);
    return result;
  }
};

/// Whether packs of `bytes` at every combination of the strides, in elements, lie on their boundary and hold
/// neighbouring channels.
inline bool are_whole(const void* base, std::int64_t element, std::int64_t bytes, std::int64_t channel_stride,
                      std::int64_t one_stride, std::int64_t other_stride) {
  const auto address = static_cast<std::int64_t>(reinterpret_cast<std::uintptr_t>(base));
  return channel_stride == 1 && (address | one_stride * element | other_stride * element) % bytes == 0;
}

/// Which operands a thread of packs of `width` channels moves whole.
struct WholePacks {
  bool in, out, state;

  WholePacks(const DepthwiseParams& p, int width) {
    const std::int64_t element = bytes_of(p.type);
    const std::int64_t bytes = width * element;
    in = are_whole(p.in, element, bytes, p.in_channel, p.in_batch, p.in_time);
    out = are_whole(p.out, element, bytes, p.out_channel, p.out_batch, p.out_time);
    state = are_whole(p.state, element, bytes, p.state_channel, p.state_batch, p.state_time);
  }
};

}  // namespace relayout::RELAYOUT_BACKEND
