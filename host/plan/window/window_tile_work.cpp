#include "host/plan/window/window_tile_work.hpp"

#include <algorithm>
#include <cstdlib>

#include "core/integer_math.hpp"
#include "core/window_geometry.hpp"

namespace relayout::plan {
namespace {

constexpr std::int64_t kThreads = kWindowThreads;
constexpr std::int64_t kLanes = 32;
/// Half of them load while the others store.
constexpr double kNeededWarps = 40;
/// What is left of the counted speed where a word of the output is put together from narrower elements: by
/// the median of 120 random problems on an H200.
constexpr double kShareOfNarrow = 0.8;

std::int64_t bytes_of(DType type) { return static_cast<std::int64_t>(size_of(type)); }

/// So many items of a fill, each of so many accesses and instructions.
void count_items(double items, double accesses, double instructions, WindowWork& work) {
  work.accesses += items / kLanes * accesses;
  work.instructions += items / kLanes * instructions;
}

/// Rows of neighbouring elements; `unlike`: by how much more they lie apart in the tile than in the input.
void count_fill(const WindowParams& p, double rows, double count, std::int64_t unlike, WindowWork& work) {
  const std::int64_t wide_pack =
      window_fill_pack(static_cast<int>(bytes_of(p.in_type)), static_cast<int>(bytes_of(p.out_type)));
  const std::int64_t narrow =
      narrow_window_fill_pack(static_cast<int>(bytes_of(p.in_type)), static_cast<int>(bytes_of(p.out_type)));
  const bool wide = unlike % wide_pack == 0 && count >= static_cast<double>(2 * wide_pack * narrow);
  const auto pack = static_cast<double>(wide ? wide_pack : narrow);
  count_items(rows * count / pack, wide ? 8 : 1 + pack, wide ? 25 + pack : 22 + 3 * pack, work);
  count_items(rows * 2 * (pack - 1), 2, 30, work);
}

double read_of_elements(const WindowTuning& tuning, const WindowParams& p, double samples, double in_bytes) {
  const auto time = static_cast<double>(std::abs(p.in_time)),
             channel = static_cast<double>(std::abs(p.in_channel));
  const auto channels = static_cast<double>(p.tile_channels);
  const double step = std::min(32.0, in_bytes * (p.tile_channels == 1 ? time : std::min(time, channel)));
  return p.tile.channel_pitch != 1 ? read_cost(tuning, channels, samples * step)
                                   : read_cost(tuning, samples, channels * step);
}

double write_of_lines(const WindowTuning& tuning, const WindowParams& p, WindowLines layout, double positions,
                      double out_bytes) {
  const auto channels = static_cast<double>(p.tile_channels), taps = static_cast<double>(p.taps);
  const double row = channels * taps * out_bytes;
  switch (layout) {
    case WindowLines::stream:
      return write_cost(tuning, 1, positions * row);
    case WindowLines::rows:
      return write_cost(tuning, positions, row);
    case WindowLines::taps:
      return write_cost(tuning, positions * taps, channels * out_bytes);
    case WindowLines::positions:
      return write_cost(tuning, channels * taps, positions * out_bytes);
    default:
      return positions * channels * taps *
             std::min(32.0, out_bytes * static_cast<double>(std::abs(p.out_position)));
  }
}

}  // namespace

WindowWork window_tile_work(const WindowTuning& tuning, const WindowParams& p, WindowLines layout) {
  const WindowTile& t = p.tile;
  const auto in_bytes = static_cast<double>(bytes_of(p.in_type)),
             out_bytes = static_cast<double>(bytes_of(p.out_type));
  const auto samples = static_cast<double>(p.tile_samples), channels = static_cast<double>(p.tile_channels);
  const auto positions = static_cast<double>(std::min<std::int64_t>(p.tile_positions, p.positions));
  WindowWork work;
  work.blocks = p.batch * p.groups * divide_up(p.channels, std::int64_t{p.tile_channels}) *
                divide_up(p.positions + t.positions_before, std::int64_t{p.tile_positions});
  work.shared_bytes = p.shared_bytes;
  work.warps = kNeededWarps;
  work.resident = kWindowTileBlocks;
  const double word = t.lines == WindowLines::elements ? 1 : std::max(1.0, 4 / out_bytes);
  if (word > 1) work.share = kShareOfNarrow;
  work.waits = 2;  // for the samples, then for the stores

  double read;
  const double fresh = std::min(1.0, positions * static_cast<double>(p.stride) / samples);
  switch (t.fill) {
    case WindowFill::flat:
      count_fill(p, 1, samples * t.time_pitch, 0, work);
      read = read_cost(tuning, 1, samples * t.time_pitch * in_bytes);
      break;
    case WindowFill::time:
      count_fill(p, channels, samples, t.channel_pitch - p.in_channel, work);
      read = read_cost(tuning, channels, samples * in_bytes);
      break;
    case WindowFill::channels:
      count_fill(p, samples, channels, t.time_pitch - p.in_time, work);
      read = read_cost(tuning, samples, channels * in_bytes);
      break;
    default:
      count_items(samples * channels, 2, 25, work);
      read = read_of_elements(tuning, p, samples, in_bytes);
  }
  read *= fresh + (1 - fresh) * tuning.cached;

  // Runs of neighbouring sources: the signal, and the padding at its ends, where a tile has them.
  const double runs =
      1 + (p.pad_left > 0 || p.length < p.positions ? 2 : 0) *
              std::min(1.0, static_cast<double>(p.tile_positions) / static_cast<double>(p.positions));
  const std::int64_t columns = divide_up(std::int64_t{t.unit_words}, kThreads);
  const auto turns = static_cast<double>(
      t.unit_words >= kThreads ? columns * t.units : divide_up<std::int64_t>(t.units, t.parallel_units));
  const double warps = static_cast<double>(kThreads / kLanes);
  // A store for the word and one for each of its elements, of which a lane does one or the other.
  const double stores = word > 1 ? 1 + word / 4 : 1;
  work.accesses += warps * turns * (word + stores);
  work.instructions +=
      warps * (turns * (4 + 4 * word) + static_cast<double>(columns) * (70 + 20 * word) + 50 + 150 * runs);
  work.bytes = read + write_of_lines(tuning, p, layout, positions, out_bytes);
  return work;
}

}  // namespace relayout::plan
