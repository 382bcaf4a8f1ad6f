// What the depthwise kernels along time share.
#pragma once

#include "kernels/backend_kernels.hpp"
#include "kernels/depthwise/depthwise_common.hpp"
#include "kernels/depthwise/depthwise_span.hpp"
#include "kernels/vector.hpp"
#include "kernels/words.hpp"

namespace relayout::RELAYOUT_BACKEND {

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

/// Clears the first `missing` samples.
template <class T, int Count>
__device__ __forceinline__ void clear_samples(std::uint32_t (&words)[Count], int missing) {
#pragma unroll
  for (int i = 0; i < Count; ++i) {
    const int kept = (i + 1) * kPerWord<T> - missing;  // of this word
    if constexpr (sizeof(T) == 2) {
      words[i] &= kept >= 2 ? ~0u : kept == 1 ? 0xffff0000u : 0u;
    } else {
      words[i] = kept >= 1 ? words[i] : 0u;
    }
  }
}

/// Outputs that are not rounded yet, in the place of their sums.
template <int Count>
__device__ __forceinline__ void finish_sums(float (&sums)[Count], float bias, bool with_silu) {
#pragma unroll
  for (int j = 0; j < Count; ++j) sums[j] += bias;
  if (with_silu) {
#pragma unroll
    for (int j = 0; j < Count; ++j) sums[j] = silu(sums[j]);
  }
}

/// A pack of outputs from its sums.
template <class T>
__device__ __forceinline__ Words finish_pack(float (&sums)[Vector<T>::kCount], float bias, bool with_silu) {
  finish_sums(sums, bias, with_silu);
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

/// A pack of outputs from `Count` words of samples: sample `Newest` is the newest one of the first output.
template <class T, int Taps, int Count, int Newest>
__device__ __forceinline__ Words pack_outputs(const std::uint32_t (&words)[Count],
                                              const float (&weights)[Taps], float bias, bool with_silu) {
  constexpr int kCount = Vector<T>::kCount;
  float samples[Count * kPerWord<T>], sums[kCount];
  widen_words<T, Count>(words, samples);
#pragma unroll
  for (int j = 0; j < kCount; ++j)
    sums[j] = sum_over_taps(weights, [&](int distance) { return samples[Newest + j - distance]; });
  return finish_pack<T>(sums, bias, with_silu);
}

}  // namespace relayout::RELAYOUT_BACKEND
