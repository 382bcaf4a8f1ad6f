// A vector of elements in registers: 32-bit words, the first element in the lowest bits of the first. Element
// types are known at the launch, not to the compiler: all lanes take the same branches.
#pragma once

#include <cstdint>

#include "core/elementwise_params.hpp"
#include "kernels/copy/unaligned.hpp"
#include "kernels/element_ops.hpp"

namespace relayout::RELAYOUT_BACKEND {

/// Element i as the unsigned integer of its size; the compiler knows i.
template <class Bits>
__device__ __forceinline__ Bits element_of(const Words& words, int i) {
  if constexpr (sizeof(Bits) == 8) {
    return words.values[2 * i] | static_cast<std::uint64_t>(words.values[2 * i + 1]) << 32;
  } else {
    constexpr int kPerWord = 4 / static_cast<int>(sizeof(Bits));
    return static_cast<Bits>(words.values[i / kPerWord] >> (i % kPerWord * (32 / kPerWord)));
  }
}

/// Adds an element to words, which are 0 before the first element comes.
template <class Bits>
__device__ __forceinline__ void put_element(Words& words, int i, Bits bits) {
  if constexpr (sizeof(Bits) == 8) {
    words.values[2 * i] = static_cast<std::uint32_t>(bits);
    words.values[2 * i + 1] = static_cast<std::uint32_t>(bits >> 32);
  } else {
    constexpr int kPerWord = 4 / static_cast<int>(sizeof(Bits));
    words.values[i / kPerWord] |= static_cast<std::uint32_t>(bits) << (i % kPerWord * (32 / kPerWord));
  }
}

/// The same for an index and a size that only the launch knows. Every word is touched, since an index or a
/// branch would put the words into memory.
__device__ __forceinline__ void put_any(Words& words, int i, int bytes, std::uint64_t bits) {
  const int word = i * bytes / 4, shift = i * bytes % 4 * 8;
  const std::uint32_t low = static_cast<std::uint32_t>(bits) << shift;
  const std::uint32_t high = static_cast<std::uint32_t>(bits >> 32);  // 0 of short elements
#pragma unroll
  for (int k = 0; k < 4; ++k) words.values[k] |= (k == word ? low : 0) | (k == word + 1 ? high : 0);
}
__device__ __forceinline__ std::uint64_t any_element(const Words& words, int i, int bytes) {
  const int word = i * bytes / 4, shift = i * bytes % 4 * 8;
  std::uint32_t low = 0, high = 0;
#pragma unroll
  for (int k = 0; k < 4; ++k) {
    const std::uint32_t value = words.values[k];
    low |= k == word ? value : 0;
    high |= k == word + 1 ? value : 0;
  }
  if (bytes == 8) return low | static_cast<std::uint64_t>(high) << 32;
  return (low >> shift) & (0xffffffffu >> (32 - 8 * bytes));
}

/// Packs a lane's elements into vectors.
template <class Bits, int kElements, int kVectors>
__device__ __forceinline__ void pack_elements(const Bits (&elements)[kElements], Words (&words)[kVectors]) {
  constexpr int kWidth = kElements / kVectors;
#pragma unroll
  for (int v = 0; v < kVectors; ++v) {
    words[v] = {};
#pragma unroll
    for (int i = 0; i < kWidth; ++i) put_element(words[v], i, elements[v * kWidth + i]);
  }
}

/// 16 bytes of one element, above whose bits there are zeros.
__device__ __forceinline__ Words repeated_words(std::uint64_t element, int bytes) {
  std::uint32_t low = static_cast<std::uint32_t>(element), high = static_cast<std::uint32_t>(element >> 32);
  if (bytes == 1) low *= 0x01010101u;
  if (bytes == 2) low *= 0x00010001u;
  if (bytes != 8) high = low;
  return {{low, high, low, high}};
}

/// One element in memory.
__device__ __forceinline__ std::uint64_t load_any(const unsigned char* address, int bytes) {
  switch (bytes) {
    case 1:
      return *address;
    case 2:
      return *reinterpret_cast<const std::uint16_t*>(address);
    case 4:
      return *reinterpret_cast<const std::uint32_t*>(address);
    default:
      return *reinterpret_cast<const std::uint64_t*>(address);
  }
}
__device__ __forceinline__ void store_any(unsigned char* address, int bytes, std::uint64_t bits) {
  switch (bytes) {
    case 1:
      *address = static_cast<std::uint8_t>(bits);
      return;
    case 2:
      *reinterpret_cast<std::uint16_t*>(address) = static_cast<std::uint16_t>(bits);
      return;
    case 4:
      *reinterpret_cast<std::uint32_t*>(address) = static_cast<std::uint32_t>(bits);
      return;
    default:
      *reinterpret_cast<std::uint64_t*>(address) = bits;
  }
}

/// Calls visit(TypeTag<Bits>) for the sizes of which kWidth elements fit 16 bytes.
template <int kWidth, class Visit>
__device__ __forceinline__ void visit_fitting_sizes(int bytes, Visit&& visit) {
  if (bytes == 1) return visit(TypeTag<std::uint8_t>{});
  if constexpr (kWidth <= 8) {
    if (bytes == 2) return visit(TypeTag<std::uint16_t>{});
  }
  if constexpr (kWidth <= 4) {
    if (bytes == 4) return visit(TypeTag<std::uint32_t>{});
  }
  if constexpr (kWidth <= 2) {
    if (bytes == 8) return visit(TypeTag<std::uint64_t>{});
  }
}

}  // namespace relayout::RELAYOUT_BACKEND
