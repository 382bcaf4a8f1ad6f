// The samples that a pack of outputs along time needs, from rows that begin anywhere.
#pragma once

#include "kernels/depthwise/depthwise_time.hpp"

namespace relayout::RELAYOUT_BACKEND {

/// A pack's window, as the aligned words of 16 bytes that hold it.
template <class T, int Taps>
struct Window {
  static constexpr int kSamples = Vector<T>::kCount + Taps - 1,
                       kBytes = kSamples * static_cast<int>(sizeof(T)), kWords = (kBytes + 3) / 4,
                       kLoads = (kBytes + 31 - static_cast<int>(sizeof(T))) / 16;
  std::uint32_t words[kLoads * kPackWords];

  /// `offset`: bytes of the window's begin behind the aligned address. The last word is left out where the
  /// window ends before it.
  __device__ __forceinline__ void load(const char* aligned, int offset) {
#pragma unroll
    for (int i = 0; i < kLoads; ++i) {
      if (i + 1 < kLoads || offset + kBytes > i * 16) {
        load_global_16_bytes(words + i * kPackWords, aligned + i * 16);
      } else {
#pragma unroll
        for (int j = 0; j < kPackWords; ++j) words[i * kPackWords + j] = 0;
      }
    }
  }
  /// Moves the window to the words' begin: by 8 bytes, then by 4, then by 2.
  __device__ __forceinline__ void align(int offset) {
    constexpr int kLast = kLoads * kPackWords - 1;
#pragma unroll
    for (int i = 0; i < kWords + 2; ++i) {
      if (i > kLast) break;
      const std::uint32_t here = words[i], there = words[i + 2 < kLast ? i + 2 : kLast];
      words[i] = (offset & 8) != 0 ? there : here;
    }
#pragma unroll
    for (int i = 0; i < kWords + 1; ++i) {
      if (i > kLast) break;
      const std::uint32_t here = words[i], there = words[i + 1 < kLast ? i + 1 : kLast];
      words[i] = (offset & 4) != 0 ? there : here;
    }
    if constexpr (sizeof(T) == 2) {
#pragma unroll
      for (int i = 0; i < kWords; ++i)
        words[i] = __funnelshift_r(words[i], words[i < kLast ? i + 1 : kLast], (offset & 2) * 8);
    }
  }
  /// Clears the window's first `missing` samples.
  __device__ __forceinline__ void clear(int missing) {
#pragma unroll
    for (int i = 0; i < kWords; ++i) {
      const int kept = (i + 1) * kPerWord<T> - missing;  // of this word
      if constexpr (sizeof(T) == 2) {
        words[i] &= kept >= 2 ? ~0u : kept == 1 ? 0xffff0000u : 0u;
      } else {
        words[i] = kept >= 1 ? words[i] : 0u;
      }
    }
  }
  __device__ __forceinline__ Words outputs(const float (&weights)[Taps], float bias, bool with_silu) const {
    constexpr int kCount = Vector<T>::kCount;
    float samples[kWords * kPerWord<T>], sums[kCount];
    widen_words<T, kWords>(words, samples);
#pragma unroll
    for (int j = 0; j < kCount; ++j) {
      sums[j] = 0.0f;
#pragma unroll
      for (int distance = 0; distance < Taps; ++distance)
        sums[j] = fmaf(weights[distance], samples[Taps - 1 + j - distance], sums[j]);
    }
    return finish_pack<T>(sums, bias, with_silu);
  }
};

}  // namespace relayout::RELAYOUT_BACKEND
