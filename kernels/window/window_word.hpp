// A word of the output of the window kernel for any strides: which elements it has, and where they lie in
// shared memory.
#pragma once

#include <cstdint>

#include "core/window_params.hpp"
#include "kernel_language.hpp"
#include "kernels/divide.hpp"

namespace relayout::RELAYOUT_BACKEND {

/// Where a block's tile lies.
struct TileBounds {
  int rest;      // positions from the tile's first to its last
  int lower;     // the least position that exists, from the tile's first
  int channels;  // of the tile
};

/// A word of kCount elements of the tile's first unit: where it goes, and where its elements are. kCount is 1
/// where the elements of a line do not lie side by side, or where lines are so short that most words would be
/// cut.
template <class To, int kCount>
struct UnitWord {
  To* out;
  int places[kCount];    // in shared memory
  unsigned present = 0;  // bit i: element i belongs to the tile
  int channel;           // of the line
  int first;             // position of element 0, from the unit's first
  unsigned further = 0;  // bits 2 * i and up: positions from there to element i's

  __device__ __forceinline__ UnitWord(const WindowParams& p, const TileBounds& bounds, To* tile_out,
                                      std::uint32_t column) {
    const WindowTile& t = p.tile;
    std::uint32_t word = column;
    std::uint32_t inner = split(word, t.by_line_words);
    const int outer = static_cast<int>(split(inner, t.by_inner));
    int position = 0, tap = static_cast<int>(inner);
    channel = 0;
    if (t.lines == WindowLines::positions) {
      channel = outer;
    } else {
      position = outer;
    }
    if (t.lines == WindowLines::elements) {
      const bool positions_inside = p.order == WriteOrder::position;
      set_column(p, positions_inside ? static_cast<std::uint32_t>(outer) : inner, tap, channel);
      if (positions_inside) position = static_cast<int>(inner);
    }
    const auto times = [](int number, std::int64_t stride) {
      return static_cast<std::uint32_t>(number) * stride;  // fewer instructions than of signed numbers
    };
    out = tile_out + times(position, p.out_position) + times(tap, p.out_tap) + times(channel, p.out_channel);
    const int begin =
        static_cast<int>(word) * kCount -  // of the word within its line
        (static_cast<int>(reinterpret_cast<std::uintptr_t>(out) / sizeof(To)) & (t.line_alignment - 1));
    out += begin;
    if (t.lines == WindowLines::stream || t.lines == WindowLines::rows) {
      take_columns(p, bounds, position, begin);
    } else {
      take_neighbours(p, bounds, position, tap, begin);
    }
  }

  static constexpr unsigned kAll = (1u << kCount) - 1;
  __device__ __forceinline__ int position(int i) const {
    return first + static_cast<int>(further >> (2 * i) & 3);
  }

 private:
  __device__ __forceinline__ static int place_of(const WindowParams& p, int position, int tap, int channel) {
    const WindowTile& t = p.tile;
    return ((position + t.positions_before) * static_cast<int>(p.stride) +
            tap * static_cast<int>(p.dilation)) *
               t.time_pitch +
           channel * t.channel_pitch;
  }

  /// Keeps those elements of the word that are numbers 0 to `count` of something, where its first one is
  /// number `begin`. The places of the others are read, too, so they become 0.
  __device__ __forceinline__ void cut(int begin, int count) {
#pragma unroll
    for (int i = 0; i < kCount; ++i) {
      const bool exists = begin + i >= 0 && begin + i < count;
      present |= exists ? 1u << i : 0;
      places[i] = exists ? places[i] : 0;
    }
  }

  /// The elements of a word lie equally far apart, as do those of its line.
  __device__ __forceinline__ void take_neighbours(const WindowParams& p, const TileBounds& bounds,
                                                  int position, int tap, int begin) {
    const WindowTile& t = p.tile;
    const bool along_time = t.lines == WindowLines::positions;
    const int step = along_time ? static_cast<int>(p.stride) * t.time_pitch : t.channel_pitch;
    first = along_time ? position + begin : position;
    const int place = place_of(p, position, tap, channel) + begin * step;
#pragma unroll
    for (int i = 0; i < kCount; ++i) places[i] = place + i * step;
    if (along_time) {
      further = 0b11100100;
      // Which positions exist is asked for each unit, or for all of them here.
      const bool alike = t.unit_channels != 0;
      cut(alike ? first - bounds.lower : 0, alike                       ? bounds.rest - bounds.lower
                                            : channel < bounds.channels ? kCount
                                                                        : 0);
    } else {
      cut(begin, bounds.channels - channel);
    }
  }

  /// The elements run over the columns of a position, in a stream from one position to the next.
  __device__ __forceinline__ void take_columns(const WindowParams& p, const TileBounds& bounds, int position,
                                               int begin) {
    const WindowTile& t = p.tile;
    const bool stream = t.lines == WindowLines::stream, tap_inner = p.order == WriteOrder::tap;
    std::uint32_t element = static_cast<std::uint32_t>(begin > 0 ? begin : 0);
    if (stream) {
      element = static_cast<std::uint32_t>(begin + t.positions_before * static_cast<int>(t.by_row.value));
      position = static_cast<int>(split(element, t.by_row)) - t.positions_before;
    }
    first = position;
    int tap;
    set_column(p, element, tap, channel);
    int place = place_of(p, position, tap, channel);
    // Steps from an element to the next, from the last of the fastest axis, and from the last of a position.
    const int taps = static_cast<int>(p.taps), tap_step = static_cast<int>(p.dilation) * t.time_pitch;
    const int extent = tap_inner ? taps : p.tile_channels, step = tap_inner ? tap_step : t.channel_pitch;
    const int rows = tap_inner ? p.tile_channels : taps,
              row_step = (tap_inner ? t.channel_pitch : tap_step) - (extent - 1) * step;
    const int position_step = static_cast<int>(p.stride) * t.time_pitch -
                              (rows - 1) * (tap_inner ? t.channel_pitch : tap_step) - (extent - 1) * step;
    int fastest = tap_inner ? tap : channel, row = tap_inner ? channel : tap;
    unsigned passed = 0;  // positions
#pragma unroll
    for (int i = 0; i < kCount; ++i) {
      places[i] = place;
      further |= passed << (2 * i);
      if (!stream && begin + i < 0) continue;
      int to_next = step;
      if (++fastest == extent) {
        fastest = 0;
        to_next = row_step;
        if (++row == rows && stream) {
          row = 0;
          ++passed;
          to_next = position_step;
        }
      }
      place += to_next;
    }
    if (stream) {
      present = kAll;
    } else {
      cut(begin, bounds.channels * taps);
    }
  }

  /// The columns of a position in the output's order.
  __device__ __forceinline__ static void set_column(const WindowParams& p, std::uint32_t column, int& tap,
                                                    int& channel) {
    const auto outer = static_cast<int>(split(column, p.tile.by_fastest));
    const auto fastest = static_cast<int>(column);
    tap = p.order == WriteOrder::tap ? fastest : outer;
    channel = p.order == WriteOrder::tap ? outer : fastest;
  }
};

}  // namespace relayout::RELAYOUT_BACKEND
