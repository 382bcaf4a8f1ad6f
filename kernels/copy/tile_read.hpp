// The tile from global to shared memory, in the input's order.
#pragma once

#include "kernels/copy/tile_generic_cast.hpp"
#include "kernels/copy/tile_store.hpp"
#include "kernels/copy/tile_tables.hpp"
#include "kernels/copy/unaligned.hpp"
#include "kernels/element_ops.hpp"
#include "kernels/pack.hpp"

namespace relayout::RELAYOUT_BACKEND {

template <class T>
constexpr int vector_count = 16 / static_cast<int>(sizeof(T));
template <class From, class To>
constexpr int elements_per_thread = kTileBytesPerThread /
                                    static_cast<int>(sizeof(From) > sizeof(To) ? sizeof(From) : sizeof(To));

template <class T, int kCount>
struct alignas(kCount * sizeof(T) < 16 ? kCount * sizeof(T) : 16) Vector {
  T values[kCount];
};

/// 16 bytes put together from elements.
template <class T>
struct WordsOf {
  Pack<std::uint32_t> pack = {};

  /// Element i, known to the compiler.
  __device__ __forceinline__ void set(int i, T value) {
    if constexpr (sizeof(T) < 4) {
      constexpr int kPerWord = 4 / static_cast<int>(sizeof(T));
      pack.values[i / kPerWord] |= bits_of(value) << (i % kPerWord * 8 * static_cast<int>(sizeof(T)));
    } else {
      constexpr int kWords = static_cast<int>(sizeof(T)) / 4;
      std::uint32_t words[kWords];
      memcpy(words, &value, sizeof(T));
#pragma unroll
      for (int k = 0; k < kWords; ++k) pack.values[i * kWords + k] = words[k];
    }
  }

  static __device__ __forceinline__ std::uint32_t bits_of(T value) {
    if constexpr (sizeof(T) == 1) {
      return value;
    } else {
      std::uint16_t bits;
      memcpy(&bits, &value, 2);
      return bits;
    }
  }
};

/// Whether the tile holds what the input holds.
template <class From, class To, class Store>
constexpr bool moves = std::is_same_v<From, To>&& Store::kMoves;

/// 16 bytes of the input, converted, to shared memory. They travel as words: as an array of bytes the
/// compiler would take a register for each.
template <class From, class To, class Store>
__device__ __forceinline__ void store_converted(const TileParams& p, unsigned char* target,
                                                const Pack<std::uint32_t>& words) {
  if constexpr (moves<From, To, Store>) {
    store_16_bytes(target, &words);
  } else if constexpr (is_untyped<From>) {
    store_generic_cast<typename From::Bits, To>(p, target, words);
  } else {
    constexpr int kRead = vector_count<From>;
    constexpr int kPiece = kRead < vector_count<To> ? kRead : vector_count<To>;
    Pack<From> pack;
    memcpy(&pack, &words, 16);
#pragma unroll
    for (int piece = 0; piece < kRead / kPiece; ++piece) {
      Vector<To, kPiece> vector;
#pragma unroll
      for (int i = 0; i < kPiece; ++i)
        vector.values[i] = Store::template read<To>(p, pack.values[piece * kPiece + i]);
      *reinterpret_cast<Vector<To, kPiece>*>(target + piece * 16) = vector;
    }
  }
}

/// 16 bytes from any address of which `valid` elements exist; by elements where the words around them may not
/// be read.
template <class From>
__device__ __forceinline__ Pack<std::uint32_t> load_anywhere(const TileParams& p, const void* input,
                                                             const From* address, int valid) {
  const std::int64_t begin =
      reinterpret_cast<const unsigned char*>(address) - static_cast<const unsigned char*>(input);
  if (begin - 15 >= p.in_begin && begin + 31 <= p.in_end) {
    UnalignedLoad load;
    load.start(address);
    return load.words<static_cast<int>(sizeof(From))>();
  }
  WordsOf<From> words;
#pragma unroll
  for (int i = 0; i < vector_count<From>; ++i) {
    if (i < valid) words.set(i, address[i]);
  }
  return words.pack;
}

template <bool kUnaligned>
using VectorLoad = std::conditional_t<kUnaligned, UnalignedLoad, AlignedLoad>;

/// A vector of a row of the input, null where there is none; `place`: TileRow::place of the row.
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

template <class From, class To, bool kUnaligned, class Store>
__device__ __forceinline__ void read_tile(const TileParams& p, const TileTables& tables,
                                          unsigned char* tile) {
  constexpr int kRead = vector_count<From>, kItems = elements_per_thread<From, To> / kRead;
  // Loads on their way at a time. Two words and their shift take many registers: more blocks in their place
  // have more loads on their way.
  constexpr int kInFlight = kUnaligned ? 1 : kItems;
  const TileBase base = *tables.base;
#pragma unroll 1
  for (int begin = 0; begin < kItems; begin += kInFlight) {
    VectorLoad<kUnaligned> loads[kInFlight];
    std::uint32_t targets[kInFlight];
#pragma unroll
    for (int i = 0; i < kInFlight; ++i) {
      std::uint32_t vector = threadIdx.x + static_cast<std::uint32_t>(begin + i) * blockDim.x, place = 0;
      const std::uint32_t row = split(vector, p.read_vectors), first = vector * kRead;
      targets[i] = kOutside;
      const From* address = find_vector<From>(p, tables, base, row, first, place);
      if (address == nullptr) continue;
      const std::uint32_t target = place + first * static_cast<std::uint32_t>(sizeof(To));
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
