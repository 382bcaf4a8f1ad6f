// Moves the tile from shared to global memory where the elements of an output run lie anywhere: runs along
// several short axes, runs that start at any address. A table names the place of each element of a run; all
// runs of a tile share it. A lane puts together 16 bytes that lie on a 16-byte boundary of memory; at both
// ends of a run it stores the words and elements of them that belong to the run.
#pragma once

#include "kernels/copy/tile_write.hpp"

namespace relayout::RELAYOUT_BACKEND {

/// The places of a vector's elements, two in a word.
template <int kCount>
struct Places {
  std::uint32_t pairs[kCount / 2];
};

/// Those of the vector that begins with place `index` of the table.
template <int kCount>
__device__ __forceinline__ Places<kCount> load_places(const std::uint32_t* table, std::uint32_t chunks,
                                                      std::uint32_t index) {
  constexpr std::uint32_t kVector = kCount, kChunk = tile_place_chunk(kVector);
  using Chunk = Vector<std::uint32_t, kChunk / 2>;
  const auto* copy = reinterpret_cast<const Chunk*>(table) + index % kChunk * chunks;
  Places<kCount> places;
#pragma unroll
  for (std::uint32_t i = 0; i < kVector / kChunk; ++i) {
    const Chunk chunk = copy[tile_place_of_chunk(index / kChunk + i, chunks, kVector)];
#pragma unroll
    for (std::uint32_t k = 0; k < kChunk / 2; ++k) places.pairs[i * kChunk / 2 + k] = chunk.values[k];
  }
  return places;
}

/// The elements at these places, counted in bytes from `source`, as 16 bytes of the output.
template <class From, class To, class Store>
__device__ __forceinline__ Words collect(const TileParams& p, const unsigned char* source,
                                         const Places<vector_count<To>>& places) {
  const auto& pairs = places.pairs;
  if constexpr (converts_late<From, To, Assembly::scattered>) {
    Vector<From, vector_count<To>> held;
#pragma unroll
    for (int i = 0; i < vector_count<To>; i += 2) {
      held.values[i] = *reinterpret_cast<const From*>(source + (pairs[i / 2] & 0xffff));
      held.values[i + 1] = *reinterpret_cast<const From*>(source + (pairs[i / 2] >> 16));
    }
    return convert_held<From, To, Store>(p, held);
  }
  const auto first = [&](std::uint32_t pair) {
    return *reinterpret_cast<const To*>(source + (pair & 0xffff));
  };
  const auto second = [&](std::uint32_t pair) { return *reinterpret_cast<const To*>(source + (pair >> 16)); };
  Words words = {};
#pragma unroll
  for (int i = 0; i < vector_count<To> / 2; ++i) {
    if constexpr (sizeof(To) == 1) {
      if (i % 2 != 0) continue;
      const std::uint32_t low = permute_bytes<0x5140>(first(pairs[i]), second(pairs[i]));
      const std::uint32_t high = permute_bytes<0x5140>(first(pairs[i + 1]), second(pairs[i + 1]));
      words.values[i / 2] = permute_bytes<0x5410>(low, high);
    } else if constexpr (sizeof(To) == 2) {
      words.values[i] = permute_bytes<0x5410>(small_bits(first(pairs[i])), small_bits(second(pairs[i])));
    } else {
      set_element(words, 2 * i, first(pairs[i]));
      set_element(words, 2 * i + 1, second(pairs[i]));
    }
  }
  return words;
}

template <class From, class To, class Store>
__device__ __forceinline__ void write_scattered(const TileParams& p, const TileTables& tables,
                                                const unsigned char* tile) {
  constexpr int kCount = vector_count<To>;
  To* out = static_cast<To*>(tables.base->out);
  const int elements = static_cast<int>(tables.base->write_elements);
  const std::uint32_t chunks = tile_place_chunks<std::uint32_t>(p.period.value, kCount);
#pragma unroll 1
  for (std::uint32_t number = threadIdx.x; number < p.write_items; number += blockDim.x) {
    const WriteItem item = write_item(p, tables, number);
    if (item.run.place == kOutside) continue;
    To* run = out + item.run.offset;
    const int before = static_cast<int>(reinterpret_cast<std::uintptr_t>(run) / sizeof(To) % kCount);
    const int first = static_cast<int>(item.vector * kCount) - before;
    if (first >= elements) continue;
    // The vector's place in its period, counted from the table's begin.
    std::uint32_t inner = static_cast<std::uint32_t>(first < 0 ? 0 : first);
    const std::uint32_t period = split(inner, p.period);
    const std::uint32_t entry = static_cast<std::uint32_t>(first < 0 ? first + kCount : inner + kCount);
    const Words words = collect<From, To, Store>(p, tile + item.run.place + period * p.period_step,
                                                 load_places<kCount>(tables.vectors, chunks, entry));
    if (first >= 0 && first + kCount <= elements) {
      Store::vector(p, run + first, words);
    } else {
      Store::part(p, run + first, words, -first, elements - first);
    }
  }
}

}  // namespace relayout::RELAYOUT_BACKEND
