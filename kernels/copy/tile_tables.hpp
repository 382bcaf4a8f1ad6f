// Numbers that are the same for all vectors of a row or of a run. They are computed once a block and kept
// behind the tile in shared memory. The kernel is bound by the instructions that it issues: a walk along
// several axes costs dozens, an entry of a table one. What a block's tile lies at is worked out by one warp;
// the others only need how much of it there is.
#pragma once

#include "kernels/copy/operand_pointers.hpp"
#include "kernels/copy/tile_coordinates.hpp"

namespace relayout::RELAYOUT_BACKEND {

/// The bytes of an element in the tile.
template <class From, class To, Assembly kAssembly>
constexpr int held_bytes = tile_element_bytes(kAssembly, sizeof(From), sizeof(To));
/// Whether the tile holds elements as they came, which are converted when they are written.
template <class From, class To, Assembly kAssembly>
constexpr bool converts_late = held_bytes<From, To, kAssembly> != static_cast<int>(sizeof(To));

/// core/tile_layout.hpp for elements of one type, which have so many bytes in the tile.
template <class To, Assembly kAssembly, int kBytes = static_cast<int>(sizeof(To))>
struct TileLayout {
  static constexpr int kGroup = tile_row_group(kAssembly, sizeof(To));
  static constexpr int kBlocks = tile_row_blocks(kAssembly, sizeof(To));
  static constexpr bool kUnalignedRows = has_unaligned_rows(kAssembly);
  static constexpr bool kUnaligned = is_unaligned(kAssembly);

  static __device__ __forceinline__ std::uint32_t row_begin(const TileParams& p, std::uint32_t row) {
    if constexpr (kBlocks == 1) {
      return row * p.pitch;  // nvcc finds this too late for a branch around it to go
    } else {
      return tile_row_begin<std::uint32_t>(row, kBlocks, p.rows_per_block, p.pitch);
    }
  }
  static __device__ __forceinline__ std::uint32_t column_begin(std::uint32_t column) {
    return tile_column_begin<std::uint32_t>(column, kGroup, kBytes);
  }
};

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
  TileRow* rows;  // of the input
  TileRow* runs;  // of the output
  /// TileCoord::packed of each vector of a run; none for unaligned runs. Assembly::scattered: the places of a
  /// run's elements, in bytes (tile_place_chunk).
  std::uint32_t* vectors;

  __device__ __forceinline__ TileTables(const TileParams& p, unsigned char* shared)
      : base(reinterpret_cast<TileBase*>(shared + p.tile_bytes)),
        rows(reinterpret_cast<TileRow*>(shared + p.rows_at)),
        runs(reinterpret_cast<TileRow*>(shared + p.runs_at)),
        vectors(reinterpret_cast<std::uint32_t*>(shared + p.vectors_at)) {}
};

/// Assembly::scattered: the byte at which a row of the run starts.
__device__ __forceinline__ std::uint32_t scattered_row(const TileParams& p, std::uint32_t row) {
  const std::uint32_t block = row & ((1u << p.scattered_shift) - 1);
  return (block * p.rows_per_block + (row >> p.scattered_shift)) * p.pitch;
}

/// The place in shared memory of a row of the input.
template <class Layout, Assembly kAssembly>
__device__ __forceinline__ std::uint32_t place_of_row(const TileParams& p, const TileCoord& row) {
  if constexpr (kAssembly == Assembly::scattered) {
    return scattered_row(p, row.row) + row.column;
  } else {
    return Layout::row_begin(p, row.row / Layout::kGroup);
  }
}

/// How many entries set_place fills: all but one that no vector reaches.
template <class To>
__device__ __forceinline__ std::uint32_t count_of_places(const TileParams& p) {
  constexpr std::uint32_t kCount = 16 / sizeof(To);
  return p.period.value + 2 * kCount - 1;
}

