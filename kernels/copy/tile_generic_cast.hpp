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

/// The first bytes of 16 go behind the others.
template <int kBytes>
__device__ __forceinline__ void rotate_bytes(Words& words) {
  static_assert(kBytes == 2 || kBytes % 4 == 0, "half a word, or words");
  const Words old = words;
#pragma unroll
  for (int i = 0; i < 4; ++i) {
    const std::uint32_t next = old.values[(i + (kBytes < 4 ? 1 : kBytes / 4)) % 4];
    words.values[i] = kBytes < 4 ? __funnelshift_r(old.values[i], next, 16) : next;
  }
}

/// A lane's 16 bytes of the input become some pieces of 16 bytes from `target` on. Brings the elements of the
/// piece that this lane stores first to the front; the others follow round the end. Returns that piece's
/// number.
template <class T, class To>
__device__ __forceinline__ int first_piece_to_front(const unsigned char* target, Words& words) {
  if constexpr (!tile_rotates_pieces(sizeof(T), sizeof(To))) {
    return 0;
  } else {
    constexpr int kPieces = sizeof(To) / sizeof(T), kBytes = 16 / kPieces;
    const auto chunk = static_cast<std::uint32_t>(reinterpret_cast<std::uintptr_t>(target) / 16);
    const int first = static_cast<int>(tile_first_piece<std::uint32_t>(threadIdx.x, chunk, kPieces));
    if constexpr (kPieces > 4) {
      if ((first & 4) != 0) rotate_bytes<4 * kBytes>(words);
    }
    if ((first & 2) != 0) rotate_bytes<2 * kBytes>(words);
    if ((first & 1) != 0) rotate_bytes<kBytes>(words);
    return first;
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
  // One register has the piece's number in its low bits and how many are done above them.
  constexpr int kDone = 256;
  int piece = first_piece_to_front<T, To>(target, words);
#pragma unroll 1
  do {
    Vector<T, kCount> in;
    memcpy(&in, &words, sizeof in);
    store_cast_words<To, kCount>(target + piece % kPieces * 16, convert_words<T, To>(p, in));
    piece += kDone + 1;
    // The next piece's bytes to the front.
    if constexpr (kShift < 4) {
      move_up<kShift>(words.values);
    } else {
#pragma unroll
      for (int i = 0; i + kShift / 4 < 4; ++i) words.values[i] = words.values[i + kShift / 4];
    }
  } while (piece < kPieces * kDone);
}

}  // namespace relayout::RELAYOUT_BACKEND
