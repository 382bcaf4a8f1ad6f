// Moves the tile from global to shared memory where rows of the input start at any word. A lane reads 16
// bytes from a 16-byte boundary, and stores each of its words where it belongs in the row, so that nothing is
// read twice.
#pragma once

#include "kernels/copy/tile_read.hpp"

namespace relayout::RELAYOUT_BACKEND {

template <class From, class To, class Store>
constexpr bool moves_words = moves<From, To, Store> && sizeof(To) >= 4;

/// Rotates the 4 words, so that word number `shift` comes first.
__device__ __forceinline__ void turn_around(std::uint32_t (&words)[4], std::uint32_t shift) {
  const std::uint32_t w0 = words[0], w1 = words[1], w2 = words[2], w3 = words[3];
  const bool two = (shift & 2) != 0, one = (shift & 1) != 0;
  const std::uint32_t a = two ? w2 : w0, b = two ? w3 : w1, c = two ? w0 : w2, d = two ? w1 : w3;
  words[0] = one ? b : a;
  words[1] = one ? c : b;
  words[2] = one ? d : c;
  words[3] = one ? a : d;
}

template <class T>
__device__ __forceinline__ void read_words(const TileParams& p, const TileTables& tables,
                                           unsigned char* tile) {
  constexpr int kRead = vector_count<T>, kItems = 2;
  const TileBase base = *tables.base;
  const std::uint32_t bytes = base.read_elements * static_cast<std::uint32_t>(sizeof(T));
  if (!base.inner) {
#pragma unroll 1
    for (std::uint32_t item = threadIdx.x; item < p.read_items; item += blockDim.x) {
      std::uint32_t vector = item, place = 0;
      const std::uint32_t row = split(vector, p.read_vectors), first = vector * kRead;
      const T* address = find_vector<T>(p, tables, base, row, first, place);
      if (address == nullptr) continue;
      const Words words = load_anywhere(p, base.input, address, static_cast<int>(base.read_elements - first));
      store_16_bytes(tile + place + first * static_cast<std::uint32_t>(sizeof(T)), &words);
    }
    return;
  }
  // Lanes 8 apart would store to the same banks, so each begins with a different word.
  const std::uint32_t turn = threadIdx.x / 8;
#pragma unroll 1
  for (std::uint32_t begin = threadIdx.x; begin < p.read_items; begin += kItems * blockDim.x) {
    Words packs[kItems];  // all on their way before the first is stored
    std::uint32_t places[kItems] = {}, positions[kItems];
#pragma unroll
    for (int i = 0; i < kItems; ++i) {
      std::uint32_t vector = begin + static_cast<std::uint32_t>(i) * blockDim.x;
      const std::uint32_t number = split(vector, p.read_vectors);
      positions[i] = bytes;
      if (number >= p.read_rows) continue;
      const TileRow row = tables.rows[number];
      if (row.place == kOutside) continue;
      const auto* start = reinterpret_cast<const unsigned char*>(static_cast<const T*>(base.in) + row.offset);
      const std::uint32_t offset = static_cast<std::uint32_t>(reinterpret_cast<std::uintptr_t>(start) & 15);
      if (vector * 16 >= offset + bytes) continue;
      places[i] = row.place;
      positions[i] = vector * 16 - offset;
      load_global_16_bytes(
          &packs[i], start + (static_cast<std::int32_t>(vector * 16) - static_cast<std::int32_t>(offset)));
    }
#pragma unroll
    for (int i = 0; i < kItems; ++i) {
      if (positions[i] == bytes) continue;
      turn_around(packs[i].values, turn);
#pragma unroll
      for (std::uint32_t k = 0; k < 4; ++k) {
        const std::uint32_t at = positions[i] + (k + turn) % 4 * 4;
        if (at < bytes) *reinterpret_cast<std::uint32_t*>(tile + places[i] + at) = packs[i].values[k];
      }
    }
  }
}

}  // namespace relayout::RELAYOUT_BACKEND
