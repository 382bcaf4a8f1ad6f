// Numbers that are the same for all vectors of a row or of a run. They are computed once a block and kept
// behind the tile in shared memory. The kernel is bound by the instructions that it issues: a walk along
// several axes costs dozens, an entry of a table one.
#pragma once

#include "core/tile_geometry.hpp"
#include "kernels/copy/operand_pointers.hpp"
#include "kernels/copy/tile_coordinates.hpp"
#include "kernels/copy/tile_layout.hpp"

namespace relayout::RELAYOUT_BACKEND {

/// In `TileRow::place`: a row or run of which nothing lies inside the tensor.
constexpr std::uint32_t kOutside = 0xffffffff;

struct alignas(8) TileRow {
  std::int32_t offset;  // elements from the tile's first
  std::uint32_t place;  // in shared memory: rows of the input: bytes; runs of the output: TileCoord::packed,
                        // bytes for Assembly::scattered, UnalignedOrigin::packed for unaligned runs
};

/// Where the first vector of a run starts that lies on a boundary of memory, `misalignment` elements into the
/// run: the byte of its first word, the block of rows of that word, and the element in the word. The table's
/// offset is the vector's, too.
struct UnalignedOrigin {
  std::uint32_t byte = 0, block = 0, element = 0, misalignment = 0;

  __device__ __forceinline__ std::uint32_t packed() const {
    return byte | block << 18 | element << 22 | misalignment << 24;
  }
  static __device__ __forceinline__ UnalignedOrigin unpack(std::uint32_t place) {
    return {place & 0x3ffff, place >> 18 & 15, place >> 22 & 3, place >> 24};
  }
};

/// How many elements of a run lie in front of its first boundary.
template <class To>
__device__ __forceinline__ std::uint32_t misalignment_of(const To* run) {
  return static_cast<std::uint32_t>(-(reinterpret_cast<std::uintptr_t>(run) / sizeof(To))) %
         (kTileRunAlignment / sizeof(To));
}

/// The origin of element `element` of the run at a position.
template <class To, Assembly kAssembly>
__device__ __forceinline__ UnalignedOrigin unaligned_origin(const TileParams& p, const TileCoord& run,
                                                            std::uint32_t element) {
  using Layout = TileLayout<To, kAssembly>;
  constexpr bool kRows = Layout::kUnalignedRows;
  const std::uint32_t row = kRows ? run.row + element : run.row, word = row / Layout::kGroup;
  const std::uint32_t column = kRows ? run.column : run.column + element * p.element_column;
  return {Layout::row_begin(p, word) + Layout::column_begin(column), kRows ? word % Layout::kBlocks : 0,
          row % Layout::kGroup, element};
}

struct alignas(16) TileBase {
  const void* in;  // the tile's first elements
  void* out;
  const void* input;  // the operand's first element
  std::uint32_t read_elements, write_elements;
  bool inner, first, whole;
};

static_assert(sizeof(TileRow) == kTileRowBytes);
static_assert(sizeof(TileBase) == kTileBaseBytes);

struct TileTables {
  TileBase* base;
  TileRow* rows;           // of the input
  TileRow* runs;           // of the output
  std::uint32_t* vectors;  // of a run: TileCoord::packed; not for Assembly::scattered and unaligned

  __device__ __forceinline__ TileTables(const TileParams& p, unsigned char* shared)
      : base(reinterpret_cast<TileBase*>(shared + p.tile_bytes)),
        rows(reinterpret_cast<TileRow*>(base + 1)),
        runs(rows + p.read_rows),
        vectors(reinterpret_cast<std::uint32_t*>(runs + p.write_rows.value)) {}
};

template <class From, class To, Assembly kAssembly>
__device__ __forceinline__ void fill_tables(const TileParams& p, const TileTables& tables) {
  using Layout = TileLayout<To, kAssembly>;
  constexpr int kCount = 16 / static_cast<int>(sizeof(To));
  constexpr bool kVectors =
      kAssembly != Assembly::scattered && !Layout::kUnaligned;  // whether there is a third table
  const std::uint32_t runs_end = p.read_rows + p.write_rows.value;
  const std::uint32_t end = runs_end + (kVectors ? p.write_vectors : 0);
  if (threadIdx.x >= end) return;
  const TileOrigin place = tile_origin(p);
  To* out = static_cast<To*>(output_of(p)) + place.out;
  if (threadIdx.x == 0) {
    const void* input = input_of(p);
    *tables.base = {static_cast<const From*>(input) + place.in,
                    out,
                    input,
                    place.read_elements,
                    place.write_elements,
                    place.inner,
                    place.first,
                    place.whole};
  }
#pragma unroll 1
  for (std::uint32_t i = threadIdx.x; i < end; i += blockDim.x) {
    if (i < p.read_rows) {
      const TileCoord row = walk(p.read_rest, i);
      tables.rows[i] = {row.offset,
                        inside(row, place) ? Layout::row_begin(p, row.row / Layout::kGroup) : kOutside};
    } else if (i < runs_end) {
      const TileCoord run = walk(p.write_rest, i - p.read_rows);
      TileRow entry{run.offset, run.packed()};
      bool exists = inside(run, place);
      if constexpr (kAssembly == Assembly::scattered) entry.place = run.row;
      if constexpr (Layout::kUnaligned) {
        const std::uint32_t misalignment = misalignment_of(out + run.offset);
        entry = {run.offset + static_cast<std::int32_t>(misalignment),
                 unaligned_origin<To, kAssembly>(p, run, misalignment).packed()};
        exists = exists && misalignment < place.write_elements;
      }
      if (!exists) entry.place = kOutside;
      tables.runs[i - p.read_rows] = entry;
    } else if constexpr (kVectors) {
      tables.vectors[i - runs_end] = walk(p.write_run, (i - runs_end) * kCount).packed();
    }
  }
}

}  // namespace relayout::RELAYOUT_BACKEND
