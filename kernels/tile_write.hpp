// The tile from shared to global memory, in the output's order, 16 bytes a lane.
#pragma once

#include "kernels/tile_read.hpp"
#include "kernels/word_transpose.hpp"

namespace relayout::RELAYOUT_BACKEND {

/// What lane and step `item` write: a vector of an output run. The lanes of a warp cover several runs, so
/// that neither their reads of shared memory nor their writes fall on few banks or sectors.
struct WriteItem {
  std::uint32_t first = 0;  // element of the run
  Position rest;            // the run's place
  bool exists = false;
};

template <class To>
__device__ __forceinline__ WriteItem write_item(const TileParams& p, const Place& place, std::uint32_t item) {
  WriteItem result;
  std::uint32_t run = split(item, p.write_width);  // item: the vector in its strip
  const std::uint32_t strip = split(run, p.write_rows), vector = strip * p.write_width.value + item;
  if (vector >= p.write_vectors) return result;
  walk(p.write_rest, run, result.rest);
  result.first = vector * vector_count<To>;
  result.exists = inside(result.rest, place);
  return result;
}

/// Assembly::elements, words and vectors.
template <class From, class To, Assembly kAssembly, class Store>
__device__ __forceinline__ void write_tile(const TileParams& p, const Place& place,
                                           const unsigned char* tile) {
  constexpr int kCount = vector_count<To>;
  constexpr int kGroup = kAssembly == Assembly::words ? 4 / static_cast<int>(sizeof(To)) : 1;
  constexpr int kRowsPerVector = kAssembly == Assembly::vectors ? 1 : kCount;
  // A lane may have less than one item: of f64 to two runs of f16.
  constexpr std::uint32_t kPerItem = kCount * kGroup;
  constexpr std::uint32_t kTurns = (elements_per_thread<From, To> + kPerItem - 1) / kPerItem;
  To* out = static_cast<To*>(output_of(p)) + place.out;
#pragma unroll
  for (std::uint32_t turn = 0; turn < kTurns; ++turn) {
    const WriteItem item = write_item<To>(p, place, threadIdx.x + turn * blockDim.x);
    if (!item.exists || item.first >= place.write_elements) continue;
    To* address = out + item.rest.offset + static_cast<std::int32_t>(item.first);
    Position position = item.rest;
    walk(p.write_run, item.first, position);
    const unsigned char* source = tile + row_begin<kRowsPerVector>(p, position.row) +
                                  position.column * static_cast<std::uint32_t>(sizeof(To));
    if constexpr (kAssembly == Assembly::vectors) {
      Pack<std::uint32_t> words;
      load_16_bytes(&words, source);
      Store::vector(p, address, words);
    } else if constexpr (kAssembly == Assembly::words) {
      std::uint32_t words[kCount];
#pragma unroll
      for (int i = 0; i < kCount; ++i)
        words[i] = *reinterpret_cast<const std::uint32_t*>(source + i * p.element_step);
      Pack<std::uint32_t> runs[kGroup];
      transpose_words(words, runs);
#pragma unroll
      for (int g = 0; g < kGroup; ++g) Store::vector(p, address + g * p.group_step, runs[g]);
    } else {
      WordsOf<To> words;
#pragma unroll
      for (int i = 0; i < kCount; ++i)
        words.set(i, *reinterpret_cast<const To*>(source + i * p.element_step));
      Store::vector(p, address, words.pack);
    }
  }
}

/// Assembly::mixed: every element of an output vector wherever the run's axes lead.
template <class From, class To, class Store>
__device__ __forceinline__ void write_mixed(const TileParams& p, const Place& place,
                                            const unsigned char* tile) {
  constexpr int kCount = vector_count<To>;
  To* out = static_cast<To*>(output_of(p)) + place.out;
#pragma unroll 1
  for (std::uint32_t turn = 0; turn < elements_per_thread<From, To> / kCount; ++turn) {
    const WriteItem item = write_item<To>(p, place, threadIdx.x + turn * blockDim.x);
    if (!item.exists || item.first >= place.write_elements) continue;
    To* address = out + item.rest.offset + static_cast<std::int32_t>(item.first);
    const unsigned char* source = tile + item.rest.row;
    const bool aligned = (reinterpret_cast<std::uintptr_t>(address) & 15) == 0;
    if (aligned && item.first + kCount <= place.write_elements) {
      WordsOf<To> words;
#pragma unroll
      for (int i = 0; i < kCount; ++i) {
        words.set(i, *reinterpret_cast<const To*>(source + walk_bytes(p.write_run, item.first + i)));
      }
      Store::vector(p, address, words.pack);
      continue;
    }
#pragma unroll 1
    for (std::uint32_t i = 0; i < kCount && item.first + i < place.write_elements; ++i) {
      Store::element(p, address + i,
                     *reinterpret_cast<const To*>(source + walk_bytes(p.write_run, item.first + i)));
    }
  }
}

/// Each run is written from its first 32-byte boundary of memory on, and as far past the tile's own end as
/// the next tile's run starts late; the tile holds that many more rows. The first tile also writes what lies
/// before the boundary.
template <class From, class To, class Store>
__device__ __forceinline__ void write_skewed(const TileParams& p, const Place& place,
                                             const unsigned char* tile) {
  constexpr int kCount = vector_count<To>;
  constexpr std::uint32_t kBoundary = 32 / sizeof(To);
  To* out = static_cast<To*>(output_of(p)) + place.out;
  const auto skew_of = [](const To* run) {
    return static_cast<std::uint32_t>(-(reinterpret_cast<std::uintptr_t>(run) / sizeof(To))) % kBoundary;
  };
  const auto place_of = [&](const Position& rest, std::uint32_t element) {
    const std::uint32_t column = rest.column + element * p.element_column;
    return row_begin<kCount>(p, rest.row + element * p.element_row) +
           column * static_cast<std::uint32_t>(sizeof(To));
  };
#pragma unroll 1
  for (std::uint32_t turn = 0; turn < elements_per_thread<From, To> / kCount; ++turn) {
    const WriteItem item = write_item<To>(p, place, threadIdx.x + turn * blockDim.x);
    if (!item.exists) continue;
    To* run = out + item.rest.offset;
    const std::uint32_t first = item.first + skew_of(run);
    if (first >= place.write_elements) continue;
    if (first + kCount > place.write_elements) {  // the run's end: nothing behind it is in shared memory
#pragma unroll 1
      for (std::uint32_t e = first; e < place.write_elements; ++e) {
        Store::element(p, run + e, *reinterpret_cast<const To*>(tile + place_of(item.rest, e)));
      }
      continue;
    }
    const unsigned char* source = tile + place_of(item.rest, first);
    const std::uint32_t row = (item.rest.row + first * p.element_row) % kCount;
    WordsOf<To> words;
#pragma unroll
    for (int i = 0; i < kCount; ++i) {
      // Element i lies one block of rows on, or in the next row of the first block.
      const std::uint32_t wrap = row + i >= kCount ? p.element_wrap : 0;
      words.set(i, *reinterpret_cast<const To*>(source + i * p.element_step - wrap));
    }
    Store::vector(p, run + first, words.pack);
  }
  if (!place.first) return;
#pragma unroll 1
  for (std::uint32_t item = threadIdx.x; item < p.write_rows.value * kBoundary; item += blockDim.x) {
    const std::uint32_t element = item % kBoundary;
    Position rest;
    walk(p.write_rest, item / kBoundary, rest);
    To* run = out + rest.offset;
    if (inside(rest, place) && element < skew_of(run) && element < place.write_elements)
      Store::element(p, run + element, *reinterpret_cast<const To*>(tile + place_of(rest, element)));
  }
}

}  // namespace relayout::RELAYOUT_BACKEND
