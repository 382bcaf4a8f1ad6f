// How a copy between two layouts is cut into tiles: boxes of the loop nest that a block of threads moves
// through shared memory, read in the input's order and written in the output's, 16 bytes at a time on both
// sides.
#pragma once

#include <cstdint>
#include <vector>

#include "host/plan/copy/tile_order.hpp"
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
  const TileTuning* tuning = &kTuningOf32Lanes;  // not null
};

/// For elements of these sizes in bytes, from aligned addresses.
TileTarget tile_target(const DeviceProperties& device, int in_bytes, int out_bytes);

/// How 16 bytes of the output are put together from the tile.
enum class TileWrite {
  elements,   // element by element, a constant step apart
  words,      // words of several short elements, turned in registers
  vectors,    // whole vectors: both sides run along the same axis
  scattered,  // element by element, wherever the run's axes lead: runs over several short axes
  // As `elements`, for runs that start at any address:
  unaligned_rows,    // the elements of a run lie below each other
  unaligned_groups,  // the same, and 4 bytes of them share a word of shared memory
  unaligned_columns  // they lie along a row
};

constexpr bool is_unaligned_write(TileWrite write) noexcept {
  return write == TileWrite::unaligned_rows || write == TileWrite::unaligned_groups ||
         write == TileWrite::unaligned_columns;
}

struct TilePlan {
  bool valid = false;
  int threads = 256;
  /// Per axis of the nest: extent of a tile, and the step from tile to tile, which is smaller only along the
  /// axis of overlapping tiles (is_unaligned_write).
  TileExtents extent{}, step{};
  std::int64_t elements = 1;  // of a tile
  TileOrder read, write;
  bool unaligned = false;
  TileWrite assembly = TileWrite::elements;
  int grouped = 1;  // output runs written together (TileWrite::words)
  int unaligned_axis = -1;
  int tail_axes[2] = {-1, -1};  // axes whose last tile is short

  /// Vectors of an output run that the tile itself writes.
  std::int64_t write_vectors = 1;
  /// Shared memory: `rows` runs of the input, `row_group` of them in a row of `pitch` bytes, the rows in
  /// blocks of rows_per_block (kernels/copy/tile_layout.hpp).
  std::int64_t rows = 1, row_group = 1, pitch = 16, rows_per_block = 1;
  std::int64_t tile_bytes = 16, shared_bytes = 16;  // without and with the kernel's tables

  double score = 0;  // estimated share of the memory's speed
  /// What finding it cost: boxes that were considered, and those of them that a plan was made and scored for.
  int boxes_considered = 0, boxes_planned = 0;

  bool rows_in_order() const noexcept {
    return assembly == TileWrite::vectors || assembly == TileWrite::scattered;
  }
};

/// The best plan for a normalised nest of one output and one input, or one that is not `valid`: there is no
/// run on one of the sides, or no tile whose offsets fit in 32 bits.
TilePlan choose_tile(const LoopNest& nest, const TileTarget& target);

/// All plans that were considered, the best by estimate first. A tile's extents and the threads name one.
std::vector<TilePlan> tile_candidates(const LoopNest& nest, const TileTarget& target);

}  // namespace relayout::plan
