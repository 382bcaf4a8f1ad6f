// window, for any strides, alignments and types:
//   out[b, g, t, k, c] = padded in[b, g * channels + c, t * stride + k * dilation - pad_left]
//
// A block takes a tile of positions x channels of one batch and group. Shared memory holds the samples under
// it, converted and padded, [channel][sample] or [sample][channel] as the input has them (window_fill.hpp).
// Then lanes write the words of 4 bytes of the output's lines, wherever those begin. The elements of a word
// lie anywhere in the tile; a thread finds their places once and uses them for every unit of the tile.
//
// Global traffic: each input element once plus the halo, each output element once. Words that a line's end
// cuts are written by element.
#include <type_traits>

#include "kernels/backend_kernels.hpp"
#include "kernels/vector.hpp"
#include "kernels/window/window_fill.hpp"
#include "kernels/window/window_grid.hpp"
#include "launch.hpp"

namespace relayout::RELAYOUT_BACKEND {
namespace {

/// Where a block's tile lies.
struct TileBounds {
  int rest;      // positions from the tile's first to its last
  int lower;     // the least position that exists, from the tile's first
  int channels;  // of the tile
};

/// A word of the tile's first unit: where it goes, and where its elements are.
template <class To>
struct UnitWord {
  static constexpr int kCount = sizeof(To) < 4 ? 4 / static_cast<int>(sizeof(To)) : 1;
  To* out;
  int places[kCount];       // in shared memory
  int positions[kCount];    // from the unit's first
  unsigned present = 0;     // bit i: element i belongs to the tile
  int first = 0, last = 0;  // positions of its elements

  __device__ __forceinline__ UnitWord(const WindowParams& p, const TileBounds& bounds, To* tile_out,
                                      std::uint32_t column) {
    const WindowTile& t = p.tile;
    std::uint32_t word = column;
    std::uint32_t inner = split(word, t.by_line_words);
    const int outer = static_cast<int>(split(inner, t.by_inner));
    int position = 0, tap = static_cast<int>(inner), channel = 0;
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
    out = tile_out + position * p.out_position + tap * p.out_tap + channel * p.out_channel;
    int begin = static_cast<int>(word) * kCount;  // of the word within its line
    if constexpr (kCount > 1) {
      if (t.lines != WindowLines::elements)
        begin -= static_cast<int>(reinterpret_cast<std::uintptr_t>(out) / sizeof(To) % kCount);
    }
    out += begin;
    if (t.lines == WindowLines::stream || t.lines == WindowLines::rows) {
      take_columns(p, bounds, position, begin);
    } else {
      take_neighbours(p, bounds, position, tap, channel, begin);
    }
  }

  __device__ __forceinline__ bool whole() const { return present == (1u << kCount) - 1; }

 private:
  __device__ __forceinline__ static int place_of(const WindowParams& p, int position, int tap, int channel) {
    const WindowTile& t = p.tile;
    return ((position + t.positions_before) * static_cast<int>(p.stride) +
            tap * static_cast<int>(p.dilation)) *
               t.time_pitch +
           channel * t.channel_pitch;
  }

  __device__ __forceinline__ void take(int i, bool exists, int place, int position) {
    places[i] = exists ? place : 0;  // which is read, too
    positions[i] = position;
    if (!exists) return;
    if (present == 0) first = position;
    last = position;
    present |= 1u << i;
  }

  /// The elements of a word lie equally far apart, as do those of its line.
  __device__ __forceinline__ void take_neighbours(const WindowParams& p, const TileBounds& bounds,
                                                  int position, int tap, int channel, int begin) {
    const WindowTile& t = p.tile;
    const bool along_time = t.lines == WindowLines::positions;
    if (along_time) {
      position += begin;
    } else {
      channel += begin;
    }
    const int step = along_time ? static_cast<int>(p.stride) * t.time_pitch : t.channel_pitch;
    const int place = place_of(p, position, tap, channel);
    const int count = t.lines == WindowLines::elements ? 1 : kCount;
#pragma unroll
    for (int i = 0; i < kCount; ++i) {
      const int at = along_time ? channel : channel + i;
      take(i, i < count && at >= 0 && at < bounds.channels, place + i * step,
           along_time ? position + i : position);
    }
  }

