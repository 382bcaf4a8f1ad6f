// Words: 4 bytes of a signal as floats. A word has 2 elements of f16 or bf16, or 1 of f32. Conversions work
// on words, so that a GPU needs no instructions to take them apart.
#pragma once

#include <cstdint>

#include "half.hpp"
#include "kernel_language.hpp"

namespace relayout::RELAYOUT_BACKEND {

template <class T>
constexpr int kPerWord = 4 / static_cast<int>(sizeof(T));

template <class T>
__device__ __forceinline__ void widen_word(std::uint32_t word, float (&values)[kPerWord<T>]) {
  if constexpr (sizeof(T) == 2) {
    word_to_floats(T{}, word, values);
  } else {
    values[0] = __uint_as_float(word);
  }
}
/// Rounds once, to nearest even.
template <class T>
__device__ __forceinline__ std::uint32_t narrow_word(const float (&values)[kPerWord<T>]) {
  if constexpr (sizeof(T) == 2) {
    return floats_to_word(T{}, values);
  } else {
    return __float_as_uint(values[0]);
  }
}

/// Moves Count words (1, 2, or a multiple of 4) between registers and an address aligned to min(4 * Count,
/// 16) bytes.
template <int Count>
__device__ __forceinline__ void load_words(std::uint32_t* registers, const void* address) {
  if constexpr (Count >= 4) {
#pragma unroll
    for (int i = 0; i < Count; i += 4)
      load_16_bytes(registers + i, static_cast<const std::uint32_t*>(address) + i);
  } else if constexpr (Count > 0) {
    struct alignas(4 * Count) Group {
      std::uint32_t words[Count];
    };
    const Group group = *static_cast<const Group*>(address);
#pragma unroll
    for (int i = 0; i < Count; ++i) registers[i] = group.words[i];
  }
}

}  // namespace relayout::RELAYOUT_BACKEND
