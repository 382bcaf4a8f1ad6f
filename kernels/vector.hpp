// Vector: neighbouring elements that one access moves, 16 bytes unless a kernel asks for fewer.
#pragma once

#include <cstdint>
#include <type_traits>

#include "kernel_language.hpp"

namespace relayout::RELAYOUT_BACKEND {

template <class T>
constexpr int vector_count = 16 / static_cast<int>(sizeof(T));

template <class T, int N = vector_count<T>>
struct alignas(N * sizeof(T) < 16 ? N * sizeof(T) : 16) Vector {
  static constexpr int kCount = N;
  T values[N];
};

/// The unsigned integer of an element's size.
template <class T>
using BitsOf =
    std::conditional_t<sizeof(T) == 1, std::uint8_t,
                       std::conditional_t<sizeof(T) == 2, std::uint16_t,
                                          std::conditional_t<sizeof(T) == 4, std::uint32_t, std::uint64_t>>>;

/// 16 bytes of elements that nothing is calculated with: as an array of bytes the compiler would take a
/// register for each.
using Words = Vector<std::uint32_t>;

template <class T>
__device__ __forceinline__ Vector<T> load_vector(const T* address) {
  Vector<T> vector;
  load_16_bytes(&vector, address);
  return vector;
}
template <class T>
__device__ __forceinline__ void store_vector(T* address, const Vector<T>& vector) {
  store_16_bytes(address, &vector);
}
/// To global memory. `streaming`: past the caches, for data that nobody reads soon; it leaves the L2 to the
/// input.
template <class T, int N>
__device__ __forceinline__ void store_vector(T* address, const Vector<T, N>& vector, bool streaming) {
  if constexpr (sizeof(vector) == 16) {
    store_global_16_bytes(address, &vector, streaming);
  } else {
    *reinterpret_cast<Vector<T, N>*>(address) = vector;
  }
}

/// The bits of an element of 1 or 2 bytes, zeros above them.
template <class T>
__device__ __forceinline__ std::uint32_t small_bits(T value) {
  if constexpr (sizeof(T) == 1) {
    return value;
  } else {
    std::uint16_t bits;
    memcpy(&bits, &value, 2);
    return bits;
  }
}

/// Element i, known to the compiler, of words that are 0 before the first element.
template <class T>
__device__ __forceinline__ void set_element(Words& words, int i, T value) {
  if constexpr (sizeof(T) < 4) {
    constexpr int kPerWord = 4 / static_cast<int>(sizeof(T));
    words.values[i / kPerWord] |= small_bits(value) << (i % kPerWord * 8 * static_cast<int>(sizeof(T)));
  } else {
    constexpr int kWords = static_cast<int>(sizeof(T)) / 4;
    std::uint32_t parts[kWords];
    memcpy(parts, &value, sizeof(T));
#pragma unroll
    for (int k = 0; k < kWords; ++k) words.values[i * kWords + k] = parts[k];
  }
}

}  // namespace relayout::RELAYOUT_BACKEND
