// What the tile kernel is told: a box of the loop nest (the tile), walked in the input's order and in the
// output's. Plain data, filled by host/plan/copy/tile_candidate.cpp from a plan::TilePlan. Offsets count
// elements of the operand's own type.
#pragma once

#include <cstdint>

#include "core/copy_operands.hpp"
#include "core/divisor.hpp"
#include "core/tile_layout.hpp"

#include <relayout/tensor_view.hpp>

namespace relayout {

/// One step along an axis of the tile: how far it moves in the operand, and in shared memory, where it either
/// moves along a row (`column`, elements) or from row to row. `tail_index`: by how much it moves along the
/// two axes at which the last tiles are cut short, the first in the low half.
///
/// In TileParams these are less what all of the axis before moves (steps_with_carry). Then the quotients
/// alone lead to an item: q0 = its number, q1 = q0 / extent0, q2 = q1 / extent1.. times their axes' steps,
/// modulo 2^32; a walk needs no remainders. A kernel loads the numbers two at a time.
struct alignas(16) TileAxis {
  std::uint32_t row = 0;
  Divisor extent;
  std::uint32_t tail_index = 0, offset = 0, column = 0;
};

constexpr int kMaxTileAxes = 10;

/// Some axes of the tile, the fastest first.
struct TileAxes {
  std::int32_t count = 0;
  TileAxis axes[kMaxTileAxes];
};

/// A step from tile to tile along an axis of the nest.
struct GridAxis {
  Divisor tiles;
  std::int64_t in = 0, out = 0;
};

/// An axis along which the last tile is short: a tile's number along it is number / before % tiles. Further
/// the tile's extent, that of the last tile, and the step from tile to tile, which is smaller than the tile
/// where tiles overlap, but more than half of it: at most two tiles are short.
struct TailAxis {
  Divisor before, tiles;
  std::uint32_t tile = 1, last = 1, step = 1;
};

struct TileParams : CopyOperands {
  /// Bytes of `in` that may be read, relative to it: the whole aligned words around unaligned runs lie in
  /// here or are read by elements.
  std::int64_t in_begin = 0, in_end = 0;
  /// Tiles whose first element is one of these have all such words in there.
  std::int64_t inner_begin = 0, inner_end = 0;

  // Reading: rows of `read_vectors` vectors that lie one after the other in the input.
  Divisor read_vectors;
  std::uint32_t read_rows = 1;
  std::uint32_t read_items = 1;  // vectors of all rows; of all groups of rows where these share words
  std::int32_t read_tail = -1;   // the cut axis that ends the rows, and its step in elements
  std::uint32_t read_tail_step = 1;
  std::uint32_t read_elements = 1;  // of a row
  bool unaligned = false;

  // Shared memory (core/tile_layout.hpp): rows of `pitch` bytes, in blocks of `rows_per_block`.
  std::uint32_t pitch = 0, rows_per_block = 1;
  std::uint32_t tile_bytes = 0, shared_bytes = 0;          // without and with the tables behind the tile
  std::uint32_t rows_at = 0, runs_at = 0, vectors_at = 0;  // where the tables lie

  // Writing: runs of `write_elements`, dealt out in strips of `write_width` vectors.
  Assembly assembly = Assembly::elements;
  Divisor write_width, write_rows;
  std::uint32_t write_items = 1;  // vectors of all strips
  std::uint32_t write_vectors = 1, write_elements = 1;
  std::int32_t write_tail = -1;
  std::uint32_t write_tail_step = 1;
  std::uint32_t element_step = 0;  // bytes in shared memory between the elements of an output vector
  std::uint32_t element_wrap = 0;  // bytes back, where an output vector leaves the last block of rows
  std::int32_t group_step = 0;     // Assembly::words: elements between the output runs written together
  // Assembly::scattered: the run's elements repeat after a period, `period_step` bytes further on. Axes in
  // write_run number the rows of the run, which lie in 1 << scattered_shift blocks; axes in read_rest that
  // are not along the run count bytes in `column`, and those of write_rest count bytes in `row`.
  Divisor period;
  std::uint32_t period_step = 0, scattered_shift = 0, place_copies = 1;
  // Unaligned runs: columns between their elements (0: rows), bytes between their vectors, and the grid axis
  // whose first tile writes the runs' heads.
  std::uint32_t element_column = 0, vector_step = 0;
  std::int32_t first_grid = -1;

  // The tiles.
  bool streaming = false;
  std::uint32_t tiles = 0;
  std::int32_t threads = 256;
  TailAxis tail_axes[2];
  std::int32_t grid_rank = 0;

  // Axes, the fastest first: of the tile, from row to row of the input, of a run and from run to run; and of
  // the grid. They come last, since most of them do not exist: a block waits for each part of its parameters
  // that it touches first.
  TileAxes read_rest, write_run, write_rest;
  GridAxis grid[kMaxRank];
};

}  // namespace relayout
