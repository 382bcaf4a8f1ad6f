// How the depthwise tile kernel moves a tile between global and shared memory: rows along the axis that is
// fast in memory, each as the aligned words of 16 bytes that hold it (its image), or single elements.
//
// Rows along time have an odd pitch of words, so that lanes along channels meet different banks; their images
// are moved 4 bytes at a time in shared memory. Rows along channels have a pitch that is congruent to theirs
// in global memory modulo 16 bytes, so that one shift holds for all of them and their images are moved 16
// bytes at a time. Where that pitch is global memory's own, all rows are one.
#pragma once

#include <type_traits>

#include "kernels/depthwise/depthwise_common.hpp"
#include "kernels/depthwise/depthwise_span.hpp"
#include "kernels/vector.hpp"
#include "kernels/words.hpp"

namespace relayout::RELAYOUT_BACKEND {

/// Rows along time or channels, or all as one.
enum class TileRows { time, channel, one };

/// One side of a block's tile. Elements are counted from (first channel, first time).
template <class T, class Global>
struct TileSide {
  static constexpr int kCount = Vector<T>::kCount;
  const DepthwiseTileSide& plan;
  Global* global;  // of the first channel and time; it may lie before the tensor
  std::int64_t channel_stride, time_stride;
  T* shared;

  /// Elements of shared memory before row 0: as many as lie behind a boundary in global memory.
  __device__ __forceinline__ int shift_of(int channel) const {
    switch (plan.rows) {
      case DepthwiseRows::time:
        return misaligned_elements(global + channel * channel_stride);
      case DepthwiseRows::channel:
        return misaligned_elements(global);
      default:
        return 0;
    }
  }
  /// Where an element of this channel and the first time lies in shared memory.
  __device__ __forceinline__ int begin_of(int channel) const {
    return channel * plan.channel_pitch + shift_of(channel);
  }

  struct Row {
    Global* global;
    int shared;      // the image's begin in shared memory, in elements
    int first, end;  // the row's elements, counted from the image's begin
  };
  /// Row `number` of a tile of `channels` and times [first_time, times).
  template <TileRows Rows>
  __device__ __forceinline__ Row row(int number, int channels, int first_time, int times) const {
    if constexpr (Rows == TileRows::time) {
      Global* const begin = global + number * channel_stride;
      const int shift = misaligned_elements(begin);
      return {begin - shift, number * plan.channel_pitch, shift + first_time, shift + times};
    } else if constexpr (Rows == TileRows::channel) {
      const int time = number + first_time;
      const int from = misaligned_elements(global) + time * plan.time_pitch, shift = from & (kCount - 1);
      return {global + time * time_stride - shift, from - shift, shift, shift + channels};
    } else {
      const int shift = misaligned_elements(global);
      return {global - shift, 0, shift + first_time * plan.time_pitch,
              shift + (times - 1) * plan.time_pitch + channels};
    }
  }
  template <TileRows Rows>
  static __device__ __forceinline__ int rows(int channels, int first_time, int times) {
    return Rows == TileRows::time ? channels : Rows == TileRows::channel ? times - first_time : 1;
  }
  /// Calls visit(std::integral_constant<TileRows, Rows>) with what the plan says: code of its own for each
  /// kind of rows has less to calculate for a word.
  template <class Visit>
  __device__ __forceinline__ void visit_rows(Visit&& visit) const {
    if (plan.rows == DepthwiseRows::time) {
      visit(std::integral_constant<TileRows, TileRows::time>{});
    } else if (plan.is_one_row) {
      visit(std::integral_constant<TileRows, TileRows::one>{});
    } else {
      visit(std::integral_constant<TileRows, TileRows::channel>{});
    }
  }
  /// Calls visit(channel, time) for this thread's share of the tile.
  template <class Visit>
  __device__ __forceinline__ void each_element(int channels, int first_time, int times, Visit&& visit) const {
    const int lane = static_cast<int>(threadIdx.x) & (plan.lanes - 1);
    const int other = static_cast<int>(threadIdx.x) >> plan.lanes_shift;
    const int others = kDepthwiseThreads >> plan.lanes_shift;
    if (plan.lanes_along_time) {
#pragma unroll 1
      for (int channel = other; channel < channels; channel += others) {
#pragma unroll 4
        for (int time = first_time + lane; time < times; time += plan.lanes) visit(channel, time);
      }
    } else {
#pragma unroll 1
      for (int channel = lane; channel < channels; channel += plan.lanes) {
#pragma unroll 4
        for (int time = first_time + other; time < times; time += others) visit(channel, time);
      }
    }
  }
  __device__ __forceinline__ T& element(int channel, int time) const {
    return shared[begin_of(channel) + time * plan.time_pitch];
  }
};

/// A side whose numbers lie in vector registers: two or three sides in one kernel have more of them than an
/// AMD GPU has scalar registers.
template <class T, class Global>
__device__ __forceinline__ TileSide<T, Global> tile_side(const DepthwiseTileSide& plan, Global* global,
                                                         std::int64_t channel_stride,
                                                         std::int64_t time_stride, T* shared) {
  return {plan, per_lane(global), per_lane(channel_stride), per_lane(time_stride), shared};
}

/// The words of a tile that a thread moves: all rows' words one behind the other are shared among a block's
/// threads, so that no lane is idle whatever a row's length.
struct WordWalk {
  int words, step_rows, step_words;  // of a row; from a word of the thread to its next one
  int row, word;

