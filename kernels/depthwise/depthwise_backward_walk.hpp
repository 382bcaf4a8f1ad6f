// What a group of lanes computes on its walk along a row of time (depthwise_backward_time.cpp).
#pragma once

#include "core/integer_math.hpp"
#include "kernels/depthwise/depthwise_backward.hpp"
#include "kernels/depthwise/depthwise_backward_rows.hpp"
#include "kernels/depthwise/depthwise_time.hpp"

namespace relayout::RELAYOUT_BACKEND {

/// A lane's place in its group, and the group's exchanges. All lanes of a warp take part. Blocks have one
/// dimension.
template <int W>
struct GroupLane {
  int lane, first;  // first: lane 0's number in the warp
  int next;         // the number of the lane behind, around the group

  __device__ __forceinline__ GroupLane()
      : lane(static_cast<int>(threadIdx.x % kBackwardGroup)),
        first(static_cast<int>(threadIdx.x % W) - lane),
        next(first + static_cast<int>((threadIdx.x + 1) % kBackwardGroup)) {}
  template <class V>
  __device__ __forceinline__ V of(V value, int other) const {
    return warp_shuffle<W>(value, first + other);
  }
  /// The value of the lane behind.
  template <class V>
  __device__ __forceinline__ V behind(V value) const {
    return warp_shuffle<W>(value, next);
  }
  __device__ __forceinline__ bool is_last() const { return lane == kBackwardGroup - 1; }
};

template <class T, int Taps, int W, bool Shifted>
struct TimeWalk {
  static constexpr int kCount = Vector<T>::kCount, kOlder = Taps - 1, kPer = kPerWord<T>;
  /// Words before a vector that hold its oldest samples.
  static constexpr int kBefore = divide_up(kOlder, kPer);
  static constexpr int kStep = kBackwardGroup * kCount;
  GroupLane<W> group;
  float weights[Taps], bias[1];
  float later[kOlder + 1] = {};  // of the last lane: g behind its vector
  float sums[Taps + 1] = {};

  /// The gradients behind the walk's steps, which begin at `end`: a lane computes one. The last taps - 1
  /// samples of the steps need them. Those of the tail, where the row ends, are the group's own.
  __device__ __forceinline__ void begin(const InputRow<T, Taps, Shifted>& in,
                                        const VectorRow<T, Shifted>& d_out, T* d_in, int end, bool has_tail,
                                        bool with_silu) {
    const int at = end + group.lane;
    float g = 0.0f, samples[Taps] = {};
    if ((has_tail || group.lane < kOlder) && d_out.has(at)) {
#pragma unroll
      for (int distance = 0; distance < Taps; ++distance)
        samples[distance] = convert<float>(in.origin[at - distance]);
      g = convert<float>(d_out.origin[at]);
      if (with_silu) {
        float sum = 0.0f;
#pragma unroll
        for (int distance = 0; distance < Taps; ++distance)
          sum = fmaf(weights[distance], samples[distance], sum);
        g *= silu_derivative(sum + bias[0]);
      }
    }
#pragma unroll
    for (int i = 0; i < kOlder; ++i) later[i] = group.of(g, i);
    if (has_tail) {
      float value = 0.0f;
#pragma unroll
      for (int distance = 0; distance < Taps; ++distance) {
        sums[distance] = g * samples[distance];
        const float behind = group.of(g, (group.lane + distance) % kBackwardGroup);
        value = fmaf(weights[distance], behind, value);
      }
      sums[Taps] = g;
      if (d_out.has(at)) d_in[at] = convert<T>(value);
    }
  }

  /// window: the words of the samples, from the oldest one that a lane's vector needs. Inside: all are the
  /// row's in all lanes, and the vectors of d_in are aligned.
  template <bool Inside>
  __device__ __forceinline__ void step(std::uint32_t (&window)[kBefore + kPackWords],
                                       const std::uint32_t (&gradients)[kPackWords],
                                       const InputRow<T, Taps, Shifted>& row, T* d_in, bool stores_vectors,
                                       int offset, bool with_silu) {
    constexpr int kFirst = kBefore * kPer;  // of the window: the lane's first sample
    if (!Inside && row.initial == nullptr) clear_samples<T>(window, row.low - (offset - kFirst));
    float samples[(kBefore + kPackWords) * kPer], g[kCount + kOlder];
    widen_words<T, kBefore + kPackWords>(window, samples);
    widen_words<T, kPackWords>(gradients, g);
    const float* const newest = samples + kFirst;
    if (with_silu) {
#pragma unroll
      for (int i = 0; i < kCount; ++i) {
        float sum = 0.0f;
#pragma unroll
        for (int distance = 0; distance < Taps; ++distance)
          sum = fmaf(weights[distance], newest[i - distance], sum);
        g[i] *= silu_derivative(sum + bias[0]);
      }
    }
    // Bits of the vector's samples. Where the row has none, a product could be that of 0 and an infinity.
    const unsigned present = Inside ? ~0u : row.present(offset);
#pragma unroll
    for (int i = 0; i < kCount; ++i) {
      if ((present >> i & 1) != 0) {
        add_products(g[i], newest + i);
      } else {
        g[i] = 0.0f;
      }
    }
#pragma unroll
    for (int i = 0; i < kOlder; ++i) {
      const float behind = group.behind(g[i]);
      g[kCount + i] = group.is_last() ? later[i] : behind;
      later[i] = behind;
    }
    Words result;
#pragma unroll
    for (int i = 0; i < kPackWords; ++i) {
      float values[kPer];
#pragma unroll
      for (int j = 0; j < kPer; ++j) {
        values[j] = 0.0f;
#pragma unroll
        for (int distance = 0; distance < Taps; ++distance)
          values[j] = fmaf(weights[distance], g[i * kPer + j + distance], values[j]);
      }
      result.values[i] = narrow_word<T>(values);
    }
    if (Inside || (stores_vectors && row.has_samples(offset))) {
      store_global_16_bytes(d_in + offset, &result, false);
    } else {
#pragma unroll
      for (int i = 0; i < kCount; ++i)
        if ((present >> i & 1) != 0) store_element(d_in + offset + i, result.values[i / kPer], i % kPer);
    }
  }

  __device__ __forceinline__ void add_products(float g, const float* newest) {
#pragma unroll
    for (int distance = 0; distance < Taps; ++distance)
      sums[distance] = fmaf(g, newest[-distance], sums[distance]);
    sums[Taps] += g;
  }

  /// The group's sum of the row that has the lane's number, added in the same order in every run.
  __device__ __forceinline__ float add_sums() const {
    float own = 0.0f;
#pragma unroll
    for (int row = 0; row <= Taps; ++row) {
      float sum = sums[row];
#pragma unroll
      for (int mask = kBackwardGroup / 2; mask > 0; mask /= 2) sum += warp_shuffle_xor<W>(sum, mask);
      if (group.lane == row) own = sum;
    }
    return own;
  }
};

}  // namespace relayout::RELAYOUT_BACKEND
