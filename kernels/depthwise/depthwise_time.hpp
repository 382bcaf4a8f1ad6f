// What the two depthwise kernels along time share.
#pragma once

#include "kernels/backend_kernels.hpp"
#include "kernels/depthwise/depthwise_common.hpp"
#include "kernels/depthwise/depthwise_span.hpp"
#include "kernels/vector.hpp"
#include "kernels/words.hpp"

namespace relayout::RELAYOUT_BACKEND {

/// A thread's place in its row. Offsets from its first pack are 32-bit.
template <class T>
struct RowPlace {
  static constexpr int kCount = Vector<T>::kCount;
  DepthwisePlace place;  // time: of the first pack
  const T* in;           // the first pack
  T* out;
  int before, left;  // samples before and from the first pack on, as far as they matter

  __device__ __forceinline__ RowPlace(const DepthwiseParams& p, const DepthwiseGrid& grid, int packs_apart)
      : place(place_block<true>(grid)) {
    constexpr std::int64_t kFar = 1 << 28;
    place.channel += grid.row();
    place.time += grid.lane() * packs_apart * kCount;
    in = static_cast<const T*>(p.in) + place.batch * p.in_batch + place.channel * p.in_channel + place.time;
    out = static_cast<T*>(p.out) + place.batch * p.out_batch + place.channel * p.out_channel + place.time;
    before = static_cast<int>(place.time < kFar ? place.time : kFar);
    left = static_cast<int>(p.length - place.time < kFar ? p.length - place.time : kFar);
    if (place.channel >= p.channels) left = 0;
  }
  /// Whether vectors can compute `count` outputs: no sample of an initial state, and the row goes on.
  __device__ __forceinline__ bool is_whole(const DepthwiseParams& p, int offset, int count) const {
    return offset + count <= left && !meets_initial(p, offset);
  }
  __device__ __forceinline__ bool meets_initial(const DepthwiseParams& p, int offset) const {
    return p.initial_state != nullptr && before + offset < p.taps - 1;
  }
  /// What they cannot.
  __device__ __forceinline__ void store_border(const DepthwiseParams& p, int offset, int count) const {
#pragma unroll 1
    for (int i = offset; i < offset + count && i < left; ++i) {
      store_output<T, false, 1>(p, place.batch, place.channel, place.time + i);
    }
  }
};

template <class T, int Words>
__device__ __forceinline__ void widen_words(const std::uint32_t* words, float* samples) {
#pragma unroll
  for (int i = 0; i < Words; ++i) {
    float values[kPerWord<T>];
    widen_word<T>(words[i], values);
#pragma unroll
    for (int j = 0; j < kPerWord<T>; ++j) samples[i * kPerWord<T> + j] = values[j];
  }
}

/// A pack of outputs from its sums.
template <class T>
__device__ __forceinline__ Words finish_pack(float (&sums)[Vector<T>::kCount], float bias, bool with_silu) {
#pragma unroll
  for (int j = 0; j < Vector<T>::kCount; ++j) sums[j] += bias;
  if (with_silu) {
#pragma unroll
    for (int j = 0; j < Vector<T>::kCount; ++j) sums[j] = silu(sums[j]);
  }
  Words result;
#pragma unroll
  for (int i = 0; i < kPackWords; ++i) {
    float values[kPerWord<T>];
#pragma unroll
    for (int j = 0; j < kPerWord<T>; ++j) values[j] = sums[i * kPerWord<T> + j];
    result.values[i] = narrow_word<T>(values);
  }
  return result;
}

}  // namespace relayout::RELAYOUT_BACKEND
