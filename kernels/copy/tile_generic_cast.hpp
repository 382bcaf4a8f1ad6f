// Moves 16 bytes of the input to a tile, with any conversion between element types.
#pragma once

#include "core/tile_params.hpp"
#include "kernels/copy/cast_table.hpp"
#include "kernels/vector.hpp"

namespace relayout::RELAYOUT_BACKEND {

/// Stores elements that come as words, which they may fill in part.
template <class To, int kCount>
__device__ __forceinline__ void store_cast_words(unsigned char* target, const CastWords<To, kCount>& words) {
  if constexpr (kCount * sizeof(To) < 4) {
    static_assert(kCount * sizeof(To) == 2, "two bytes");
    *reinterpret_cast<std::uint16_t*>(target) = static_cast<std::uint16_t>(words.values[0]);
  } else {
    *reinterpret_cast<CastWords<To, kCount>*>(target) = words;
  }
}

/// The conversion of elements whose sizes are known. Between 1 and 8 bytes, a lane's 16 bytes of the input
/// become 128 bytes of the tile.
template <class T, class To>
__device__ __forceinline__ void store_generic_cast(const TileParams& p, unsigned char* target, Words words) {
  if constexpr (has_cast_table<T, To>) {
    RELAYOUT_DYNAMIC_SHARED(unsigned char, shared);
    Vector<T> in;
    memcpy(&in, &words, sizeof in);
    *reinterpret_cast<Vector<To>*>(target) = look_up(shared + p.shared_bytes, in);
    return;
  }
  constexpr int kCount = piece_count<T, To>, kPieces = 16 / static_cast<int>(sizeof(T)) / kCount;
  constexpr int kShift = kCount * static_cast<int>(sizeof(T));
#pragma unroll 1
  for (int piece = 0; piece < kPieces; ++piece) {
    Vector<T, kCount> in;
    memcpy(&in, &words, sizeof in);
    store_cast_words<To, kCount>(target + piece * 16, convert_words<T, To>(p, in));
    // The next piece's bytes to the front.
    if constexpr (kShift < 4) {
      move_up<kShift>(words.values);
    } else {
#pragma unroll
      for (int i = 0; i + kShift / 4 < 4; ++i) words.values[i] = words.values[i + kShift / 4];
    }
  }
}

}  // namespace relayout::RELAYOUT_BACKEND
