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
  /// window ends before it. FromShared: from shared memory, not from global memory.
  template <bool FromShared = false>
  __device__ __forceinline__ void load(const char* aligned, int offset) {
#pragma unroll
    for (int i = 0; i < kLoads; ++i) {
      if (i + 1 < kLoads || offset + kBytes > i * 16) {
        if constexpr (FromShared) {
          load_16_bytes(words + i * kPackWords, aligned + i * 16);
        } else {
          load_global_16_bytes(words + i * kPackWords, aligned + i * 16);
        }
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
  __device__ __forceinline__ Words outputs(const float (&weights)[Taps], float bias, bool with_silu) const {
    std::uint32_t own[kWords];
#pragma unroll
    for (int i = 0; i < kWords; ++i) own[i] = words[i];
    return pack_outputs<T, Taps, kWords, Taps - 1>(own, weights, bias, with_silu);
  }
};

}  // namespace relayout::RELAYOUT_BACKEND
