// Where a tile's elements lie in shared memory, and what else the plan, the kernel and the count of bank
// conflicts must agree on. Constexpr functions of numbers: the kernel counts in 32 bits, the host in 64.
//
// Rows are a pitch apart, an odd number of 16-byte chunks. But for Assembly::vectors, the rows from which the
// words of an output vector come lie a whole block of rows apart, so that the rows next to each other are
// those of the next vectors: lanes that put together neighbouring vectors read 4 banks apart, lanes of
// neighbouring runs the words between. For Assembly::scattered the plan says whether there are such blocks.
#pragma once

#include <cstdint>

namespace relayout {

constexpr int kMaxTileThreads = 512;
/// Bytes a thread moves per tile, of the larger element type.
constexpr int kTileBytesPerThread = 64;
/// Vectors of a strip: 128 bytes of an output run. The lanes of a warp write a strip of several runs.
constexpr int kTileStripVectors = 8;
/// Unaligned output runs are written from such a boundary of memory on.
constexpr int kTileRunAlignment = 32;
/// Shared memory behind the tile: where it lies, an entry for each row of the input and each run of the
/// output, and one for each vector of a run.
constexpr int kTileBaseBytes = 48, kTileRowBytes = 8, kTileVectorBytes = 4;

/// How 16 bytes of the output are put together from shared memory.
enum class Assembly : std::int32_t {
  elements,   // N elements a constant step apart
  words,      // the same of 4 / size neighbouring output runs at once, as words of 4 bytes
  vectors,    // as they lie: input and output run along the same axis
  scattered,  // N elements, each from the place that a table names, for runs that start at any address
  // As `elements`, for runs that start at any address:
  unaligned_rows,    // the elements of an output run lie below each other
  unaligned_groups,  // the same, and 4 bytes of them share a word of shared memory
  unaligned_columns  // they lie along a row
};

/// Whether output runs start at any address and their elements lie below each other.
constexpr bool has_unaligned_rows(Assembly assembly) {
  return assembly == Assembly::unaligned_rows || assembly == Assembly::unaligned_groups;
}
/// Whether output runs start at any address.
constexpr bool is_unaligned(Assembly assembly) {
  return has_unaligned_rows(assembly) || assembly == Assembly::unaligned_columns;
}

/// Assembly::scattered: the places of a run's elements in bytes, 2 bytes each, for a run that repeats after
/// `period` elements. A vector of places in front of the first element and one behind the last belong to
/// vectors that the run fills in part. A chunk is what one load brings: where vectors may begin with any
/// place, there are as many copies of the table as a chunk has places, each one place ahead of the one
/// before, so that a vector's places are whole chunks of one copy. Where they are two chunks, those of even
/// numbers lie together and those of odd ones behind them, so that neighbouring vectors meet different banks.
template <class Index>
constexpr Index tile_place_chunk(Index vector) {
  return vector < 8 ? vector : 8;
}
/// Chunks of a copy, an even number.
template <class Index>
constexpr Index tile_place_chunks(Index period, Index vector) {
  return (period + 2 * vector + 2 * tile_place_chunk(vector) - 1) / tile_place_chunk(vector) / 2 * 2;
}
/// Where a copy has its chunk.
template <class Index>
constexpr Index tile_place_of_chunk(Index chunk, Index chunks, Index vector) {
  return vector <= 8 ? chunk : chunk % 2 * (chunks / 2) + chunk / 2;
}
template <class Index>
constexpr Index tile_places_bytes(Index period, Index vector, Index copies) {
  return tile_place_chunks(period, vector) * tile_place_chunk(vector) * copies * 2;
}
/// Entries of rows and runs, with one that fills the table behind them up to 16 bytes.
template <class Index>
constexpr Index tile_entries(Index rows, Index runs) {
  return (rows + runs + 1) / 2 * 2;
}

/// Rows of the tile whose elements share the words of one row of shared memory.
constexpr int tile_row_group(Assembly assembly, int element_bytes) {
  return assembly == Assembly::unaligned_groups ? 4 / element_bytes : 1;
}
/// Blocks of rows, one for each word of an output vector; 1: the rows lie in order.
constexpr int tile_row_blocks(Assembly assembly, int element_bytes) {
  const bool in_order = assembly == Assembly::vectors || assembly == Assembly::scattered;
  return in_order ? 1 : 16 / (tile_row_group(assembly, element_bytes) * element_bytes);
}

/// Bytes of an element in the tile. Elements that become 8 bytes, and bytes that become 4, lie there as they
/// came and are converted when they are written: a lane's 16 bytes of the input are 2 to 8 vectors of the
/// output, which as many lanes convert. All others are converted when they are read, which is faster from 2
/// to 4 bytes; so are those of runs that start at any address.
constexpr int tile_element_bytes(Assembly assembly, int in_bytes, int out_bytes) {
  const bool late = (in_bytes < 8 && out_bytes == 8) || (in_bytes == 1 && out_bytes == 4);
  return late && !is_unaligned(assembly) ? in_bytes : out_bytes;
}

/// Where elements of 1 or 2 bytes become 8 as they are read, a lane's 16 bytes of the input become 8 or 4
/// pieces of 16 bytes, which lie side by side. If all lanes stored their first piece first, those of a pass
/// would meet in a few banks. Of elements that grow less, fewer meet, and the order costs more instructions
/// than it saves.
constexpr bool tile_rotates_pieces(std::int64_t in_bytes, std::int64_t out_bytes) {
  return in_bytes <= 2 && out_bytes == 8;
}
/// The piece that a lane stores first before it goes round, if its first one lies in chunk number `chunk`:
/// the 8 lanes of a pass meet all banks.
template <class Index>
constexpr Index tile_first_piece(Index lane, Index chunk, Index pieces) {
  return (lane / (8 / pieces) + (pieces - chunk % pieces)) % pieces;
}

/// Bytes from row to row, of `chunks` times 16 bytes. An odd number of chunks: neighbouring rows start 4
/// banks apart, whatever the number of rows. Words of several rows change places among as many chunks.
constexpr std::int64_t tile_pitch(std::int64_t chunks, std::int64_t group) {
  return ((chunks + group - 1) / group * group | 1) * 16;
}

/// The byte at which a row of words starts.
template <class Index>
constexpr Index tile_row_begin(Index row, Index blocks, Index rows_per_block, Index pitch) {
  return (row % blocks * rows_per_block + row / blocks) * pitch;
}
/// From there, the byte of a column's word. Grouped rows are stored 16 bytes at a time by lanes that are
/// `group` times that far apart: every eighth chunk moves to the next place among `group`.
template <class Index>
constexpr Index tile_column_begin(Index column, Index group, Index element_bytes) {
  const Index chunk = column / 4;
  return group == 1 ? column * element_bytes : (chunk ^ (chunk / 8 % group)) * 16 + column % 4 * 4;
}

}  // namespace relayout
