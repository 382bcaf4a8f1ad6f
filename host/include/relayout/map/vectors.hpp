// What one thread of a GPU does in a call of map(): a vector of the output, or the part of it at the end of a
// row. Emulated devices run the same function, thread by thread. Operands that are vectors too, on a multiple
// of their size, are read by one access of up to 16 bytes; others are read element by element.
#pragma once

#include <cstdint>
#include <type_traits>
#include <utility>

#include <relayout/map/elements.hpp>
#include <relayout/map/nest.hpp>

namespace relayout::detail {

template <class... T>
constexpr int largest_size() {
  int largest = 1;
  ((largest = static_cast<int>(sizeof(T)) > largest ? static_cast<int>(sizeof(T)) : largest), ...);
  return largest;
}

/// The unsigned integer of an element's size.
template <class T>
using Bits =
    std::conditional_t<sizeof(T) == 1, std::uint8_t,
                       std::conditional_t<sizeof(T) == 2, std::uint16_t,
                                          std::conditional_t<sizeof(T) == 4, std::uint32_t, std::uint64_t>>>;

inline namespace RELAYOUT_COMPILED_BY {

/// Where a row begins in each tensor, in elements, and a vector's first element in it, which may lie before
/// the row.
template <int kOperands>
struct VectorPlace {
  std::int64_t out = 0, operand[static_cast<std::size_t>(kOperands)] = {}, first = 0;

  RELAYOUT_HOST_DEVICE void step(const MapNest& nest, int axis, std::int64_t index) {
    out += index * nest.out_strides[axis];
    RELAYOUT_UNROLL
    for (int t = 0; t < kOperands; ++t) operand[t] += index * nest.operand[t].strides[axis];
  }
};

/// Index: an unsigned type that holds the number of vectors.
template <class Index, int kOperands>
RELAYOUT_HOST_DEVICE VectorPlace<kOperands> place_of(const MapNest& nest, Index vector) {
  VectorPlace<kOperands> place;
  const Index row_vectors = static_cast<Index>(nest.row_vectors);
  Index row = vector / row_vectors;
  place.first = static_cast<std::int64_t>(vector - row * row_vectors) * nest.width;
  for (int axis = nest.rank - 2; axis > 0; --axis) {
    const Index extent = static_cast<Index>(nest.extents[axis]), rest = row / extent;
    place.step(nest, axis, static_cast<std::int64_t>(row - rest * extent));
    row = rest;
  }
  if (nest.rank > 1) place.step(nest, 0, static_cast<std::int64_t>(row));
  return place;
}

/// Neighbouring elements in registers, stored as words, because the compiler follows numbers, not memory.
template <class T, int kWidth>
struct Vector {
  static constexpr int kBytes = kWidth * static_cast<int>(sizeof(T));
  using Word = std::conditional_t<kBytes >= 4, std::uint32_t, std::uint16_t>;
  static constexpr int kWords = kBytes / static_cast<int>(sizeof(Word));
  struct alignas(kBytes) Words {
    Word values[static_cast<std::size_t>(kWords)];
  };

  Words words;

  /// Element i, which the compiler knows.
  RELAYOUT_HOST_DEVICE Stored<T> element(int i) const {
    if constexpr (sizeof(T) == 8) {
      return bits_as<Stored<T>>(words.values[2 * i] | std::uint64_t{words.values[2 * i + 1]} << 32);
    } else {
      constexpr int kPerWord = static_cast<int>(sizeof(Word) / sizeof(T)), kBits = 8 * sizeof(T);
      return bits_as<Stored<T>>(static_cast<Bits<T>>(words.values[i / kPerWord] >> (i % kPerWord * kBits)));
    }
  }
  /// The words are 0 before the first element.
  RELAYOUT_HOST_DEVICE void put(int i, Stored<T> element) {
    const Bits<T> bits = bits_as<Bits<T>>(element);
    if constexpr (sizeof(T) == 8) {
      words.values[2 * i] = static_cast<Word>(bits);
      words.values[2 * i + 1] = static_cast<Word>(bits >> 32);
    } else {
      constexpr int kPerWord = static_cast<int>(sizeof(Word) / sizeof(T)), kBits = 8 * sizeof(T);
      words.values[i / kPerWord] |= static_cast<Word>(static_cast<Word>(bits) << (i % kPerWord * kBits));
    }
  }
};

/// A row of an operand: an element, or none, after so many others.
template <class T>
struct Row {
  const Stored<T>* data;
  std::int64_t stride;

  RELAYOUT_HOST_DEVICE Value<T> value(std::int64_t i) const { return value_of<T>(data[i * stride]); }

  template <int kWidth>
  RELAYOUT_HOST_DEVICE Vector<T, kWidth> vector(std::int64_t first) const {
    const Stored<T>* const from = data + first * stride;
    Vector<T, kWidth> vector{};
    if (stride == 1 && reinterpret_cast<std::uintptr_t>(from) % vector.kBytes == 0) {
      load_words(from, vector.words);
    } else if (stride == 0) {
      const Stored<T> element = *from;
      RELAYOUT_UNROLL
      for (int i = 0; i < kWidth; ++i) vector.put(i, element);
    } else {
      RELAYOUT_UNROLL
      for (int i = 0; i < kWidth; ++i) vector.put(i, from[i * stride]);
    }
    return vector;
  }
};

template <class Signature>
struct MapThread;

template <class Out, class... In>
struct MapThread<Out(In...)> {
  static constexpr int kOperands = static_cast<int>(sizeof...(In));
  /// Elements of a vector: as many of the largest type as 16 bytes hold.
  static constexpr int kWidth = 16 / largest_size<Out, In...>();

  /// Vector number `vector` of the nest, below nest.vectors. kVector: the nest's width, kWidth or 1.
  template <int kVector, class Functor>
  RELAYOUT_HOST_DEVICE static void run(const MapNest& nest, const Functor& functor, std::int64_t vector) {
    const VectorPlace<kOperands> place =
        nest.fits_32_bits ? place_of<std::uint32_t, kOperands>(nest, static_cast<std::uint32_t>(vector))
                          : place_of<std::uint64_t, kOperands>(nest, static_cast<std::uint64_t>(vector));
    run_at<kVector>(nest, functor, place, std::index_sequence_for<In...>());
  }

 private:
  template <int kVector, class Functor, std::size_t... I>
  RELAYOUT_HOST_DEVICE static void run_at(const MapNest& nest, const Functor& functor,
                                          const VectorPlace<kOperands>& place, std::index_sequence<I...>) {
    const int last = nest.rank - 1;
    run_in_row<kVector>(functor, static_cast<Stored<Out>*>(nest.out) + place.out, nest.out_strides[last],
                        place.first, nest.extents[last],
                        Row<In>{static_cast<const Stored<In>*>(nest.operand[I].data) + place.operand[I],
                                nest.operand[I].strides[last]}...);
  }

  template <int kVector, class Functor>
  RELAYOUT_HOST_DEVICE static void run_in_row(const Functor& functor, Stored<Out>* out,
                                              std::int64_t out_stride, std::int64_t first,
                                              std::int64_t length, const Row<In>&... rows) {
    if constexpr (kVector > 1) {
      first -= static_cast<std::int64_t>(reinterpret_cast<std::uintptr_t>(out) / sizeof(Out) % kVector);
      if (first >= 0 && first + kVector <= length)
        return run_whole<kVector>(functor, out + first, rows.template vector<kVector>(first)...);
    }
    const std::int64_t end = first + kVector < length ? first + kVector : length;
    RELAYOUT_NO_UNROLL
    for (std::int64_t i = first < 0 ? 0 : first; i < end; ++i)
      out[i * out_stride] = stored_as<Out>(functor(rows.value(i)...));
  }

  template <int kVector, class Functor>
  RELAYOUT_HOST_DEVICE static void run_whole(const Functor& functor, Stored<Out>* out,
                                             const Vector<In, kVector>&... vectors) {
    Vector<Out, kVector> results{};
    RELAYOUT_UNROLL
    for (int i = 0; i < kVector; ++i)
      results.put(i, stored_as<Out>(functor(value_of<In>(vectors.element(i))...)));
    store_words(out, results.words);
  }
};

}  // namespace RELAYOUT_COMPILED_BY
}  // namespace relayout::detail
