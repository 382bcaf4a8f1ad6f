// Where a tile's elements lie in shared memory. Rows are a pitch apart, an odd number of 16-byte chunks. But
// for Assembly::vectors and scattered, the rows from which the words of an output vector come lie a whole
// block of rows apart, so that the rows next to each other are those of the next vectors: lanes that put
// together neighbouring vectors read 4 banks apart, lanes of neighbouring runs the words between.
#pragma once

#include "core/tile_params.hpp"
#include "kernel_language.hpp"

namespace relayout::RELAYOUT_BACKEND {

template <class To, Assembly kAssembly>
struct TileLayout {
  static constexpr bool kInOrder = kAssembly == Assembly::vectors || kAssembly == Assembly::scattered;
  /// Whether the elements of a unaligned run lie below each other.
  static constexpr bool kUnalignedRows =
      kAssembly == Assembly::unaligned_rows || kAssembly == Assembly::unaligned_groups;
  static constexpr bool kUnaligned = kUnalignedRows || kAssembly == Assembly::unaligned_columns;
  /// Elements below each other, of this many rows of the tile, that share a word of a row of shared memory.
  static constexpr int kGroup =
      kAssembly == Assembly::unaligned_groups ? 4 / static_cast<int>(sizeof(To)) : 1;
  static constexpr int kWordBytes = kGroup * static_cast<int>(sizeof(To));
  /// Blocks of rows, one for each word of an output vector.
  static constexpr int kBlocks = kInOrder ? 1 : 16 / kWordBytes;

  /// The byte at which a row of words starts.
  static __device__ __forceinline__ std::uint32_t row_begin(const TileParams& p, std::uint32_t row) {
    return ((row % kBlocks) * p.rows_per_block + row / kBlocks) * p.pitch;
  }
  /// From there, the byte of a column's word. Grouped rows are stored 16 bytes at a time by lanes that are
  /// kGroup times that far apart: every eighth chunk moves to the next place among kGroup.
  static __device__ __forceinline__ std::uint32_t column_begin(std::uint32_t column) {
    if constexpr (kGroup == 1) return column * kWordBytes;
    const std::uint32_t chunk = column / 4;
    return (chunk ^ (chunk / 8 % kGroup)) * 16 + column % 4 * 4;
  }
};

}  // namespace relayout::RELAYOUT_BACKEND
