// The first half of the window kernel for any strides: the samples under a tile go into shared memory,
// converted and padded.
//
// Sources come in runs of neighbouring samples (core/pad_index.hpp): one for a tile within the signal, a few
// at its ends, one for a tile that lies wholly in the padding. Within a run the memory is read in whole
// words, wherever rows begin; each element of a word has its own place in shared memory.
#pragma once

#include <cstdint>
#include <type_traits>

#include "core/pad_index.hpp"
#include "core/window_geometry.hpp"
#include "kernels/divide.hpp"
#include "kernels/element_ops.hpp"
#include "kernels/words.hpp"

namespace relayout::RELAYOUT_BACKEND {

/// Rows of the input that run alike, and where their elements go.
template <class From, class To>
struct FillRows {
  const From* in;         // the first row's first element
  std::int64_t row_step;  // from row to row
  std::uint32_t rows, count;
  To* tile;  // the place of that element
  int tile_row, tile_step;
};

/// Words or elements that a thread has under way.
constexpr int kFillLoads = 4;

/// A word of the input, kept as one: an array of its elements would take a register for each.
template <class From>
struct FillWord {
  static constexpr int kCount = sizeof(From) < 4 ? 4 / static_cast<int>(sizeof(From)) : 1;
  static constexpr int kWords = sizeof(From) == 8 ? 2 : 1;
  std::uint32_t words[kWords] = {};

  /// Elements beyond [low, high) are not read; `whole`: there are none.
  __device__ __forceinline__ void load(const From* address, const From* low, const From* high, bool whole) {
    if (kCount == 1 || whole || (address >= low && address + kCount <= high)) {
      load_words<kWords>(words, address);
    } else if constexpr (kCount > 1) {
#pragma unroll 1
      for (int i = 0; i < kCount; ++i) {
        if (address + i < low || address + i >= high) continue;
        std::uint32_t bits = 0;
        memcpy(&bits, address + i, sizeof(From));
        words[0] |= bits << (i * 8 * static_cast<int>(sizeof(From)));
      }
    }
  }

