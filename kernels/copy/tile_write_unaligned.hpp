// Moves the tile from shared to global memory, where output runs start at any address. Each run is written
// from its first boundary of memory on (kTileRunAlignment), and as far past the tile's own end as the next
// tile's run starts late; the tile holds that many more elements. The first tile also writes the elements in
// front of the boundary: 16 bytes of short elements a lane, as the ends of runs are written, since a lane for
// each would work out as many places as there may be elements.
#pragma once

#include "kernels/copy/tile_write.hpp"

namespace relayout::RELAYOUT_BACKEND {

/// Reads output runs from shared memory, from `source` on, which is the word in which a vector starts at
/// `place`.
template <class To, Assembly kAssembly>
struct UnalignedRun {
  using Layout = TileLayout<To, kAssembly>;
  static constexpr int kCount = 16 / static_cast<int>(sizeof(To));

  const TileParams& p;
  UnalignedOrigin place;
  const unsigned char* source;

  /// Word number `word`: it lies one block of rows further on, or in the next row of the first block.
  __device__ __forceinline__ const unsigned char* word_at(std::uint32_t word) const {
    const std::uint32_t wrap =
        Layout::kUnalignedRows && place.block + word >= Layout::kBlocks ? p.element_wrap : 0;
    return source + word * p.element_step - wrap;
  }
  __device__ __forceinline__ To element(std::uint32_t index) const {
    const std::uint32_t at = place.element + index;
    return reinterpret_cast<const To*>(word_at(at / Layout::kGroup))[at % Layout::kGroup];
  }
  __device__ __forceinline__ Words vector() const {
    Words result = {};
    if constexpr (Layout::kGroup > 1) {
      std::uint32_t words[5];
#pragma unroll
      for (int i = 0; i < 4; ++i) words[i] = *reinterpret_cast<const std::uint32_t*>(word_at(i));
      // There is nothing behind the last word of the tile.
      words[4] = place.element != 0 ? *reinterpret_cast<const std::uint32_t*>(word_at(4)) : 0;
#pragma unroll
      for (int i = 0; i < 4; ++i) {
        result.values[i] = __funnelshift_r(words[i], words[i + 1],
                                           place.element * 8 * static_cast<std::uint32_t>(sizeof(To)));
      }
    } else {
#pragma unroll
      for (int i = 0; i < kCount; ++i) set_element(result, i, *reinterpret_cast<const To*>(word_at(i)));
    }
    return result;
  }
  /// Elements [begin, end) of 16 bytes, the first of which lies at the origin. Nothing else is read: what
  /// would come before or behind them need not be in shared memory.
  __device__ __forceinline__ Words part(int begin, int end) const {
    Words result = {};
#pragma unroll
    for (int i = 0; i < kCount; ++i) {
      if (i >= begin && i < end) set_element(result, i, element(static_cast<std::uint32_t>(i - begin)));
    }
    return result;
  }
};

template <class To, Assembly kAssembly, class Store>
__device__ __forceinline__ void write_unaligned(const TileParams& p, const TileTables& tables,
                                                const unsigned char* tile) {
  constexpr int kCount = vector_count<To>;
  // Elements in front of the first boundary that a lane writes: 16 bytes of short ones, one of 4 or 8 bytes.
  constexpr int kEach = sizeof(To) <= 2 ? kCount : 1;
  constexpr std::uint32_t kFronts = kTileRunAlignment / sizeof(To) / kEach;
  To* out = static_cast<To*>(tables.base->out);
  const std::uint32_t elements = tables.base->write_elements;
#pragma unroll 1
  for (std::uint32_t number = threadIdx.x; number < p.write_items; number += blockDim.x) {
    const WriteItem item = write_item(p, tables, number);
    if (item.run.place == kOutside) continue;
    const UnalignedOrigin place = UnalignedOrigin::unpack(item.run.place);
    const std::uint32_t first = item.vector * kCount, left = elements - place.misalignment;
    if (first >= left) continue;
    To* address = out + (item.run.offset + static_cast<std::int32_t>(first));
    const UnalignedRun<To, kAssembly> run{p, place, tile + place.byte + item.vector * p.vector_step};
    if (first + kCount <= left) {
      Store::vector(p, address, run.vector());
    } else {
      const int end = static_cast<int>(left - first);
      Store::part(p, address, run.part(0, end), 0, end);
    }
  }
  if (!tables.base->first) return;
  const TileLimits limits = tile_limits(p);
#pragma unroll 1
  for (std::uint32_t item = threadIdx.x; item < p.write_rows.value * kFronts; item += blockDim.x) {
    const TileCoord position = walk(p.write_rest, item / kFronts);
    To* address = out + position.elements();
    // The lane's first element of the run; below 0: in front of the run.
    const int first =
                  static_cast<int>(misalignment_of(address)) - static_cast<int>(item % kFronts + 1) * kEach,
              begin = first < 0 ? -first : 0, left = static_cast<int>(elements) - first,
              end = left < kEach ? left : kEach;
    if (begin >= end || !inside(position, limits)) continue;
    const UnalignedOrigin place =
        unaligned_origin<To, kAssembly>(p, position, static_cast<std::uint32_t>(first + begin));
    const UnalignedRun<To, kAssembly> run{p, place, tile + place.byte};
    if constexpr (kEach == 1) {
      Store::element(p, address + first, run.element(0));
    } else {
      Store::part(p, address + first, run.part(begin, end), begin, end);
    }
  }
}

}  // namespace relayout::RELAYOUT_BACKEND
