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
  const std::uint32_t strip = split(run, p.write_rows), vector = strip * p.write_width.extent + item;
  if (vector >= p.write_vectors) return result;
  walk(p.write_rest, run, result.rest);
  result.first = vector * vector_count<To>;
  result.exists = inside(result.rest, place);
  return result;
}

/// Assembly::elements, words and vectors.
template <class From, class To, Assembly kAssembly>
__device__ __forceinline__ void write_tile(const TileParams& p, const Place& place,
                                           const unsigned char* tile) {
  constexpr int kCount = vector_count<To>;
  constexpr int kGroup = kAssembly == Assembly::words ? 4 / static_cast<int>(sizeof(To)) : 1;
  // A lane may have less than one item: of f64 to two runs of f16.
  constexpr std::uint32_t kPerItem = kCount * kGroup;
  constexpr std::uint32_t kTurns = (elements_per_thread<From, To> + kPerItem - 1) / kPerItem;
  To* out = static_cast<To*>(p.out) + place.out;
#pragma unroll
  for (std::uint32_t turn = 0; turn < kTurns; ++turn) {
    const WriteItem item = write_item<To>(p, place, threadIdx.x + turn * blockDim.x);
    if (!item.exists || item.first >= place.write_elements) continue;
    To* address = out + item.rest.offset + static_cast<std::int32_t>(item.first);
    Position position = item.rest;
    walk(p.write_run, item.first, position);
    const unsigned char* source =
        tile + row_begin < kAssembly == Assembly::vectors
            ? 1
            : kCount > (p, position.row) + position.column * static_cast<std::uint32_t>(sizeof(To));
    if constexpr (kAssembly == Assembly::vectors) {
      Pack<std::uint32_t> words;
      load_16_bytes(&words, source);
      store_global_16_bytes(address, &words, p.streaming);
    } else if constexpr (kAssembly == Assembly::words) {
      std::uint32_t words[kCount];
#pragma unroll
      for (int i = 0; i < kCount; ++i)
        words[i] = *reinterpret_cast<const std::uint32_t*>(source + i * p.element_step);
      Pack<std::uint32_t> runs[kGroup];
      transpose_words(words, runs);
#pragma unroll
      for (int g = 0; g < kGroup; ++g)
        store_global_16_bytes(address + g * p.group_step, &runs[g], p.streaming);
    } else {
      WordsOf<To> words;
#pragma unroll
      for (int i = 0; i < kCount; ++i)
        words.set(i, *reinterpret_cast<const To*>(source + i * p.element_step));
      store_global_16_bytes(address, &words.pack, p.streaming);
    }
  }
}

/// `valid` elements to a place that may be unaligned where they are fewer than 16 bytes.
template <class To>
__device__ __forceinline__ void store_valid(To* address, const WordsOf<To>& words, int valid, bool whole,
                                            bool streaming) {
  if (whole) {
    store_global_16_bytes(address, &words.pack, streaming);
  } else {
#pragma unroll
    for (int i = 0; i < vector_count<To>; ++i) {
      if (i < valid) address[i] = words.get(i);
    }
  }
}

/// Assembly::mixed: every element of an output vector wherever the run's axes lead.
template <class From, class To>
__device__ __forceinline__ void write_mixed(const TileParams& p, const Place& place,
                                            const unsigned char* tile) {
  constexpr int kCount = vector_count<To>;
  To* out = static_cast<To*>(p.out) + place.out;
#pragma unroll 1
  for (std::uint32_t turn = 0; turn < elements_per_thread<From, To> / kCount; ++turn) {
    const WriteItem item = write_item<To>(p, place, threadIdx.x + turn * blockDim.x);
    if (!item.exists || item.first >= place.write_elements) continue;
    To* address = out + item.rest.offset + static_cast<std::int32_t>(item.first);
    const unsigned char* source = tile + item.rest.row;
    WordsOf<To> words;
#pragma unroll
    for (int i = 0; i < kCount; ++i) {
      words.set(i, *reinterpret_cast<const To*>(source + walk_bytes(p.write_run, item.first + i)));
    }
    const int valid = static_cast<int>(place.write_elements - item.first);
    const bool aligned = (reinterpret_cast<std::uintptr_t>(address) & 15) == 0;
    store_valid(address, words, valid, valid >= kCount && aligned, p.streaming);
  }
}

/// Assembly::ragged: runs that start anywhere. Whole vectors from a run's first 16-byte boundary on; the
/// run's last item takes what lies in front of it and what is left at the end, as many elements as a vector
/// together.
template <class From, class To>
__device__ __forceinline__ void write_ragged(const TileParams& p, const Place& place,
                                             const unsigned char* tile) {
  constexpr int kCount = vector_count<To>;
  To* out = static_cast<To*>(p.out) + place.out;
#pragma unroll 1
  for (std::uint32_t turn = 0; turn < elements_per_thread<From, To> / kCount; ++turn) {
    const WriteItem item = write_item<To>(p, place, threadIdx.x + turn * blockDim.x);
    if (!item.exists) continue;
    To* run = out + item.rest.offset;
    const auto place_of = [&](std::uint32_t element) {
      return tile + row_begin<kCount>(p, item.rest.row + element * p.element_row) +
             (item.rest.column + element * p.element_column) * static_cast<std::uint32_t>(sizeof(To));
    };
    const auto head =
        static_cast<std::uint32_t>(-(reinterpret_cast<std::uintptr_t>(run) / sizeof(To))) % kCount;
    const bool ends = head > 0 && item.first + kCount >= p.write_elements;
    const std::uint32_t first = ends ? item.first : item.first + head;
    const unsigned char *source = place_of(first), *front = place_of(0);
    const std::uint32_t row = (item.rest.row + first * p.element_row) % kCount;
    WordsOf<To> words;
#pragma unroll
    for (std::uint32_t i = 0; i < kCount; ++i) {
      // Element i lies one block of rows on, or in the next row of the first block.
      const std::uint32_t wrap = row + i >= kCount ? p.element_wrap : 0;
      const unsigned char* from = ends && i < head ? front : source - wrap;
      words.set(static_cast<int>(i), *reinterpret_cast<const To*>(from + i * p.element_step));
    }
    if (!ends && first + kCount <= place.write_elements) {
      store_global_16_bytes(run + first, &words.pack, p.streaming);
      continue;
    }
#pragma unroll
    for (std::uint32_t i = 0; i < kCount; ++i) {
      const std::uint32_t element = ends && i < head ? i : first + i;
      if (element < place.write_elements) run[element] = words.get(static_cast<int>(i));
    }
  }
}

}  // namespace relayout::RELAYOUT_BACKEND
