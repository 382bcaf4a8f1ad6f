// Where the elements of a tile lie in shared memory. Rows are a pitch apart, which is an odd number of
// 16-byte chunks. Except for Assembly::vectors and scattered, the rows from which the words of an output
// vector come lie a whole block of rows apart, so that neighbouring rows belong to neighbouring vectors:
// lanes that assemble neighbouring vectors read 4 banks apart, and lanes of neighbouring runs read the words
// between.
#pragma once

#include "core/tile_params.hpp"
#include "kernel_language.hpp"

namespace relayout::RELAYOUT_BACKEND {

template <class To, Assembly kAssembly>
struct TileLayout {
  static constexpr bool kInOrder = kAssembly == Assembly::vectors || kAssembly == Assembly::scattered;
  /// Whether the elements of an unaligned run lie in a column.
  static constexpr bool kUnalignedRows =
      kAssembly == Assembly::unaligned_rows || kAssembly == Assembly::unaligned_groups;
  static constexpr bool kUnaligned = kUnalignedRows || kAssembly == Assembly::unaligned_columns;
  /// How many elements of a column, from as many rows of the tile, share a word of a row of shared memory.
  static constexpr int kGroup =
      kAssembly == Assembly::unaligned_groups ? 4 / static_cast<int>(sizeof(To)) : 1;
  static constexpr int kWordBytes = kGroup * static_cast<int>(sizeof(To));
  /// How many blocks of rows there are: one for each word of an output vector.
  static constexpr int kBlocks = kInOrder ? 1 : 16 / kWordBytes;

  /// The byte at which a row of words starts.
  static __device__ __forceinline__ std::uint32_t row_begin(const TileParams& p, std::uint32_t row) {
    return ((row % kBlocks) * p.rows_per_block + row / kBlocks) * p.pitch;
  }
  /// The byte of a column's word, from the start of its row. Grouped rows are stored 16 bytes at a time, by
  /// lanes that are kGroup times as far apart; so every eighth chunk moves to the next place among kGroup.
  static __device__ __forceinline__ std::uint32_t column_begin(std::uint32_t column) {
    if constexpr (kGroup == 1) return column * kWordBytes;
    const std::uint32_t chunk = column / 4;
    return (chunk ^ (chunk / 8 % kGroup)) * 16 + column % 4 * 4;
  }
};

}  // namespace relayout::RELAYOUT_BACKEND
