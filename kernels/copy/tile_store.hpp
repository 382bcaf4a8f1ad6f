// The element operations of the tile kernel. `read` converts an element of the input to one of the tile;
// `vector`, `part` and `element` store elements of the tile. kMoves: an element of the tile has the bits of
// the input.
#pragma once

#include "core/tile_params.hpp"
#include "kernels/copy/scale.hpp"
#include "kernels/vector.hpp"

namespace relayout::RELAYOUT_BACKEND {

/// Calls store(i, element i) for those elements of 16 bytes from `begin` to `end`.
template <class To, class Function>
__device__ __forceinline__ void for_each_element(const Words& words, int begin, int end,
                                                 const Function& store) {
  Vector<To> values;
  memcpy(&values, &words, 16);
#pragma unroll
  for (int i = 0; i < Vector<To>::kCount; ++i)
    if (i >= begin && i < end) store(i, values.values[i]);
}

/// out = cast(in).
struct StoreAsIs {
  static constexpr bool kMoves = true;
  template <class To, class From>
  static __device__ __forceinline__ To read(const TileParams&, From value) {
    return convert<To>(value);
  }
  template <class To>
  static __device__ __forceinline__ void vector(const TileParams& p, To* address, const Words& words) {
    store_global_16_bytes(address, &words, p.streaming);
  }
  /// Elements from `begin` to `end` of 16 bytes that lie on a boundary of 16 bytes.
  template <class To>
  static __device__ __forceinline__ void part(const TileParams&, To* address, const Words& words, int begin,
                                              int end) {
    constexpr int kPerWord = sizeof(To) < 4 ? 4 / static_cast<int>(sizeof(To)) : 1;
    if constexpr (kPerWord == 1) {
      for_each_element<To>(words, begin, end, [&](int i, To value) { address[i] = value; });
    } else {
      constexpr int kCount = 4 * kPerWord;
#pragma unroll
      for (int first = 0; first < kCount; first += kPerWord) {
        if (first >= begin && first + kPerWord <= end)
          *reinterpret_cast<std::uint32_t*>(address + first) = words.values[first / kPerWord];
      }
      // The words at both ends of which a part belongs to the run, perhaps the same one. Most lanes have one
      // of them, and go through the same code for either.
      const int low = begin > 0 ? cut_word<kPerWord>(begin) : -1,
                high = end < kCount ? cut_word<kPerWord>(end) : -1, one = low >= 0 ? low : high;
      if (one >= 0) store_elements(address, words, one, begin, end);
      if (high > one) store_elements(address, words, high, begin, end);
    }
  }
  /// The word that an element cuts in two; -1: it is the first one of a word. index >= 0.
  template <int kPerWord>
  static __device__ __forceinline__ int cut_word(int index) {
    const auto element = static_cast<std::uint32_t>(index);
    return element % kPerWord != 0 ? static_cast<int>(element / kPerWord) : -1;
  }
  /// Elements of word number `word` that lie from `begin` to `end`.
  template <class To>
  static __device__ __forceinline__ void store_elements(To* address, const Words& words, int word, int begin,
                                                        int end) {
    constexpr int kPerWord = 4 / static_cast<int>(sizeof(To));
    const std::uint32_t low = word & 1 ? words.values[1] : words.values[0],
                        high = word & 1 ? words.values[3] : words.values[2], bits = word & 2 ? high : low;
#pragma unroll
    for (int k = 0; k < kPerWord; ++k) {
      const int i = word * kPerWord + k;
      const std::uint32_t element = bits >> (k * 8 * static_cast<int>(sizeof(To)));
      To value;
      memcpy(&value, &element, sizeof(To));
      if (i >= begin && i < end) address[i] = value;
    }
  }
  template <class To>
  static __device__ __forceinline__ void element(const TileParams&, To* address, To value) {
    *address = value;
  }
};

/// out = cast(in), or cast(alpha * in) for a scaled copy, converted on the way in; the product is rounded
/// once. One instance serves both, because there is one for every pair of types.
struct ReadCast : StoreAsIs {
  static constexpr bool kMoves = false;
  template <class To, class From>
  static __device__ __forceinline__ To read(const TileParams& p, From value) {
    return p.scaled ? scale<To>(p, value) : convert<To>(value);
  }
};

/// out = alpha * in + beta * out, all of one floating type.
struct StoreScaled {
  static constexpr bool kMoves = true;
  template <class To>
  static __device__ __forceinline__ To read(const TileParams&, To value) {
    return value;
  }
  template <class To>
  static __device__ __forceinline__ void vector(const TileParams& p, To* address, const Words& words) {
    Vector<To> values;
    memcpy(&values, &words, 16);
    if (p.beta == 0) {
#pragma unroll
      for (int i = 0; i < Vector<To>::kCount; ++i) values.values[i] = scale<To>(p, values.values[i]);
    } else {
      const Vector<To> old = load_vector(address);
#pragma unroll
      for (int i = 0; i < Vector<To>::kCount; ++i)
        values.values[i] = scale_and_add<To>(p, values.values[i], old.values[i]);
    }
    store_vector(address, values, p.streaming);
  }
  template <class To>
  static __device__ __forceinline__ void part(const TileParams& p, To* address, const Words& words, int begin,
                                              int end) {
    for_each_element<To>(words, begin, end, [&](int i, To value) { element(p, address + i, value); });
  }
  template <class To>
  static __device__ __forceinline__ void element(const TileParams& p, To* address, To value) {
    *address = scale_into<To>(p, value, address);
  }
};

}  // namespace relayout::RELAYOUT_BACKEND
