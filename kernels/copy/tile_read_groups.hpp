// Moves the tile from global to shared memory where elements of several rows share a word
// (TileLayout::kGroup). A lane reads 16 bytes of each of these rows and turns them in registers, so that an
// output run, which goes from row to row, consists of whole words of shared memory.
#pragma once

#include "kernels/copy/tile_read.hpp"
#include "kernels/copy/word_transpose.hpp"

namespace relayout::RELAYOUT_BACKEND {

/// Elements that are cast by format are converted one after the other, too slowly for rows to wait in
/// registers.
template <class From, class To>
constexpr bool groups_rows = sizeof(To) < 4 && !is_untyped<From>;

/// words[c] = the elements of column c of all rows, the first row in the low bits.
template <class From, class To, class Store, int kGroup>
__device__ __forceinline__ void turn_group(const TileParams& p, const Words (&rows)[kGroup],
                                           std::uint32_t (&words)[vector_count<From>]) {
  if constexpr (moves<From, To, Store>) {
    std::uint32_t apart[4 * kGroup];
    Words columns[kGroup];
#pragma unroll
    for (int i = 0; i < 4 * kGroup; ++i) apart[i] = rows[i % kGroup].values[i / kGroup];
    transpose_words(apart, columns);
#pragma unroll
    for (int c = 0; c < 4 * kGroup; ++c) words[c] = columns[c % kGroup].values[c / kGroup];
  } else {
#pragma unroll
    for (int c = 0; c < vector_count<From>; ++c) words[c] = 0;
#pragma unroll
    for (int row = 0; row < kGroup; ++row) {
      Vector<From> pack;
      memcpy(&pack, &rows[row], 16);
#pragma unroll
      for (int c = 0; c < vector_count<From>; ++c) {
        const To value = Store::template read<To>(p, pack.values[c]);
        words[c] |= small_bits(value) << (row * 8 * static_cast<int>(sizeof(To)));
      }
    }
  }
}

template <class From, class To, class Store, int kGroup>
__device__ __forceinline__ void store_group(const TileParams& p, unsigned char* row, std::uint32_t first,
                                            const Words (&rows)[kGroup]) {
  constexpr int kRead = vector_count<From>, kPiece = kRead < 4 ? kRead : 4;
  using Columns = Vector<std::uint32_t, kPiece>;
  std::uint32_t words[kRead];
  turn_group<From, To, Store>(p, rows, words);
#pragma unroll
  for (int c = 0; c < kRead; c += kPiece) {
    Columns columns;
#pragma unroll
    for (int i = 0; i < kPiece; ++i) columns.values[i] = words[c + i];
    *reinterpret_cast<Columns*>(row + TileLayout<To, Assembly::unaligned_groups>::column_begin(first + c)) =
        columns;
  }
}

template <class From, class To, bool kUnaligned, class Store>
__device__ __forceinline__ void read_groups(const TileParams& p, const TileTables& tables,
                                            unsigned char* tile) {
  using Layout = TileLayout<To, Assembly::unaligned_groups>;
  constexpr int kGroup = Layout::kGroup, kRead = vector_count<From>;
  const TileBase base = *tables.base;
  const bool whole = base.whole && (!kUnaligned || base.inner) && p.read_rows % kGroup == 0;
#pragma unroll 1
  for (std::uint32_t item = threadIdx.x; item < p.read_items; item += blockDim.x) {
    std::uint32_t first = item;
    const std::uint32_t group = split(first, p.read_vectors);
    first *= kRead;
    if (first >= base.read_elements) continue;
    const TileRow* entries = tables.rows + group * kGroup;
    const auto address_of = [&](int row) {
      return static_cast<const From*>(base.in) + (entries[row].offset + static_cast<std::int32_t>(first));
    };
    Words rows[kGroup];
    if (whole) {
      VectorLoad<From, kUnaligned> loads[kGroup];  // all loads are under way before the first is waited for
#pragma unroll
      for (int i = 0; i < kGroup; ++i) loads[i].start(address_of(i));
#pragma unroll
      for (int i = 0; i < kGroup; ++i) rows[i] = loads[i].template words<static_cast<int>(sizeof(From))>();
    } else {
#pragma unroll
      for (int i = 0; i < kGroup; ++i) {
        rows[i] = {};
        if (group * kGroup + i >= p.read_rows || entries[i].place == kOutside) continue;
        rows[i] = load_anywhere(p, base.input, address_of(i), static_cast<int>(base.read_elements - first));
      }
    }
    store_group<From, To, Store>(p, tile + Layout::row_begin(p, group), first, rows);
  }
}

}  // namespace relayout::RELAYOUT_BACKEND