/// Entry `index` of Assembly::scattered's tables of places, counted from a vector in front of the run.
/// kSize: bytes of an element in the tile.
template <class To, int kSize>
__device__ __forceinline__ void set_place(const TileParams& p, const TileTables& tables,
                                          std::uint32_t index) {
  constexpr std::uint32_t kCount = 16 / sizeof(To);
  constexpr std::uint32_t kChunk = tile_place_chunk(kCount);
  auto* places = reinterpret_cast<std::uint16_t*>(tables.vectors);
  const std::uint32_t chunks = tile_place_chunks(p.period.value, kCount);
  std::uint32_t place = 0;  // any that exists, in front of the run and behind it
  if (index >= kCount && index - kCount < p.write_elements) {
    const TileCoord element = walk(p.write_run, index - kCount);
    place = scattered_row(p, element.row) + element.column * kSize;
  }
  const auto entry = static_cast<std::uint16_t>(place);
  if constexpr (kCount == kChunk) {
    // Chunks lie in order: from copy to copy an entry moves on by a copy less one place. The first entries
    // have no place in the later copies; they end up behind the last entry of the copy before.
    places[index] = entry;
    if (p.place_copies == 1) return;
#pragma unroll
    for (std::uint32_t copy = 1; copy < kChunk; ++copy) places[index + copy * (chunks * kChunk - 1)] = entry;
  } else {
#pragma unroll
    for (std::uint32_t copy = 0; copy < kChunk; ++copy) {
      const std::uint32_t at = index - copy;
      const std::uint32_t chunk = copy * chunks + tile_place_of_chunk(at / kChunk, chunks, kCount);
      if (index >= copy) places[chunk * kChunk + at % kChunk] = entry;
      if (copy == 0 && p.place_copies == 1) return;
    }
  }
}

template <class From, class To, Assembly kAssembly>
__device__ __forceinline__ void fill_tables(const TileParams& p, const TileTables& tables) {
  using Layout = TileLayout<To, kAssembly>;
  constexpr int kCount = 16 / static_cast<int>(sizeof(To));
  constexpr bool kScattered = kAssembly == Assembly::scattered;
  constexpr bool kVectors = !kScattered && !Layout::kUnaligned;
  const std::uint32_t runs_end = p.read_rows + p.write_rows.value;
  const std::uint32_t end = runs_end + (kScattered ? count_of_places<To>(p) : kVectors ? p.write_vectors : 0);
  // The last thread writes down where the tile is, since its warp has the fewest entries or none.
  const bool is_last = threadIdx.x == blockDim.x - 1;
  if (threadIdx.x >= end && !is_last) return;
  const TileLimits limits = tile_limits(p);
  const std::uint32_t write_elements = limits.elements(p.write_tail, p.write_tail_step, p.write_elements);
  const To* out = nullptr;
  if (Layout::kUnaligned || is_last) {
    const TileOrigin place = tile_origin(p);
    To* tile_out = static_cast<To*>(output_of(p)) + place.out;
    out = tile_out;
    if (is_last) {
      const void* input = input_of(p);
      *tables.base = {static_cast<const From*>(input) + place.in,
                      tile_out,
                      input,
                      limits.elements(p.read_tail, p.read_tail_step, p.read_elements),
                      write_elements,
                      place.in >= p.inner_begin && place.in < p.inner_end,
                      place.first,
                      limits.whole};
    }
  }
#pragma unroll 1
  for (std::uint32_t i = threadIdx.x; i < end; i += blockDim.x) {
    if (i < p.read_rows) {
      const TileCoord row = walk(p.read_rest, i);
      tables.rows[i] = {row.elements(),
                        inside(row, limits) ? place_of_row<Layout, kAssembly>(p, row) : kOutside};
    } else if (i < runs_end) {
      const TileCoord run = walk(p.write_rest, i - p.read_rows);
      TileRow entry{run.elements(), run.packed()};
      bool exists = inside(run, limits);
      if constexpr (kScattered) entry.place = run.row;
      if constexpr (Layout::kUnaligned) {
        const std::uint32_t misalignment = misalignment_of(out + run.elements());
        entry = {run.elements() + static_cast<std::int32_t>(misalignment),
                 unaligned_origin<To, kAssembly>(p, run, misalignment).packed()};
        exists = exists && misalignment < write_elements;
      }
      if (!exists) entry.place = kOutside;
      tables.runs[i - p.read_rows] = entry;
    } else if constexpr (kScattered) {
      set_place<To, held_bytes<From, To, kAssembly>>(p, tables, i - runs_end);
    } else if constexpr (kVectors) {
      tables.vectors[i - runs_end] = walk(p.write_run, (i - runs_end) * kCount).packed();
    }
  }
}

}  // namespace relayout::RELAYOUT_BACKEND