  __device__ __forceinline__ explicit WordWalk(const Divisor& by_words) {
    words = static_cast<int>(by_words.value);
    std::uint32_t first = threadIdx.x, step = kDepthwiseThreads;
    row = static_cast<int>(split(first, by_words));
    step_rows = static_cast<int>(split(step, by_words));
    word = static_cast<int>(first);
    step_words = static_cast<int>(step);
  }
  __device__ __forceinline__ void advance() {
    row += step_rows;
    word += step_words;
    if (word >= words) {
      word -= words;
      ++row;
    }
  }
};

/// Reads times [first_time, times) of `channels` channels.
template <class T, TileRows Rows>
__device__ __forceinline__ void fill_rows(const TileSide<T, const T>& side, const MemorySpan& span,
                                          int channels, int first_time, int times) {
  constexpr int kCount = Vector<T>::kCount, kInFlight = 4;
  const int rows = side.template rows<Rows>(channels, first_time, times);
  // Some words at a time, over the ends of rows, so that their loads are all in flight.
  bool has_edges = false;
#pragma unroll 1
  for (WordWalk walk(side.plan.by_words); walk.row < rows;) {
    Words loaded[kInFlight];
    int to[kInFlight];  // elements; -1: nowhere
#pragma unroll
    for (int i = 0; i < kInFlight; ++i) {
      to[i] = -1;
      if (walk.row >= rows) continue;
      const auto row = side.template row<Rows>(walk.row, channels, first_time, times);
      const int first = walk.word * kCount;
      const auto* const from = reinterpret_cast<const char*>(row.global + first);
      if (first + kCount > row.first && first < row.end) {
        if (from >= span.begin && from + 16 <= span.end) {
          load_global_16_bytes(&loaded[i], from);
          to[i] = row.shared + first;
        } else {
          has_edges = true;
        }
      }
      walk.advance();
    }
#pragma unroll
    for (int i = 0; i < kInFlight; ++i) {
      if (to[i] < 0) continue;
      if constexpr (Rows == TileRows::time) {
#pragma unroll
        for (int j = 0; j < kPackWords; ++j)
          reinterpret_cast<std::uint32_t*>(side.shared + to[i])[j] = loaded[i].values[j];
      } else {
        store_16_bytes(side.shared + to[i], &loaded[i]);
      }
    }
  }
  if (!has_edges) return;
    // Words that reach out of the input's memory: element by element.
#pragma unroll 1
  for (WordWalk walk(side.plan.by_words); walk.row < rows; walk.advance()) {
    const auto row = side.template row<Rows>(walk.row, channels, first_time, times);
    const int first = walk.word * kCount;
    const auto* const from = reinterpret_cast<const char*>(row.global + first);
    if (from >= span.begin && from + 16 <= span.end) continue;
    T elements[kCount] = {};
#pragma unroll
    for (int j = 0; j < kCount; ++j) {
      if (first + j >= row.first && first + j < row.end) elements[j] = row.global[first + j];
    }
#pragma unroll
    for (int j = 0; j < kCount; ++j) {
      if (first + j >= row.first && first + j < row.end) side.shared[row.shared + first + j] = elements[j];
    }
  }
}
template <class T>
__device__ __forceinline__ void fill_tile(const TileSide<T, const T>& side, const MemorySpan& span,
                                          int channels, int first_time, int times) {
  if (side.plan.rows == DepthwiseRows::none) {
    side.each_element(channels, first_time, times, [&](int channel, int time) {
      side.element(channel, time) = side.global[channel * side.channel_stride + time * side.time_stride];
    });
  } else {
    side.visit_rows(
        [&](auto rows) { fill_rows<T, decltype(rows)::value>(side, span, channels, first_time, times); });
  }
}

/// Writes times [0, times) of `channels` channels.
template <class T, TileRows Rows>
__device__ __forceinline__ void store_rows(const TileSide<T, T>& side, int channels, int times) {
  constexpr int kCount = Vector<T>::kCount;
  const int rows = side.template rows<Rows>(channels, 0, times);
#pragma unroll 2
  for (WordWalk walk(side.plan.by_words); walk.row < rows; walk.advance()) {
    const auto row = side.template row<Rows>(walk.row, channels, 0, times);
    const int first = walk.word * kCount;
    if (first < row.first || first + kCount > row.end) continue;
    const T* const from = side.shared + row.shared + first;
    Words pack;
    if constexpr (Rows == TileRows::time) {
#pragma unroll
      for (int j = 0; j < kPackWords; ++j) pack.values[j] = reinterpret_cast<const std::uint32_t*>(from)[j];
    } else {
      load_16_bytes(&pack, from);
    }
    store_global_16_bytes(row.global + first, &pack, false);
  }
  // The words at the rows' ends that are theirs in part, by threads of their own: every warp of the walk
  // above would meet some.
#pragma unroll 1
  for (int end = static_cast<int>(threadIdx.x); end < rows * 2; end += kDepthwiseThreads) {
    const auto row = side.template row<Rows>(end / 2, channels, 0, times);
    const bool last = end % 2 != 0;
    const int first = last ? row.end / kCount * kCount : 0;
    if (last ? first == 0 || first == row.end : row.first == 0 && row.end >= kCount) continue;
    const int from = row.shared + first, begin = last ? 0 : row.first, left = row.end - first;
    T* const to = row.global + first;
#pragma unroll
    for (int j = 0; j < kCount; ++j) {
      if (j >= begin && j < left) to[j] = side.shared[from + j];
    }
  }
}
template <class T>
__device__ __forceinline__ void store_tile(const TileSide<T, T>& side, int channels, int times) {
  if (side.plan.rows == DepthwiseRows::none) {
    side.each_element(channels, 0, times, [&](int channel, int time) {
      side.global[channel * side.channel_stride + time * side.time_stride] = side.element(channel, time);
    });
  } else {
    side.visit_rows([&](auto rows) { store_rows<T, decltype(rows)::value>(side, channels, times); });
  }
}

}  // namespace relayout::RELAYOUT_BACKEND