  __device__ __forceinline__ From value(int i) const {
    From element;
    if constexpr (kCount > 1) {
      using Bits = std::conditional_t<sizeof(From) == 1, std::uint8_t, std::uint16_t>;
      const auto bits = static_cast<Bits>(words[0] >> (i * 8 * static_cast<int>(sizeof(From))));
      memcpy(&element, &bits, sizeof element);
    } else {
      memcpy(&element, words, sizeof element);
    }
    return element;
  }
};

/// Reads whole words along rows of neighbouring elements. by_words: words of a row where `known`.
template <class From, class To>
__device__ __forceinline__ void fill_words(const FillRows<From, To>& r, const From* low, const From* high,
                                           const Divisor& by_words, bool known) {
  constexpr int kCount = FillWord<From>::kCount;
  const std::uint32_t row_words = (r.count + (kCount - 1) + (kCount - 1)) / kCount;
  const std::uint32_t items = r.rows * row_words;
  // Whether no word of any row reaches beyond the tensor.
  const std::int64_t last = (r.rows - 1) * r.row_step;
  const From* least = r.in + (last < 0 ? last : 0);
  const From* most = r.in + (last < 0 ? 0 : last) + r.count;
  const bool whole = least - low >= kCount && high - most >= kCount;
#pragma unroll 1
  for (std::uint32_t first = threadIdx.x; first < items; first += kFillLoads * kWindowThreads) {
    FillWord<From> words[kFillLoads];
    int begin[kFillLoads];  // of the word within its row
    int place[kFillLoads] = {};
#pragma unroll
    for (int load = 0; load < kFillLoads; ++load) {
      std::uint32_t word = first + load * kWindowThreads, row = 0;
      begin[load] = static_cast<int>(r.count);
      if (word >= items) continue;
      if (known) {
        row = split(word, by_words);
      } else if (r.rows > 1) {
        row = word / row_words;
        word -= row * row_words;
      }
      const From* address = r.in + row * r.row_step;
      begin[load] = static_cast<int>(word) * kCount;
      if constexpr (kCount > 1) {
        begin[load] -= static_cast<int>(reinterpret_cast<std::uintptr_t>(address) / sizeof(From) % kCount);
      }
      place[load] = static_cast<int>(row) * r.tile_row + begin[load] * r.tile_step;
      if (begin[load] < static_cast<int>(r.count)) words[load].load(address + begin[load], low, high, whole);
    }
#pragma unroll
    for (int load = 0; load < kFillLoads; ++load) {
      if (begin[load] >= 0 && begin[load] + kCount <= static_cast<int>(r.count) && r.tile_step == 1) {
#pragma unroll
        for (int i = 0; i < kCount; ++i) r.tile[place[load] + i] = convert<To>(words[load].value(i));
        continue;
      }
#pragma unroll
      for (int i = 0; i < kCount; ++i) {
        const int element = begin[load] + i;
        if (element >= 0 && element < static_cast<int>(r.count))
          r.tile[place[load] + i * r.tile_step] = convert<To>(words[load].value(i));
      }
    }
  }
}

/// Reads elements col_step apart. by_count: elements of a row where `known`.
template <class From, class To>
__device__ __forceinline__ void fill_elements(const FillRows<From, To>& r, std::int64_t col_step,
                                              const Divisor& by_count, bool known) {
  const std::uint32_t items = r.rows * r.count;
#pragma unroll 1
  for (std::uint32_t first = threadIdx.x; first < items; first += kFillLoads * kWindowThreads) {
    From values[kFillLoads] = {};
    int place[kFillLoads] = {};
#pragma unroll
    for (int load = 0; load < kFillLoads; ++load) {
      std::uint32_t column = first + load * kWindowThreads, row = 0;
      if (column >= items) continue;
      if (known) {
        row = split(column, by_count);
      } else if (r.rows > 1) {
        row = column / r.count;
        column -= row * r.count;
      }
      place[load] = static_cast<int>(row) * r.tile_row + static_cast<int>(column) * r.tile_step;
      values[load] = r.in[row * r.row_step + column * col_step];
    }
#pragma unroll
    for (int load = 0; load < kFillLoads; ++load) {
      if (first + load * kWindowThreads < items) r.tile[place[load]] = convert<To>(values[load]);
    }
  }
}

template <class From, class To>
__device__ __forceinline__ void fill_constant(const FillRows<From, To>& r, To padding,
                                              const Divisor& by_count, bool known) {
#pragma unroll 1
  for (std::uint32_t item = threadIdx.x; item < r.rows * r.count; item += kWindowThreads) {
    std::uint32_t column = item, row = 0;
    if (known) {
      row = split(column, by_count);
    } else if (r.rows > 1) {
      row = column / r.count;
      column -= row * r.count;
    }
    r.tile[static_cast<int>(row) * r.tile_row + static_cast<int>(column) * r.tile_step] = padding;
  }
}

/// One run of samples; `tile` is the place of its first.
template <class From, class To>
__device__ __forceinline__ void fill_run(const WindowParams& p, const From* in, std::uint32_t channels,
                                         const PadRun& run, To* tile, To padding) {
  const WindowTile& t = p.tile;
  const auto count = static_cast<std::uint32_t>(run.count);
  const From* first = in + (run.source < 0 ? 0 : run.source * p.in_time);
  const std::int64_t time_step = run.step * p.in_time;
  const bool along_time = t.channel_pitch != 1;
  FillRows<From, To> rows;
  if (along_time) {
    rows = {first, p.in_channel, channels, count, tile, t.channel_pitch, t.time_pitch};
  } else {
    rows = {first, time_step, count, channels, tile, t.time_pitch, t.channel_pitch};
  }
  const bool known = rows.count == static_cast<std::uint32_t>(t.fill_run);
  if (run.source < 0) return fill_constant(rows, padding, t.by_fill_run, known);
  const From* low = static_cast<const From*>(p.in) + t.in_low;
  const From* high = static_cast<const From*>(p.in) + t.in_high;
  if (t.fill == WindowFill::flat && run.step == 1) {
    const std::uint32_t run_length = (count - 1) * t.time_pitch + channels;
    fill_words<From, To>({first, 0, 1, run_length, tile, 0, 1}, low, high, t.by_fill_words, false);
  } else if (t.fill == WindowFill::time && along_time && run.step != 0) {
    if (run.step < 0) {
      rows.in -= count - 1;
      rows.tile += (count - 1) * t.time_pitch;
      rows.tile_step = -t.time_pitch;
    }
    fill_words(rows, low, high, t.by_fill_words, known);
  } else if (t.fill == WindowFill::channels) {
    fill_words(rows, low, high, t.by_fill_words, known);
  } else {
    fill_elements(rows, along_time ? time_step : p.in_channel, t.by_fill_run, known);
  }
}

}  // namespace relayout::RELAYOUT_BACKEND
