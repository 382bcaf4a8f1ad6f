// The kernels of words of depthwise_update: a thread takes the channels of 4 bytes, whose state lies in its
// registers.
#pragma once

#include "core/bytes.hpp"
#include "core/depthwise_sequence_params.hpp"
#include "core/kernel_table.hpp"
#include "kernels/words.hpp"

namespace relayout::RELAYOUT_BACKEND {

/// The state of a word of channels: columns[s] holds column s of all of them.
template <class T, int Columns>
struct StateWords {
  static constexpr int kPer = kPerWord<T>;
  std::uint32_t columns[Columns];

  /// As they lie in memory. `first`: of the first channel. Rows of channels are Columns words together.
  __device__ __forceinline__ void load(std::int64_t state_time, bool whole, const T* first) {
    if constexpr (Columns == 4) {
      // 16 bytes of two channels of a 16-bit type, or of one of f32.
      if (whole) return load_words<Columns>(columns, first);
    }
    const std::int64_t step = state_time == 1 ? kPer : state_time;
#pragma unroll
    for (int i = 0; i < Columns; ++i) columns[i] = *reinterpret_cast<const std::uint32_t*>(first + i * step);
  }
  /// By column, later, so that no load waits for this one.
  __device__ __forceinline__ void sort(std::int64_t state_time) {
    if constexpr (kPer == 2) {
      if (state_time != 1) return;
      std::uint32_t words[Columns];
#pragma unroll
      for (int i = 0; i < Columns; ++i) words[i] = columns[i];
#pragma unroll
      for (int i = 0; i < Columns; ++i) columns[i] = column_of(words, i);
    }
  }
  __device__ __forceinline__ void store(std::int64_t state_time, bool whole, T* first) const {
    const bool by_channel = state_time == 1;
    if constexpr (Columns == 4) {
      if (whole) {
        std::uint32_t words[Columns];
#pragma unroll
        for (int i = 0; i < Columns; ++i) words[i] = kPer == 2 ? word_of(2 * i) : columns[i];
        return store_global_16_bytes(first, words, false);
      }
    }
    const std::int64_t step = by_channel ? kPer : state_time;
#pragma unroll
    for (int i = 0; i < Columns; ++i)
      *reinterpret_cast<std::uint32_t*>(first + i * step) =
          kPer == 2 && by_channel ? word_of(2 * i) : columns[i];
  }
  __device__ __forceinline__ void move_on(std::uint32_t sample) {
#pragma unroll
    for (int i = 0; i + 1 < Columns; ++i) columns[i] = columns[i + 1];
    columns[Columns - 1] = sample;
  }

 private:
  /// Elements i and Columns + i of two rows that lie one behind the other.
  static __device__ __forceinline__ std::uint32_t column_of(const std::uint32_t (&words)[Columns], int i) {
    const int j = Columns + i;
    const std::uint32_t low = i % 2 == 0 ? words[i / 2] & 0xffffu : words[i / 2] >> 16;
    const std::uint32_t high = j % 2 == 0 ? words[j / 2] << 16 : words[j / 2] & 0xffff0000u;
    return low | high;
  }
  /// Elements i and i + 1 of the two rows.
  __device__ __forceinline__ std::uint32_t word_of(int i) const {
    return element_of(i) | element_of(i + 1) << 16;
  }
  __device__ __forceinline__ std::uint32_t element_of(int i) const {
    return i < Columns ? columns[i] & 0xffffu : columns[i - Columns] >> 16;
  }
};

/// Whether one access of 16 bytes moves the state of a word of channels: rows of channels, of four columns.
inline bool has_whole_states(const DepthwiseParams& p) {
  const std::int64_t bytes = p.state_batch * bytes_of(p.type);
  return p.state_time == 1 && p.state_length == 4 && p.state_channel == 4 &&
         (static_cast<std::int64_t>(reinterpret_cast<std::uintptr_t>(p.state)) | bytes) % 16 == 0;
}

/// Whether depthwise_update.cpp takes an update with rows of a table by words: each sequence has as many
/// samples, and its state is a few columns, appended to, and a row of memory for each channel or for each
/// column.
bool takes_update_words(const DepthwiseSequenceParams& q);
void launch_depthwise_indexed_words(const LaunchContext& context, const DepthwiseSequenceParams& q);

/// Whether depthwise_update_one.cpp takes an update that update_words takes: by one sample, with a state of
/// taps-1 or taps columns.
bool takes_one_sample(const DepthwiseSequenceParams& q);
void launch_depthwise_one_sample(const LaunchContext& context, const DepthwiseSequenceParams& q);

}  // namespace relayout::RELAYOUT_BACKEND