  /// The elements run over the columns of a position, in a stream from one position to the next.
  __device__ __forceinline__ void take_columns(const WindowParams& p, const TileBounds& bounds, int position,
                                               int begin) {
    const WindowTile& t = p.tile;
    const bool stream = t.lines == WindowLines::stream, tap_inner = p.order == WriteOrder::tap;
    const int taps = static_cast<int>(p.taps);
    std::uint32_t element = static_cast<std::uint32_t>(begin > 0 ? begin : 0);
    if (stream) {
      element = static_cast<std::uint32_t>(begin + t.positions_before * static_cast<int>(t.by_row.value));
      position = static_cast<int>(split(element, t.by_row)) - t.positions_before;
    }
    int tap, channel;
    set_column(p, element, tap, channel);
#pragma unroll
    for (int i = 0; i < kCount; ++i) {
      const bool begun = stream || begin + i >= 0;
      take(i, begun && channel < bounds.channels && tap < taps, place_of(p, position, tap, channel),
           position);
      if (!begun) continue;
      if (tap_inner) {
        if (++tap == taps) {
          tap = 0;
          ++channel;
        }
      } else if (++channel == p.tile_channels) {
        channel = 0;
        ++tap;
      }
      if (stream && (tap_inner ? channel == p.tile_channels : tap == taps)) {
        tap = channel = 0;
        ++position;
      }
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

template <class To>
__device__ __forceinline__ void write_units(const WindowParams& p, const TileBounds& bounds,
                                            const UnitWord<To>& word, const To* tile, int first_unit) {
  constexpr int kCount = UnitWord<To>::kCount;
  constexpr int kUnitsAtOnce = kCount == 4 ? 2 : 4;  // so that their elements find room in registers
  const WindowTile& t = p.tile;
  const int unit_samples = t.unit_positions * static_cast<int>(p.stride) * t.time_pitch;
  const std::int64_t unit_out = t.unit_positions * p.out_position;
  const bool whole = word.whole();
  // At the ends of the signal.
  const auto write_existing = [&](int unit) {
#pragma unroll
    for (int i = 0; i < kCount; ++i) {
      const int position = unit * t.unit_positions + word.positions[i];
      if ((word.present >> i & 1) != 0 && position >= bounds.lower && position < bounds.rest)
        word.out[unit * unit_out + i] = tile[word.places[i] + unit * unit_samples];
    }
  };
  // Units whose positions all exist. A unit has more positions than lie before the tile.
  const int begin = word.first < bounds.lower ? 1 : 0, room = bounds.rest - word.last;
  int end = room <= 0 ? 0 : (room + t.unit_positions - 1) / t.unit_positions;
  if (end > t.units) end = t.units;
  const int step = t.parallel_units;
  int unit = first_unit;
#pragma unroll 1
  for (; unit < begin; unit += step) write_existing(unit);
  const To* source = tile + unit * unit_samples;
  To* out = word.out + unit * unit_out;
  const int source_step = step * unit_samples;
  const std::int64_t out_step = step * unit_out;
  const auto write = [&](auto count) {
    constexpr int kUnits = decltype(count)::value;
    Vector<To, kCount> words[kUnits];
#pragma unroll
    for (int k = 0; k < kUnits; ++k) {
#pragma unroll
      for (int i = 0; i < kCount; ++i) words[k].values[i] = source[word.places[i]];
      source += source_step;
    }
#pragma unroll
    for (int k = 0; k < kUnits; ++k) {
      if (whole) {
        store_vector(out, words[k], false);
      } else {
#pragma unroll
        for (int i = 0; i < kCount; ++i) {
          if ((word.present >> i & 1) != 0) out[i] = words[k].values[i];
        }
      }
      out += out_step;
    }
    unit += kUnits * step;
  };
#pragma unroll 1
  while (unit + (kUnitsAtOnce - 1) * step < end) write(std::integral_constant<int, kUnitsAtOnce>());
#pragma unroll 1
  while (unit < end) write(std::integral_constant<int, 1>());
#pragma unroll 1
  for (; unit < t.units && unit * t.unit_positions + word.first < bounds.rest; unit += step)
    write_existing(unit);
}

template <class From, class To>
__global__ __launch_bounds__(kWindowThreads) void window_tile_kernel(WindowParams p, WindowGrid grid,
                                                                     To padding) {
  RELAYOUT_DYNAMIC_SHARED(To, tile);
  const WindowTile& t = p.tile;
  const auto [channel, position, group, batch] = tile_index(p, grid);
  const std::int64_t rest = p.positions - position;
  TileBounds bounds;
  bounds.rest = static_cast<int>(rest < p.tile_positions ? rest : p.tile_positions);
  bounds.lower = position == 0 ? 0 : -t.positions_before;
  bounds.channels =
      static_cast<int>(p.channels - channel < p.tile_channels ? p.channels - channel : p.tile_channels);

  const From* in =
      static_cast<const From*>(p.in) + batch * p.in_batch + (group * p.channels + channel) * p.in_channel;
  const std::int64_t first = (position - t.positions_before) * p.stride - p.pad_left;
  const int samples = (bounds.rest + t.positions_before - 1) * static_cast<int>(p.stride) +
                      static_cast<int>((p.taps - 1) * p.dilation) + 1;
#pragma unroll 1
  for (int done = 0; done < samples;) {
    const PadRun run = pad_run(p.mode, first + done, p.length, p.reflect_length, samples - done);
    fill_run<From, To>(p, in, bounds.channels, run, tile + done * t.time_pitch, padding);
    done += static_cast<int>(run.count);
  }
  __syncthreads();

  To* out = static_cast<To*>(p.out) + batch * p.out_batch + group * p.out_group + channel * p.out_channel +
            position * p.out_position;
  std::uint32_t column = threadIdx.x;
  const auto first_unit = t.parallel_units > 1 ? static_cast<int>(split(column, t.by_unit_words)) : 0;
  if (first_unit >= t.parallel_units) return;
#pragma unroll 1
  for (; column < static_cast<std::uint32_t>(t.unit_words); column += kWindowThreads) {
    const UnitWord<To> word(p, bounds, out, column);
    if (word.present != 0) write_units(p, bounds, word, tile, first_unit);
  }
}

}  // namespace

void launch_window_tile(const LaunchContext& context, const WindowParams& p) {
  const WindowGrid grid = window_grid(p);
  LaunchShape shape;
  shape.blocks_x = grid.blocks;
  shape.threads_x = kWindowThreads;
  shape.shared_bytes = static_cast<std::size_t>(p.shared_bytes);
  visit_window_types(p, [&](auto from, auto padding) {
    using From = typename decltype(from)::type;
    using To = decltype(padding);
    launch("window", context, shape, window_tile_kernel<From, To>, p, grid, padding);
  });
}

}  // namespace relayout::RELAYOUT_BACKEND
