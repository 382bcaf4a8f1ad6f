#include "host/plan/window/window_tile_work.hpp"

#include <algorithm>
#include <cstdlib>
#include <numeric>

#include "core/bytes.hpp"
#include "core/integer_math.hpp"
#include "core/sector.hpp"
#include "core/window_geometry.hpp"

namespace relayout::plan {
namespace {

constexpr std::int64_t kThreads = kWindowThreads;
constexpr std::int64_t kLanes = 32;
/// These and the numbers of instructions are fitted, as those of window_cost.cpp (docs/notes/conv1d.md).
constexpr double kNeededWarps = 29, kAlone = 0.13, kShare = 1.25, kWaits = 2.3;
/// What a byte costs more where warps share the sectors at their ends.
constexpr double kSplitSectors = 0.17;

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
  count_items(rows * count / pack, wide ? 8 : 1 + pack, wide ? 12 + 1.65 * pack : 20 + 5.6 * pack, work);
  count_items(rows * 2 * (pack - 1), 2, 62, work);
}

double read_of_elements(const WindowTuning& tuning, const WindowParams& p, double samples, double in_bytes) {
  const auto time = static_cast<double>(std::abs(p.in_time)),
             channel = static_cast<double>(std::abs(p.in_channel));
  const auto channels = static_cast<double>(p.tile_channels);
  const double step = std::min(32.0, in_bytes * (p.tile_channels == 1 ? time : std::min(time, channel)));
  return p.tile.channel_pitch != 1 ? read_cost(tuning, channels, samples * step)
                                   : read_cost(tuning, samples, channels * step);
}

/// Sectors that a run of so many bytes writes in part, on the average over all starts `alignment` apart.
double partial_sectors(std::int64_t bytes, std::int64_t alignment) {
  std::int64_t partial = 0;
  for (std::int64_t start = 0; start < kSectorBytes; start += alignment) {
    const std::int64_t end = start + bytes;
    partial += end < kSectorBytes ? 1 : (start != 0 ? 1 : 0) + (end % kSectorBytes != 0 ? 1 : 0);
  }
  return static_cast<double>(partial * alignment) / kSectorBytes;
}

/// `runs` runs of the output, which begin at its address and so many elements apart, in a tile by two steps
/// and from a tile to the next; a step that is not taken is 0. Runs of a tile that share a sector write it
/// together.
double write_of_runs(const WindowTuning& tuning, const WindowParams& p, double runs, std::int64_t bytes,
                     std::int64_t step, std::int64_t other_step, std::int64_t tile_step) {
  const std::int64_t element = bytes_of(p.out_type);
  auto alignment = std::gcd(
      kSectorBytes, static_cast<std::int64_t>(reinterpret_cast<std::uintptr_t>(p.out) % kSectorBytes));
  double partial = 2;
  for (const std::int64_t distance : {step, other_step, tile_step})
    alignment = std::gcd(alignment, distance % kSectorBytes * element);
  for (const std::int64_t distance : {step, other_step}) {
    if (distance != 0)
      partial = std::min(
          partial, static_cast<double>(std::abs(distance)) * static_cast<double>(element) / kSectorBytes);
  }
  partial = std::min(partial, partial_sectors(bytes, alignment));
  return write_cost(tuning, runs, static_cast<double>(bytes)) +
         runs * partial * tuning.lost_per_partial_sector;
}

double write_of_lines(const WindowTuning& tuning, const WindowParams& p, WindowLines layout,
                      std::int64_t tile_positions) {
  const std::int64_t element = bytes_of(p.out_type), tile_channels = p.tile_channels;
  const auto out_bytes = static_cast<double>(element), positions = static_cast<double>(tile_positions),
             channels = static_cast<double>(tile_channels), taps = static_cast<double>(p.taps);
  const std::int64_t row = tile_channels * p.taps * element;
  const std::int64_t next_tile = tile_channels < p.channels ? tile_channels : 0,
                     tap = p.taps > 1 ? p.out_tap : 0;
  switch (layout) {
    case WindowLines::stream:
      return write_of_runs(tuning, p, 1, tile_positions * row, 0, 0, tile_positions * p.out_position);
    case WindowLines::rows:
      return write_of_runs(tuning, p, positions, row, p.out_position, 0, next_tile);
    case WindowLines::taps:
      return write_of_runs(tuning, p, positions * taps, tile_channels * element, p.out_position, tap,
                           next_tile);
    case WindowLines::positions:
      return write_of_runs(tuning, p, channels * taps, tile_positions * element, p.out_channel, tap, 0);
    default:
      return positions * channels * taps *
             std::min(32.0, out_bytes * static_cast<double>(std::abs(p.out_position)));
  }
}

}  // namespace

TileWrites writes_of(std::int64_t unit_words, std::int64_t units) {
  const std::int64_t finds = divide_up(unit_words, kThreads);
  const std::int64_t turns =
      unit_words >= kThreads ? finds * units : divide_up(units, divide(kThreads, unit_words));
  return {static_cast<double>(finds), static_cast<double>(turns)};
}

WindowWork window_tile_work(const WindowTuning& tuning, const WindowParams& p, WindowLines layout,
                            bool on_sectors) {
  const WindowTile& t = p.tile;
  const auto in_bytes = static_cast<double>(bytes_of(p.in_type)),
             out_bytes = static_cast<double>(bytes_of(p.out_type));
  const auto samples = static_cast<double>(p.tile_samples), channels = static_cast<double>(p.tile_channels);
  const std::int64_t tile_positions = std::min<std::int64_t>(p.tile_positions, p.positions);
  const auto positions = static_cast<double>(tile_positions);
  WindowWork work;
  work.blocks = p.batch * p.groups * divide_up(p.channels, std::int64_t{p.tile_channels}) *
                divide_up(p.positions + t.positions_before, std::int64_t{p.tile_positions});
  work.shared_bytes = p.shared_bytes;
  work.warps = kNeededWarps;
  work.alone = kAlone;
  work.share = kShare;
  work.resident = kWindowTileBlocks;
  const double word = t.lines == WindowLines::elements ? 1 : std::max(1.0, 4 / out_bytes);
  work.waits = kWaits;  // for the samples, then for the stores

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
      count_items(samples * channels, 2, 19, work);
      read = read_of_elements(tuning, p, samples, in_bytes);
  }
  read *= fresh + (1 - fresh) * tuning.cached;

  // Runs of neighbouring sources: the signal, and the padding at its ends, where a tile has them.
  const double runs =
      1 + (p.pad_left > 0 || p.length < p.positions ? 2 : 0) *
              std::min(1.0, static_cast<double>(p.tile_positions) / static_cast<double>(p.positions));
  const TileWrites writes = writes_of(t.unit_words, t.units);
  const double warps = static_cast<double>(kThreads / kLanes);
  // A store for the word and one for each of its elements, of which a lane does one or the other.
  const double stores = 0.5 * (word > 1 ? 1 + word / 4 : 1);
  work.accesses += warps * writes.turns * (word + stores);
  work.instructions += warps * (0.9 * writes.instructions(word) + 67 + 250 * runs);
  work.bytes = read + write_of_lines(tuning, p, layout, tile_positions);
  if (!on_sectors && t.lines != WindowLines::elements)
    work.bytes += kSplitSectors * positions * channels * static_cast<double>(p.taps) * out_bytes;
  return work;
}

}  // namespace relayout::plan
