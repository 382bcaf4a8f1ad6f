// What is the same for all vectors of a row or of a run, worked out once a block and kept behind the tile in
// shared memory. The kernel is bound by the instructions it issues: a walk along several axes costs dozens,
// an entry of a table one.
#pragma once

#include "host/plan/tile_rules.hpp"
#include "kernels/operand_pointers.hpp"
#include "kernels/tile_place.hpp"

namespace relayout::RELAYOUT_BACKEND {

/// In `TileRow::place`: a row or run of which nothing lies inside the tensor.
constexpr std::uint32_t kOutside = 0xffffffff;

struct alignas(8) TileRow {
  std::int32_t offset;  // elements from the tile's first
  std::uint32_t place;  // in shared memory: rows of the input: bytes; runs of the output: Position::packed,
                        // bytes for Assembly::mixed
};

struct alignas(16) TileBase {
  const void* in;  // the tile's first elements
  void* out;
  const void* input;  // the operand's first element
  std::uint32_t read_elements, write_elements;
  bool inner, first;
};

static_assert(sizeof(TileRow) == plan::kTileRowBytes);
static_assert(sizeof(TileBase) == plan::kTileBaseBytes);

struct TileTables {
  TileBase* base;
  TileRow* rows;           // of the input
  TileRow* runs;           // of the output
  std::uint32_t* vectors;  // of a run: Position::packed; not for Assembly::mixed and skewed

  __device__ __forceinline__ TileTables(const TileParams& p, unsigned char* shared)
      : base(reinterpret_cast<TileBase*>(shared + p.tile_bytes)),
        rows(reinterpret_cast<TileRow*>(base + 1)),
        runs(rows + p.read_rows),
        vectors(reinterpret_cast<std::uint32_t*>(runs + p.write_rows.value)) {}
};

/// kVectors: elements of an output vector where there is a table of vectors, else 0. kRowsPerVector: as in
/// row_begin.
template <class From, class To, int kRowsPerVector, int kVectors, bool kBytes>
__device__ __forceinline__ void fill_tables(const TileParams& p, const TileTables& tables) {
  const std::uint32_t runs_end = p.read_rows + p.write_rows.value;
  const std::uint32_t end = runs_end + (kVectors > 0 ? p.write_vectors : 0);
  if (threadIdx.x >= end) return;
  const Place place = place_tile(p);
  if (threadIdx.x == 0) {
    const void* input = input_of(p);
    *tables.base = {static_cast<const From*>(input) + place.in,
                    static_cast<To*>(output_of(p)) + place.out,
                    input,
                    place.read_elements,
                    place.write_elements,
                    place.inner,
                    place.first};
  }
#pragma unroll 1
  for (std::uint32_t i = threadIdx.x; i < end; i += blockDim.x) {
    if (i < p.read_rows) {
      const Position position = walk(p.read_rest, i);
      tables.rows[i] = {position.offset,
                        inside(position, place) ? row_begin<kRowsPerVector>(p, position.row) : kOutside};
    } else if (i < runs_end) {
      const Position position = walk(p.write_rest, i - p.read_rows);
      const std::uint32_t at = kBytes ? position.row : position.packed();
      tables.runs[i - p.read_rows] = {position.offset, inside(position, place) ? at : kOutside};
    } else if constexpr (kVectors > 0) {
      tables.vectors[i - runs_end] = walk(p.write_run, (i - runs_end) * kVectors).packed();
    }
  }
}

}  // namespace relayout::RELAYOUT_BACKEND
