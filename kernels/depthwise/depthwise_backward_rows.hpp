// Rows of signals along time that are read as vectors of 16 bytes from anywhere: what the backward pass along
// time loads.
#pragma once

#include "kernels/copy/unaligned.hpp"
#include "kernels/depthwise/depthwise_time.hpp"

namespace relayout::RELAYOUT_BACKEND {

/// One signal's row: its samples are [low, high) behind `origin`, where the group's first vector begins.
template <class T>
struct VectorRow {
  static constexpr int kCount = Vector<T>::kCount;
  const T* origin;
  int low, high;
  int misaligned;  // elements behind a 16-byte boundary

  __device__ __forceinline__ VectorRow(const T* at, int low_, int high_)
      : origin(at), low(low_), high(high_), misaligned(static_cast<int>(misaligned_elements(at))) {}
  __device__ __forceinline__ bool has(int offset) const { return offset >= low && offset < high; }
  __device__ __forceinline__ bool has_vector(int offset) const {
    return offset >= low && offset + kCount <= high;
  }
  /// Whether one access can move the vector.
  __device__ __forceinline__ bool has_aligned_vector(int offset) const {
    return misaligned == 0 && has_vector(offset);
  }
  /// The vector of `offset`: zeros where the row has no samples. The aligned words around one that lies
  /// across a boundary are read where they are inside the row: there may be no memory behind it.
  __device__ __forceinline__ void load(int offset, std::uint32_t (&words)[kPackWords]) const {
    if (has_aligned_vector(offset)) {
      load_global_16_bytes(words, origin + offset);
    } else if (misaligned != 0 && has_vector(offset - misaligned) &&
               has_vector(offset - misaligned + kCount)) {
      UnalignedLoad load;
      load.start(origin + offset);
      const Words joined = load.template words<sizeof(T)>();
#pragma unroll
      for (int i = 0; i < kPackWords; ++i) words[i] = joined.values[i];
    } else {
      load_elements(offset, words, [&](int at) { return has(at) ? origin[at] : T{}; });
    }
  }
  template <class At>
  static __device__ __forceinline__ void load_elements(int offset, std::uint32_t (&words)[kPackWords],
                                                       const At& at) {
#pragma unroll
    for (int i = 0; i < kPackWords; ++i) {
      words[i] = element_bits(at(offset + i * kPerWord<T>));
      if constexpr (kPerWord<T> == 2) words[i] |= element_bits(at(offset + i * kPerWord<T> + 1)) << 16;
    }
  }
};

/// The input's row, with the initial state before it.
template <class T, int Taps>
struct InputRow : VectorRow<T> {
  const T* initial;  // null: zeros; the sample before the row's first one
  std::int64_t initial_time;

  __device__ __forceinline__ InputRow(const DepthwiseParams& f, const SampleRow<T>& row, std::int64_t first,
                                      int low, int high)
      : VectorRow<T>(row.in + first, low, high),
        initial(row.initial == nullptr ? nullptr : row.initial + (Taps - 2) * f.initial_time),
        initial_time(f.initial_time) {}
  __device__ __forceinline__ void load(int offset, std::uint32_t (&words)[kPackWords]) const {
    if (initial != nullptr && offset<this->low&& this->low> - (1 << 20)) {
      this->load_elements(offset, words, [&](int at) {
        if (this->has(at)) return this->origin[at];
        const int back = this->low - 1 - at;  // behind the state's last column
        return back >= 0 && back < Taps - 1 ? initial[-back * initial_time] : T{};
      });
    } else {
      VectorRow<T>::load(offset, words);
    }
  }
};

}  // namespace relayout::RELAYOUT_BACKEND
