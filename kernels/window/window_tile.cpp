// window, for any strides, alignments and types:
//   out[b, g, t, k, c] = padded in[b, g * channels + c, t * stride + k * dilation - pad_left]
//
// A block takes a tile of positions x channels of one batch and group. Shared memory holds the samples under
// it, converted and padded, [channel][sample] or [sample][channel] as the input has them (window_fill.hpp).
// Then lanes write the words of 4 bytes of the output's lines, wherever those begin. The elements of a word
// lie anywhere in the tile; a thread finds their places once (window_word.hpp) and uses them for every unit
// of the tile.
//
// Global traffic: each input element once plus the halo, each output element once. Words that a line's end
// cuts are written by element.
#include <type_traits>

#include "kernels/backend_kernels.hpp"
#include "kernels/vector.hpp"
#include "kernels/window/window_fill.hpp"
#include "kernels/window/window_grid.hpp"
#include "kernels/window/window_word.hpp"
#include "launch.hpp"

namespace relayout::RELAYOUT_BACKEND {
namespace {

/// Writes a word of every unit of the tile that is this thread's.
template <class To, int kCount>
__device__ __forceinline__ void write_units(const WindowParams& p, const TileBounds& bounds,
                                            const UnitWord<To, kCount>& word, const To* tile,
                                            int first_unit) {
  constexpr int kUnitsAtOnce = kCount == 4 ? 2 : 4;  // so that their elements find room in registers
  const WindowTile& t = p.tile;
  // Units that have the whole word: along channels those that have its channel, and along positions those
  // whose positions all exist. A unit has more positions than lie before the tile.
  const bool along_channels = t.unit_channels != 0;
  const int begin = !along_channels && word.first < bounds.lower ? 1 : 0,
            room = along_channels ? bounds.channels - word.channel : bounds.rest - word.position(kCount - 1);
  int end = 0;
  if (room > 0) {
    auto most = static_cast<std::uint32_t>(room) + t.by_unit.value - 1;
    most = split(most, t.by_unit);
    end = static_cast<int>(most) < t.units ? static_cast<int>(most) : t.units;
  }
  const int step = t.parallel_units;
  int unit = first_unit;
  // Each element has a place of its own that moves on: one instruction for it, and its load needs no other.
  int places[kCount];
#pragma unroll
  for (int i = 0; i < kCount; ++i) places[i] = word.places[i] + unit * t.unit_samples;
  To* out = word.out + unit * t.unit_out;
  const int source_step = step * t.unit_samples;
  const std::int64_t out_step = step * t.unit_out;
  const auto move_on = [&](int units) {
#pragma unroll
    for (int& place : places) place += units * source_step;
    unit += units * step;
  };
  // At the ends of the signal.
  const auto write_existing = [&] {
#pragma unroll
    for (int i = 0; i < kCount; ++i) {
      const int position = unit * t.unit_positions + word.position(i);
      if ((word.present >> i & 1) != 0 && position >= bounds.lower && position < bounds.rest)
        out[i] = tile[places[i]];
    }
    out += out_step;
    move_on(1);
  };
  const bool whole = word.present == word.kAll;
  const unsigned single = whole ? 0 : word.present;
  const auto write = [&](auto count, auto cut) {
    constexpr int kUnits = decltype(count)::value;
    Vector<To, kCount> words[kUnits];
    To* outs[kUnits];
#pragma unroll
    for (int k = 0; k < kUnits; ++k) {
#pragma unroll
      for (int i = 0; i < kCount; ++i) words[k].values[i] = tile[places[i] + k * source_step];
      outs[k] = out;
      out += out_step;
    }
    move_on(kUnits);
#pragma unroll
    for (int k = 0; k < kUnits; ++k) {
      if (!decltype(cut)::value || whole) store_vector(outs[k], words[k], false);
      if constexpr (decltype(cut)::value) {
#pragma unroll
        for (int i = 0; i < kCount; ++i) {
          if ((single >> i & 1) != 0) outs[k][i] = words[k].values[i];
        }
      }
    }
  };
  const auto write_all = [&](auto cut) {
#pragma unroll 1
    while (unit + (kUnitsAtOnce - 1) * step < end) write(std::integral_constant<int, kUnitsAtOnce>(), cut);
#pragma unroll 1
    while (unit < end) write(std::integral_constant<int, 1>(), cut);
  };
#pragma unroll 1
  while (unit < begin) write_existing();
  // Lanes with whole words and with words that their line's end cuts go the same way.
  if (kCount > 1 && any_beside(!whole)) {
    write_all(std::true_type());
  } else {
    write_all(std::false_type());
  }
#pragma unroll 1
  while (!along_channels && unit < t.units && unit * t.unit_positions + word.first < bounds.rest)
    write_existing();
}

template <int kCount, class To>
__device__ __forceinline__ void write_tile(const WindowParams& p, const TileBounds& bounds, To* out,
                                           const To* tile) {
  const WindowTile& t = p.tile;
  std::uint32_t column = threadIdx.x;
  const auto first_unit = t.parallel_units > 1 ? static_cast<int>(split(column, t.by_unit_words)) : 0;
  if (first_unit >= t.parallel_units) return;
#pragma unroll 1
  for (; column < static_cast<std::uint32_t>(t.unit_words); column += kWindowThreads) {
    const UnitWord<To, kCount> word(p, bounds, out, column);
    if (word.present != 0) write_units(p, bounds, word, tile, first_unit);
  }
}

template <class From, class To>
__global__ RELAYOUT_LAUNCH_BOUNDS(kWindowThreads, kWindowTileBlocks) void window_tile_kernel(WindowParams p,
                                                                                             WindowGrid grid,
                                                                                             To padding) {
  RELAYOUT_DYNAMIC_SHARED(To, tile);
  const WindowTile& t = p.tile;
  const auto [channel, position, group, batch] = tile_index(p, grid);
  if (is_spare(batch, p.batch)) return;
  const std::int64_t rest = p.positions - position;
  TileBounds bounds;
  bounds.rest = static_cast<int>(rest < p.tile_positions ? rest : p.tile_positions);
  bounds.lower = position == 0 ? 0 : -t.positions_before;
  bounds.channels =
      static_cast<int>(p.channels - channel < p.tile_channels ? p.channels - channel : p.tile_channels);

  const From* in =
      static_cast<const From*>(p.in) + batch * p.in_batch + (group * p.channels + channel) * p.in_channel;
  const std::int64_t first = (position - t.positions_before) * p.stride - p.pad_left;
  tile = as_shared_address(tile + fill_shift<From, To>(p, in, first));
  const int samples = (bounds.rest + t.positions_before - 1) * static_cast<int>(p.stride) +
                      static_cast<int>((p.taps - 1) * p.dilation) + 1;
#pragma unroll 1
  for (int done = 0; done < samples;) {
    const PadRun run = pad_run(p.mode, first + done, p.length, p.reflect_length, samples - done);
    fill_run<From, To>(p, in, bounds.channels, run, tile, done * t.time_pitch, padding);
    done += static_cast<int>(run.count);
  }
  __syncthreads();

  To* out = static_cast<To*>(p.out) + batch * p.out_batch + group * p.out_group + channel * p.out_channel +
            position * p.out_position;
  constexpr int kInWord = sizeof(To) < 4 ? 4 / static_cast<int>(sizeof(To)) : 1;
  if (kInWord > 1 && t.lines == WindowLines::elements) {
    write_tile<1>(p, bounds, out, tile);
  } else {
    write_tile<kInWord>(p, bounds, out, tile);
  }
}

}  // namespace

void launch_window_tile(const LaunchContext& context, const WindowParams& p) {
  const WindowGrid grid = window_grid(p);
  const NumberedBlocks shape = numbered_blocks(grid.blocks, kWindowThreads, p.shared_bytes);
  visit_window_types(p, [&](auto from, auto padding) {
    using From = typename decltype(from)::type;
    using To = decltype(padding);
    launch("window", context, shape, window_tile_kernel<From, To>, p, grid, padding);
  });
}

}  // namespace relayout::RELAYOUT_BACKEND
