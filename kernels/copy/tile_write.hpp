// Moves the tile from shared to global memory, in the output's order, 16 bytes a lane.
#pragma once

#include "core/integer_math.hpp"
#include "kernels/copy/tile_read.hpp"
#include "kernels/copy/word_transpose.hpp"

namespace relayout::RELAYOUT_BACKEND {

/// The vector of an output run that a lane writes in step `item`. The lanes of a warp cover several runs, so
/// that neither their reads of shared memory nor their writes fall on few banks or sectors.
struct WriteItem {
  std::uint32_t vector;  // of the run; none from TileParams::write_vectors on
  TileRow run;
};

__device__ __forceinline__ WriteItem write_item(const TileParams& p, const TileTables& tables,
                                                std::uint32_t item) {
  std::uint32_t run = split(item, p.write_width);  // item: the vector in its strip
  const std::uint32_t strip = split(run, p.write_rows), vector = strip * p.write_width.value + item;
  if (vector >= p.write_vectors) return {vector, {0, kOutside}};
  return {vector, tables.runs[run]};
}

/// 16 bytes of the output from elements as they came.
template <class From, class To, class Store>
__device__ __forceinline__ Words convert_held(const TileParams& p,
                                              const Vector<From, vector_count<To>>& held) {
  Words words;
  if constexpr (is_untyped<From>) {
    Vector<typename From::Bits, vector_count<To>> bits;
    memcpy(&bits, &held, sizeof bits);
    const auto converted = convert_words<typename From::Bits, To>(p, bits);
    memcpy(&words, &converted, 16);
  } else {
    Vector<To> converted;
#pragma unroll
    for (int i = 0; i < vector_count<To>; ++i)
      converted.values[i] = Store::template read<To>(p, held.values[i]);
    memcpy(&words, &converted, 16);
  }
  return words;
}

/// Assembles a vector for Assembly::elements, words and vectors.
template <class From, class To, Assembly kAssembly, class Store>
__device__ __forceinline__ void write_tile(const TileParams& p, const TileTables& tables,
                                           const unsigned char* tile) {
  constexpr int kCount = vector_count<To>;
  constexpr int kGroup = kAssembly == Assembly::words ? 4 / static_cast<int>(sizeof(To)) : 1;
  constexpr bool kLate = converts_late<From, To, kAssembly>;
  using Layout = TileLayout<To, kAssembly, held_bytes<From, To, kAssembly>>;
  // A lane may have less than one item, for example with f64 that become two runs of f16.
  constexpr std::uint32_t kPerItem = kCount * kGroup;
  constexpr std::uint32_t kTurns = divide_up(elements_per_thread<From, To>, kPerItem);
  To* out = static_cast<To*>(tables.base->out);
  const std::uint32_t elements = tables.base->write_elements;
#pragma unroll 2
  for (std::uint32_t turn = 0; turn < kTurns; ++turn) {
    const std::uint32_t number = threadIdx.x + turn * blockDim.x;
    if (number >= p.write_items) break;
    const WriteItem item = write_item(p, tables, number);
    const std::uint32_t first = item.vector * kCount;
    if (item.run.place == kOutside || first >= elements) continue;
    To* address = out + (item.run.offset + static_cast<std::int32_t>(first));
    const std::uint32_t at = item.run.place + tables.vectors[item.vector];
    const unsigned char* source = tile + Layout::row_begin(p, at & 0xffff) + Layout::column_begin(at >> 16);
    if constexpr (kLate) {
      Vector<From, kCount> held;
      if constexpr (kAssembly == Assembly::vectors) {
        held = *reinterpret_cast<const Vector<From, kCount>*>(source);
      } else {
#pragma unroll
        for (int i = 0; i < kCount; ++i)
          held.values[i] = *reinterpret_cast<const From*>(source + i * p.element_step);
      }
      Store::vector(p, address, convert_held<From, To, Store>(p, held));
    } else if constexpr (kAssembly == Assembly::vectors) {
      Words words;
      load_16_bytes(&words, source);
      Store::vector(p, address, words);
    } else if constexpr (kAssembly == Assembly::words) {
      std::uint32_t words[kCount];
#pragma unroll
      for (int i = 0; i < kCount; ++i)
        words[i] = *reinterpret_cast<const std::uint32_t*>(source + i * p.element_step);
      Words runs[kGroup];
      transpose_words(words, runs);
#pragma unroll
      for (int g = 0; g < kGroup; ++g) Store::vector(p, address + g * p.group_step, runs[g]);
    } else {
      Words words = {};
#pragma unroll
      for (int i = 0; i < kCount; ++i)
        set_element(words, i, *reinterpret_cast<const To*>(source + i * p.element_step));
      Store::vector(p, address, words);
    }
  }
}

}  // namespace relayout::RELAYOUT_BACKEND
