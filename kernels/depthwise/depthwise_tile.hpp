// How the depthwise tile kernel moves a tile between global and shared memory: rows along the axis that is
// fast in memory, each as the aligned words of 16 bytes that hold it (its image), or single elements.
//
// Rows along time have an odd pitch of words, so that lanes along channels meet different banks; their images
// are moved 4 bytes at a time in shared memory, by 8 lanes a row, or more where there are few. Rows along
// channels have a pitch that is congruent to theirs in global memory modulo 16 bytes, so that one shift holds
// for all of them and their images are moved 16 bytes at a time. Where that pitch is global memory's own, all
// rows are one.
#pragma once

#include "kernels/depthwise/depthwise_common.hpp"
#include "kernels/depthwise/depthwise_span.hpp"
#include "kernels/vector.hpp"
#include "kernels/words.hpp"

namespace relayout::RELAYOUT_BACKEND {

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
    T* shared;       // the image's begin
    int first, end;  // the row's elements, counted from the image's begin
  };
  /// Row `number` of a tile of `channels` and times [first_time, times).
  __device__ __forceinline__ Row row(int number, int channels, int first_time, int times) const {
    if (plan.rows == DepthwiseRows::time) {
      Global* const begin = global + number * channel_stride;
      const int shift = misaligned_elements(begin);
      return {begin - shift, shared + number * plan.channel_pitch, shift + first_time, shift + times};
    }
    const int time = plan.is_one_row ? 0 : number + first_time;
    const int from = misaligned_elements(global) + time * plan.time_pitch, shift = from % kCount;
    const int first = plan.is_one_row ? first_time * plan.time_pitch : 0;
    const int end = plan.is_one_row ? (times - 1) * plan.time_pitch + channels : channels;
    return {global + time * time_stride - shift, shared + from - shift, shift + first, shift + end};
  }
  __device__ __forceinline__ int rows(int channels, int first_time, int times) const {
    return plan.rows == DepthwiseRows::time ? channels : plan.is_one_row ? 1 : times - first_time;
  }
  /// The most words of 16 bytes of a row.
  __device__ __forceinline__ int words(int channels, int times) const {
    const int length = plan.rows == DepthwiseRows::time ? times
                       : plan.is_one_row                ? (times - 1) * plan.time_pitch + channels
                                                        : channels;
    return (length + 2 * kCount - 2) / kCount;
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

/// Reads times [first_time, times) of `channels` channels.
template <class T>
__device__ __forceinline__ void fill_tile(const TileSide<T, const T>& side, const MemorySpan& span,
                                          int channels, int first_time, int times) {
  constexpr int kCount = Vector<T>::kCount, kInFlight = 4;
  if (side.plan.rows == DepthwiseRows::none) {
    side.each_element(channels, first_time, times, [&](int channel, int time) {
      side.element(channel, time) = side.global[channel * side.channel_stride + time * side.time_stride];
    });
    return;
  }
  const int lane = static_cast<int>(threadIdx.x) & (side.plan.lanes - 1);
  const int rows_apart = kDepthwiseThreads >> side.plan.lanes_shift;
  const int rows = side.rows(channels, first_time, times), words = side.words(channels, times);
  // Some words at a time, over the ends of rows, so that their loads are all in flight.
  int number = static_cast<int>(threadIdx.x) >> side.plan.lanes_shift, word = lane;
  if (word >= words) return;
  bool has_edges = false;
#pragma unroll 1
  while (number < rows) {
    Words loaded[kInFlight];
    T* to[kInFlight];
#pragma unroll
    for (int i = 0; i < kInFlight; ++i) {
      to[i] = nullptr;
      if (number >= rows) continue;
      const auto row = side.row(number, channels, first_time, times);
      const int first = word * kCount;
      const auto* const from = reinterpret_cast<const char*>(row.global + first);
      if (first + kCount > row.first && first < row.end) {
        if (from >= span.begin && from + 16 <= span.end) {
          load_global_16_bytes(&loaded[i], from);
          to[i] = row.shared + first;
        } else {
          has_edges = true;
        }
      }
      word += side.plan.lanes;
      if (word >= words) {
        word = lane;
        number += rows_apart;
      }
    }
#pragma unroll
    for (int i = 0; i < kInFlight; ++i) {
      if (to[i] == nullptr) continue;
      if (side.plan.rows == DepthwiseRows::time) {
#pragma unroll
        for (int j = 0; j < kPackWords; ++j) reinterpret_cast<std::uint32_t*>(to[i])[j] = loaded[i].values[j];
      } else {
        store_16_bytes(to[i], &loaded[i]);
      }
    }
  }
  if (!has_edges) return;
    // Words that reach out of the input's memory: element by element.
#pragma unroll 1
  for (number = static_cast<int>(threadIdx.x) >> side.plan.lanes_shift; number < rows; number += rows_apart) {
    const auto row = side.row(number, channels, first_time, times);
#pragma unroll 1
    for (word = lane; word < words; word += side.plan.lanes) {
      const int first = word * kCount;
      const auto* const from = reinterpret_cast<const char*>(row.global + first);
      if (from >= span.begin && from + 16 <= span.end) continue;
      T elements[kCount] = {};
#pragma unroll
      for (int j = 0; j < kCount; ++j) {
        if (first + j >= row.first && first + j < row.end) elements[j] = row.global[first + j];
      }
#pragma unroll
      for (int j = 0; j < kCount; ++j) {
        if (first + j >= row.first && first + j < row.end) row.shared[first + j] = elements[j];
      }
    }
  }
}

/// Writes times [0, times) of `channels` channels.
template <class T>
__device__ __forceinline__ void store_tile(const TileSide<T, T>& side, int channels, int times) {
  constexpr int kCount = Vector<T>::kCount;
  if (side.plan.rows == DepthwiseRows::none) {
    side.each_element(channels, 0, times, [&](int channel, int time) {
      side.global[channel * side.channel_stride + time * side.time_stride] = side.element(channel, time);
    });
    return;
  }
  const int lane = static_cast<int>(threadIdx.x) & (side.plan.lanes - 1);
  const int rows_apart = kDepthwiseThreads >> side.plan.lanes_shift;
  const int rows = side.rows(channels, 0, times), words = side.words(channels, times);
#pragma unroll 1
  for (int number = static_cast<int>(threadIdx.x) >> side.plan.lanes_shift; number < rows;
       number += rows_apart) {
    const auto row = side.row(number, channels, 0, times);
#pragma unroll 2
    for (int word = lane; word < words; word += side.plan.lanes) {
      const int first = word * kCount;
      if (first >= row.end) break;
      const T* const from = row.shared + first;
      T* const to = row.global + first;
      if (first >= row.first && first + kCount <= row.end) {
        Words pack;
        if (side.plan.rows == DepthwiseRows::time) {
#pragma unroll
          for (int j = 0; j < kPackWords; ++j)
            pack.values[j] = reinterpret_cast<const std::uint32_t*>(from)[j];
        } else {
          load_16_bytes(&pack, from);
        }
        store_global_16_bytes(to, &pack, false);
      } else {
#pragma unroll
        for (int j = 0; j < kCount; ++j) {
          if (first + j >= row.first && first + j < row.end) to[j] = from[j];
        }
      }
    }
  }
}

}  // namespace relayout::RELAYOUT_BACKEND
