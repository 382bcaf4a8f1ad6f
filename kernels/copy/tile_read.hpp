// Moves the tile from global to shared memory, in the input's order.
#pragma once

#include <algorithm>

#include "kernels/copy/tile_generic_cast.hpp"
#include "kernels/copy/tile_store.hpp"
#include "kernels/copy/tile_tables.hpp"
#include "kernels/copy/unaligned.hpp"
#include "kernels/vector.hpp"

namespace relayout::RELAYOUT_BACKEND {

/// A lane moves kTileBytesPerThread of the larger elements, and at least a whole vector of the smaller ones.
template <class From, class To>
constexpr int elements_per_thread = std::max(kTileBytesPerThread / 16 *
                                                 std::min(vector_count<From>, vector_count<To>),
                                             std::max(vector_count<From>, vector_count<To>));

/// Whether the tile holds what the input holds.
template <class From, class To, class Store>
constexpr bool moves = std::is_same_v<From, To>&& Store::kMoves;

/// converts_late of the plan's assembly: all that do not start at any address are alike.
template <class From, class To>
__device__ __forceinline__ bool holds_input(const TileParams& p) {
  return converts_late<From, To, Assembly::elements> && !is_unaligned(p.assembly);
}

/// Stores 16 bytes of the input, converted, to shared memory. They are passed as words: for an array of bytes
/// the compiler would take a register for each byte.
template <class From, class To, class Store>
__device__ __forceinline__ void store_converted(const TileParams& p, unsigned char* target,
                                                const Words& words) {
  if (holds_input<From, To>(p)) return store_16_bytes(target, &words);
  if constexpr (moves<From, To, Store>) {
    store_16_bytes(target, &words);
  } else if constexpr (is_untyped<From>) {
    store_generic_cast<typename From::Bits, To>(p, target, words);
  } else {
    constexpr int kRead = vector_count<From>;
    constexpr int kPiece = kRead < vector_count<To> ? kRead : vector_count<To>, kPieces = kRead / kPiece;
    Words in = words;
    const int first = first_piece_to_front<From, To>(target, in);
    Vector<From> pack;
    memcpy(&pack, &in, 16);
#pragma unroll
    for (int piece = 0; piece < kPieces; ++piece) {
      Vector<To, kPiece> vector;
#pragma unroll
      for (int i = 0; i < kPiece; ++i)
        vector.values[i] = Store::template read<To>(p, pack.values[piece * kPiece + i]);
      *reinterpret_cast<Vector<To, kPiece>*>(target + (first + piece) % kPieces * 16) = vector;
    }
  }
}

/// Elements of 4 bytes and more come by parts; shorter ones by two whole words, since there are too few
/// places in the first cache for parts beside the tile.
template <class From, bool kUnaligned>
using VectorLoad = std::conditional_t<
    kUnaligned,
    std::conditional_t<sizeof(From) >= 4, PartsLoad<static_cast<int>(sizeof(From))>, UnalignedLoad>,
    AlignedLoad>;

/// Loads 16 bytes from any address, of which `valid` elements exist. It goes by elements where the words
/// around them may not be read.
template <class From>
__device__ __forceinline__ Words load_anywhere(const TileParams& p, const void* input, const From* address,
                                               int valid) {
  const std::int64_t begin =
      reinterpret_cast<const unsigned char*>(address) - static_cast<const unsigned char*>(input);
  if (begin - 15 >= p.in_begin && begin + 31 <= p.in_end) {
    VectorLoad<From, true> load;
    load.start(address);
    return load.template words<static_cast<int>(sizeof(From))>();
  }
  Words words = {};
#pragma unroll
  for (int i = 0; i < vector_count<From>; ++i) {
    if (i < valid) set_element(words, i, address[i]);
  }
  return words;
}

/// A vector of a row of the input; null where there is none. `place` is TileRow::place of the row.
template <class From>
__device__ __forceinline__ const From* find_vector(const TileParams& p, const TileTables& tables,
                                                   const TileBase& base, std::uint32_t row,
                                                   std::uint32_t first, std::uint32_t& place) {
  if (row >= p.read_rows || first >= base.read_elements) return nullptr;
  const TileRow entry = tables.rows[row];
  place = entry.place;
  if (entry.place == kOutside) return nullptr;
  return static_cast<const From*>(base.in) + (entry.offset + static_cast<std::int32_t>(first));
}

/// Loads that the registers beside a cast by format have room for, of which three blocks share a
/// multiprocessor: from and to elements of so many bytes.
template <int kFrom, int kTo>
constexpr int cast_loads = kFrom == 8 || (kFrom == 2 && kTo == 1) ? 2
                           : kFrom == 4 && kTo == 8               ? 1
                                                                  : 4;

template <class From, class To, bool kUnaligned, class Store>
__device__ __forceinline__ void read_tile(const TileParams& p, const TileTables& tables,
                                          unsigned char* tile) {
  constexpr int kRead = vector_count<From>, kItems = elements_per_thread<From, To> / kRead;
  // How many loads are under way at a time. Two words and their shift take many registers: there is room for
  // two pairs of words, or for one beside a cast; beside a cast by format there is none for more parts.
  constexpr int kMax = is_untyped<From> ? cast_loads<sizeof(From), sizeof(To)> : kItems;
  constexpr int kUnalignedMost = is_untyped<From>         ? 1
                                 : sizeof(From) >= 4      ? kItems
                                 : moves<From, To, Store> ? 2
                                                          : 1;
  constexpr int kInFlight = std::min(kItems, kUnaligned ? kUnalignedMost : kMax);
  const TileBase base = *tables.base;
  const auto bytes = static_cast<std::uint32_t>(holds_input<From, To>(p) ? sizeof(From) : sizeof(To));
#pragma unroll 1
  for (int begin = 0; begin < kItems; begin += kInFlight) {
    VectorLoad<From, kUnaligned> loads[kInFlight];
    std::uint32_t targets[kInFlight];
#pragma unroll
    for (int i = 0; i < kInFlight; ++i) {
      std::uint32_t vector = threadIdx.x + static_cast<std::uint32_t>(begin + i) * blockDim.x, place = 0;
      const std::uint32_t row = split(vector, p.read_vectors), first = vector * kRead;
      targets[i] = kOutside;
      const From* address = find_vector<From>(p, tables, base, row, first, place);
      if (address == nullptr) continue;
      const std::uint32_t target = place + first * bytes;
      if (kUnaligned && !base.inner) {
        const int valid = static_cast<int>(base.read_elements - first);
        store_converted<From, To, Store>(p, tile + target, load_anywhere(p, base.input, address, valid));
        continue;
      }
      targets[i] = target;
      loads[i].start(address);
    }
#pragma unroll
    for (int i = 0; i < kInFlight; ++i) {
      if (targets[i] == kOutside) continue;
      store_converted<From, To, Store>(p, tile + targets[i],
                                       loads[i].template words<static_cast<int>(sizeof(From))>());
    }
  }
}

}  // namespace relayout::RELAYOUT_BACKEND
