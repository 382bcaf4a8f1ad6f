// Rows of signals along time that begin anywhere and are loaded as aligned vectors of 16 bytes: what the
// backward pass along time reads.
#pragma once

#include "kernels/depthwise/depthwise_time.hpp"

namespace relayout::RELAYOUT_BACKEND {

/// One signal's row: its samples are [low, high) behind `origin`, where the group's first vector of results
/// begins. The row's own vectors, of aligned words, begin shift() samples before those. Shifted: there may
/// be such a distance.
template <class T, bool Shifted>
struct VectorRow {
  static constexpr int kCount = Vector<T>::kCount;
  const T* origin;
  int low, high;
  int misaligned;

  __device__ __forceinline__ VectorRow(const T* at, int low_, int high_)
      : origin(at), low(low_), high(high_), misaligned(Shifted ? misaligned_elements(at) : 0) {}
  __device__ __forceinline__ int shift() const { return Shifted ? misaligned : 0; }
  /// The address of the row's vector of `offset`.
  __device__ __forceinline__ const T* vector(int offset) const { return origin + (offset - shift()); }
  __device__ __forceinline__ bool has(int offset) const { return offset >= low && offset < high; }
  /// Whether the samples of the row's vector, and those of the results' one, are all the row's.
  __device__ __forceinline__ bool has_vector(int offset) const { return has_samples(offset - shift()); }
  __device__ __forceinline__ bool has_samples(int offset) const {
    return offset >= low && offset + kCount <= high;
  }
  /// Which samples of the results' vector the row has: bit i for sample i.
  __device__ __forceinline__ unsigned present(int offset) const {
    return (1u << clamped(high - offset)) - (1u << clamped(low - offset));
  }
  /// Whether the vectors from the first one on, and those before that of `offset`, can be loaded: they lie in
  /// the row, or in the memory between the first and the last element of all rows.
  __device__ __forceinline__ bool has_first(const MemorySpan& span) const {
    return low + shift() <= 0 || reinterpret_cast<const char*>(vector(0)) >= span.begin;
  }
  __device__ __forceinline__ bool has_before(int offset, const MemorySpan& span) const {
    return offset - shift() <= high || reinterpret_cast<const char*>(vector(offset)) <= span.end;
  }
  /// The row's vector of `offset`: zeros where the row has no samples.
  __device__ __forceinline__ void load(int offset, std::uint32_t (&words)[kPackWords]) const {
    const int first = offset - shift();
    if (has_samples(first)) {
      load_global_16_bytes(words, vector(offset));
    } else if (first >= high || first + kCount <= low) {
#pragma unroll
      for (int i = 0; i < kPackWords; ++i) words[i] = 0;
    } else {
      load_elements(offset, words, [&](int at) { return has(at) ? origin[at] : T{}; });
    }
  }
  template <class At>
  __device__ __forceinline__ void load_elements(int offset, std::uint32_t (&words)[kPackWords],
                                                const At& at) const {
    const int first = offset - shift();
#pragma unroll
    for (int i = 0; i < kPackWords; ++i) {
      words[i] = element_bits(at(first + i * kPerWord<T>));
      if constexpr (kPerWord<T> == 2) words[i] |= element_bits(at(first + i * kPerWord<T> + 1)) << 16;
    }
  }

 private:
  static __device__ __forceinline__ int clamped(int count) {
    return count < 0 ? 0 : count < kCount ? count : kCount;
  }
};

/// The input's row, with the initial state before it.
template <class T, int Taps, bool Shifted>
struct InputRow : VectorRow<T, Shifted> {
  const T* initial;  // null: zeros; the sample before the row's first one
  std::int64_t initial_time;

  __device__ __forceinline__ InputRow(const DepthwiseParams& f, const SampleRow<T>& row, std::int64_t first,
                                      int low, int high)
      : VectorRow<T, Shifted>(row.in + first, low, high),
        initial(row.initial == nullptr ? nullptr : row.initial + (Taps - 2) * f.initial_time),
        initial_time(f.initial_time) {}
  /// Whether the row's vectors from the first one on can be loaded: none holds samples of the state.
  __device__ __forceinline__ bool has_first(const MemorySpan& span) const {
    return (initial == nullptr || this->low + this->shift() <= 0) && VectorRow<T, Shifted>::has_first(span);
  }
  __device__ __forceinline__ void load(int offset, std::uint32_t (&words)[kPackWords]) const {
    if (initial != nullptr && offset - this->shift() < this->low && this->low > -(1 << 20)) {
      this->load_elements(offset, words, [&](int at) {
        if (this->has(at)) return this->origin[at];
        const int back = this->low - 1 - at;  // behind the state's last column
        return back >= 0 && back < Taps - 1 ? initial[-back * initial_time] : T{};
      });
    } else {
      VectorRow<T, Shifted>::load(offset, words);
    }
  }
};

/// The words that begin `samples`, fewer than a vector's, behind the begin of those that are given. They are
/// moved by 8 bytes, by 4 and by 2: by values, since a choice between two elements of an array would put the
/// array into memory.
template <class T, int Count>
__device__ __forceinline__ void shift_words(std::uint32_t (&from)[Count + kPackWords], int samples,
                                            std::uint32_t (&to)[Count]) {
  const int bytes = samples * static_cast<int>(sizeof(T));
#pragma unroll
  for (int i = 0; i < Count + 2; ++i) {
    const std::uint32_t here = from[i], there = from[i + 2];
    from[i] = (bytes & 8) != 0 ? there : here;
  }
#pragma unroll
  for (int i = 0; i < Count + 1; ++i) {
    const std::uint32_t here = from[i], there = from[i + 1];
    from[i] = (bytes & 4) != 0 ? there : here;
  }
#pragma unroll
  for (int i = 0; i < Count; ++i) {
    to[i] = sizeof(T) == 2 ? __funnelshift_r(from[i], from[i + 1], static_cast<unsigned>(bytes & 2) * 8)
                           : from[i];
  }
}

}  // namespace relayout::RELAYOUT_BACKEND
