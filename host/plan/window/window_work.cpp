#include "host/plan/window/window_work.hpp"

#include <algorithm>

#include "core/bytes.hpp"
#include "core/integer_math.hpp"
#include "core/window_geometry.hpp"
#include "host/plan/small_problems.hpp"
#include "host/plan/window/window_problem.hpp"

namespace relayout::plan {
namespace {

/// These kernels are faster than counted: fitted, as window_cost.cpp says.
constexpr double kShareOfRows = 1.2;
constexpr double kShareOfVectors = 1.25;
/// Instructions of a warp for a pack of long padding of each lane: counted.
constexpr double kOfPaddingPack = 150;
/// What blocks of rows with long padding wait for, and how many of them a multiprocessor has registers for.
constexpr double kWaitsForPadding = 2;
constexpr std::int64_t kPaddingBlocks = 4;

constexpr double kWarps = kWindowThreads / 32.0, kLanes = 32;

double real(std::int64_t value) { return static_cast<double>(value); }

/// Blocks for every batch and group.
std::int64_t tiles_of(const WindowParams& p) {
  return p.batch * p.groups * divide_up(p.channels, std::int64_t{p.tile_channels}) *
         divide_up(p.positions, std::int64_t{p.tile_positions});
}

WindowWork work_of_rows(const WindowTuning& tuning, const WindowParams& p) {
  const double element = real(bytes_of(p.in_type));
  const std::int64_t block_rows = kWindowThreads / p.row_threads, rows = p.batch * p.groups * p.channels;
  WindowWork work;
  work.blocks = divide_up(rows, block_rows) * p.row_blocks;
  const double rows_a_block = std::min(real(block_rows), real(rows)) / p.row_blocks;
  const double copied = real(samples_within(p));
  work.bytes = rows_a_block *
               (read_cost(tuning, 1, copied * element) + write_cost(tuning, 1, real(p.positions) * element));
  // Elements of the padding and at the ends of rows go one by one, with 64-bit indices. Whole warps wait for
  // the lanes that have any. Long padding goes by packs, but for what lies around the samples' ends.
  const double count = 16 / element, padding = std::max(real(p.positions) - copied, 0.0);
  const bool long_padding = p.copy_blocks < p.row_blocks;
  const double packs = (copied + (long_padding ? padding : 0)) / count / kLanes;
  const double singles = (long_padding ? 3 * count : padding) + 3 * count;
  const double turns = std::max(long_padding ? 0 : kWarps, rows_a_block * singles / kLanes);
  work.accesses = rows_a_block * packs * 3 * 4 + 2 * turns;
  // All modes but two need remainders of 64 bits.
  const bool repeats = p.mode != PadMode::constant && p.mode != PadMode::replicate;
  work.instructions = kWarps * 98 + (repeats ? 200 : 113) * turns;
  if (long_padding) {
    work.instructions += rows_a_block * padding / count / kLanes * kOfPaddingPack;
    work.waits = kWaitsForPadding;
    work.resident = kPaddingBlocks;
    if (repeats) work.bytes += rows_a_block * tuning.cached * read_cost(tuning, 1, padding * element);
  }
  work.share = kShareOfRows;
  work.warps = kWarps;  // one block's loads are enough
  return work;
}

WindowWork work_of_vectors(const WindowTuning& tuning, const WindowParams& p) {
  const double in_bytes = real(bytes_of(p.in_type)), out_bytes = real(bytes_of(p.out_type));
  const double channels = real(std::min<std::int64_t>(p.tile_channels, p.channels));
  const double positions = real(std::min<std::int64_t>(p.tile_positions, p.positions));
  const double samples = std::min(real(p.tile_samples), (positions - 1) * real(p.stride) + real(p.span()));
  WindowWork work;
  work.blocks = tiles_of(p);
  work.share = kShareOfVectors;
  work.shared_bytes = p.shared_bytes;
  const double fresh = std::min(1.0, positions * real(p.stride) / samples);
  const double read = p.along_time ? read_cost(tuning, channels, samples * in_bytes)
                                   : read_cost(tuning, samples, channels * in_bytes);
  const double taps = real(p.taps), row = channels * out_bytes;
  const double written = p.out_tap == p.channels && channels == real(p.channels)
                             ? write_cost(tuning, positions, row * taps)
                             : write_cost(tuning, positions * taps, row);
  work.bytes = read * (fresh + (1 - fresh) * tuning.cached) + written;
  // Threads that have no pack of the tile, or no sample, take part all the same.
  const double idle = p.along_time ? real(p.tile_samples) / samples : real(p.tile_channels) / channels;
  const double loads = samples * channels * in_bytes / 16 / kLanes * idle,
               packs = samples * channels * out_bytes / 16 / kLanes * idle,
               stores = positions * taps * row / 16 / kLanes * real(p.tile_channels) / channels;
  work.accesses = 4 * (loads + packs + stores * 2);
  work.instructions = kWarps * 100 + loads * 22.5 + packs * 15 + stores * 14;
  return work;
}

WindowWork work_of_single_outputs(const WindowTuning& tuning, const WindowParams& p) {
  const double outputs = real(p.tile_positions) * real(p.tile_channels) * real(p.taps);
  WindowWork work;
  work.blocks = tiles_of(p);
  work.bytes = read_cost(tuning, 1, outputs * real(bytes_of(p.in_type))) +
               write_cost(tuning, 1, outputs * real(bytes_of(p.out_type)));
  work.accesses = 4 * outputs / kLanes;
  work.instructions = 250 * outputs / kLanes;
  // Small problems are done before a tile would be filled. Those of tests are to go through tiles.
  const double wait = plans_as_large() ? 3 : 0.92;
  work.waits = wait * std::max(1.0, outputs / kWindowThreads);
  return work;
}

}  // namespace

WindowWork window_work(const WindowTuning& tuning, const WindowParams& p) {
  switch (p.kernel) {
    case WindowKernel::rows:
      return work_of_rows(tuning, p);
    case WindowKernel::vector:
      return work_of_vectors(tuning, p);
    default:
      return work_of_single_outputs(tuning, p);
  }
}

}  // namespace relayout::plan
