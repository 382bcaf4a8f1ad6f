// How a copy between two layouts is cut into tiles: boxes of the loop nest that a block of threads moves
// through shared memory, read in the input's order and written in the output's, 16 bytes at a time on both
// sides.
#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "core/tile_params.hpp"
#include "host/plan/copy/bank_model.hpp"
#include "host/plan/copy/tile_tuning.hpp"
#include "host/plan/loop_nest.hpp"

namespace relayout::plan {

/// What a plan for tiles depends on beside the nest.
struct TileTarget {
  int in_bytes = 4, out_bytes = 4;  // of an element
  bool groups = true;               // whether elements below 4 bytes may share words on their way
  int in_offset = 0;                // of the input's first element from a 16-byte boundary, in bytes
  int out_offset = 0;               // of the output's from a 32-byte boundary
  std::int64_t shared_bytes = 48 * 1024;
  std::int64_t multiprocessors = 1;
  bool large = false;  // whether it transposes more than TileTuning::large_bytes
  /// How fast the memory is beside the issue of instructions, an H200's being 1 (device_rates.hpp).
  double memory_ratio = 1;
  BankModel banks;
  /// Bytes that the memory moves for each multiprocessor while its shared memory takes a pass; of an H200.
  double bytes_per_pass = 18;
  const TileTuning* tuning = &kTuningOf32Lanes;  // not null
};

/// For elements of these sizes in bytes, from aligned addresses.
TileTarget tile_target(const DeviceProperties& device, int in_bytes, int out_bytes);

/// Extents of a tile, or the steps from tile to tile, along the axes of a nest.
using TileExtents = std::array<std::int32_t, kMaxRank>;

/// The tile's axes, an operand's fastest first. The first `run` of them follow each other in memory without a
/// gap: `run_elements` in a row.
struct TileOrder {
  std::array<std::int8_t, kMaxTileAxes> axes{};
  int count = 0, run = 0;
  std::uint32_t run_axes = 0;  // of the nest: a bit for each that the run goes along
  std::int64_t run_elements = 1;
  /// Elements that follow each other without a gap, those of the rest included.
  std::int64_t gapless_elements = 1;

  bool in_run(int axis) const noexcept { return (run_axes >> axis & 1) != 0; }
};

struct TilePlan {
  bool valid = false;
  int threads = 256;
  /// Per axis of the nest: extent of a tile, and the step from tile to tile, which is smaller only along the
  /// axis of overlapping tiles (is_unaligned(assembly)).
  TileExtents extent{}, step{};
  std::int64_t elements = 1;  // of a tile
  TileOrder read, write;
  bool unaligned = false, unaligned_out = false;  // runs that start off 16-byte boundaries, on either side
  Assembly assembly = Assembly::elements;
  int grouped = 1;  // output runs written together (Assembly::words)
  int unaligned_axis = -1;
  int tail_axes[2] = {-1, -1};  // axes whose last tile is short

  /// Vectors of an output run that the tile itself writes.
  std::int64_t write_vectors = 1;
  /// Assembly::scattered: elements after which an output run's places in shared memory repeat, so many bytes
  /// further on; the rows that one output run meets, in blocks of rows_per_block.
  std::int64_t period = 1, period_step = 0, run_rows = 1, row_blocks = 1;
  std::int64_t place_copies = 1;  // of the table of these places
  /// Shared memory: `rows` runs of the input, `row_group` of them in a row of `pitch` bytes, the rows in
  /// blocks of rows_per_block (core/tile_layout.hpp).
  std::int64_t rows = 1, row_group = 1, pitch = 16, rows_per_block = 1;
  std::int64_t tile_bytes = 16, shared_bytes = 16;  // without and with the kernel's tables

  double score = 0;  // estimated share of the memory's speed
  /// What finding it cost: boxes that were considered, and those of them that a plan was made and scored for.
  int boxes_considered = 0, boxes_planned = 0;
};

/// The best plan for a normalised nest of one output and one input, or one that is not `valid`: there is no
/// run on one of the sides, or no tile whose offsets fit in 32 bits.
TilePlan choose_tile(const LoopNest& nest, const TileTarget& target);

/// All plans that were considered, the best by estimate first. A tile's extents and the threads name one.
std::vector<TilePlan> tile_candidates(const LoopNest& nest, const TileTarget& target);

/// What the tile kernel is told of a plan. `params` holds the operands and their types; everything else is
/// filled in.
void fill_tile_params(const LoopNest& nest, const TilePlan& plan, TileParams& params);

}  // namespace relayout::plan
