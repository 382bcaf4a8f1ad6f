// The samples under a block's outputs, from the input to shared memory: padded, converted, channels last.
#pragma once

#include "core/conv_params.hpp"
#include "core/pad_index.hpp"
#include "kernels/divide.hpp"
#include "kernels/element_ops.hpp"
#include "kernels/vector.hpp"

namespace relayout::RELAYOUT_BACKEND {

constexpr int kPack = 8;                          // elements of 16 bits
constexpr int kRowPacks = kConvChannels / kPack;  // of a row in shared memory

/// Where pack `pack` of row `row` lies, in elements.
__device__ __forceinline__ int slot_of(int row, int pack) {
  const int turn = (row & 1) << 2 | (row >> 1 & 3);
  return (row * kRowPacks + (pack ^ turn)) * kPack;
}

/// What a block loads at a time: `rows` samples from `first` on, kConvChannels channels from `in` on, of
/// which `channels` exist.
template <class From>
struct Source {
  const From* in;
  std::int64_t first;
  int rows, channels;
};

/// Row and pack of an item: lanes run along the input's faster axis.
__device__ __forceinline__ void place_item(const ConvParams& p, int item, int& row, int& pack) {
  if (p.along_time) {
    std::uint32_t rest = static_cast<std::uint32_t>(item);
    pack = static_cast<int>(split(rest, p.rows));
    row = static_cast<int>(rest);
  } else {
    row = item / kRowPacks;
    pack = item % kRowPacks;
  }
}

/// Samples that all lie in the signal, all channels: a thread takes packs of a row, kAhead at a time.
template <int kThreads, int kAhead, class From, class T>
__device__ __forceinline__ void load_whole(const ConvParams& p, const Source<From>& from, T* tile) {
  const int items = p.tile_samples * kRowPacks;
  for (int start = static_cast<int>(threadIdx.x); start < items; start += kAhead * kThreads) {
    From loaded[kAhead][kPack] = {};
    int row[kAhead], pack[kAhead];
#pragma unroll
    for (int i = 0; i < kAhead; ++i) {
      place_item(p, start + i * kThreads, row[i], pack[i]);
      if (start + i * kThreads >= items || row[i] >= from.rows) continue;
      const From* channel =
          from.in + (from.first + row[i] * p.row_samples) * p.in_time + pack[i] * kPack * p.in_channel;
#pragma unroll
      for (int c = 0; c < kPack; ++c) loaded[i][c] = channel[c * p.in_channel];
    }
#pragma unroll
    for (int i = 0; i < kAhead; ++i) {
      if (start + i * kThreads >= items || row[i] >= from.rows) continue;
      Vector<T> converted;
#pragma unroll
      for (int c = 0; c < kPack; ++c) converted.values[c] = convert<T>(loaded[i][c]);
      store_vector(tile + slot_of(row[i], pack[i]), converted);
    }
  }
}

/// At the ends of the signal and of the channels. Channels beyond the last are 0: so are their weights, and
/// of anything but a number the product would not be.
template <int kThreads, class From, class T>
__device__ __forceinline__ void load_border(const ConvParams& p, const Source<From>& from, T padding,
                                            T* tile) {
#pragma unroll 1
  for (int item = static_cast<int>(threadIdx.x); item < p.tile_samples * kRowPacks; item += kThreads) {
    int row, pack;
    place_item(p, item, row, pack);
    if (row >= from.rows) continue;
    const std::int64_t sample =
        pad_index(p.mode, from.first + row * p.row_samples, p.length, p.reflect_length);
    const int channels = from.channels - pack * kPack;  // of the pack: none, or more than it has room for
    From loaded[kPack] = {};
    if (sample >= 0 && channels > 0) {
      const From* channel = from.in + sample * p.in_time + pack * kPack * p.in_channel;
#pragma unroll
      for (int c = 0; c < kPack; ++c) {
        loaded[c] = *channel;
        if (c + 1 < channels) channel += p.in_channel;  // else the last one again
      }
    }
    Vector<T> converted;
#pragma unroll
    for (int c = 0; c < kPack; ++c) {
      const T value = sample >= 0 ? convert<T>(loaded[c]) : padding;
      converted.values[c] = c < channels ? value : T{0};
    }
    store_vector(tile + slot_of(row, pack), converted);
  }
}

template <int kThreads, int kAhead, class From, class T>
__device__ __forceinline__ void load_samples(const ConvParams& p, const Source<From>& from, T padding,
                                             T* tile) {
  const bool inside = from.first >= 0 && from.first + (from.rows - 1) * p.row_samples < p.length;
  if (inside && from.channels == kConvChannels) {
    load_whole<kThreads, kAhead>(p, from, tile);
  } else {
    load_border<kThreads>(p, from, padding, tile);
  }
}

}  // namespace relayout::RELAYOUT_BACKEND
