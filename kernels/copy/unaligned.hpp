// 16 bytes from any address: the aligned words around them are joined by shifts. It comes in two parts, so
// that many loads can be under way before the first is waited for.
#pragma once

#include <cstdint>
#include <type_traits>

#include "kernels/vector.hpp"

namespace relayout::RELAYOUT_BACKEND {

/// Starts loads of 16 bytes by parts on multiples of their size.
template <class Part>
__device__ __forceinline__ void load_parts(Words& words, const Part* parts) {
  constexpr int kWords = static_cast<int>(sizeof(Part)) / 4;
#pragma unroll
  for (int i = 0; i < 4 / kWords; ++i) {
    const Part part = parts[i];
    words.values[i * kWords] = static_cast<std::uint32_t>(part);
    if constexpr (kWords == 2) words.values[i * kWords + 1] = static_cast<std::uint32_t>(part >> 32);
  }
}

/// The loads of 16 bytes from any address by the two aligned words of 16 bytes around them.
struct UnalignedLoad {
  Words low, high = {};  // the aligned words around the address
  unsigned offset;       // bytes behind the first one's start

  /// Reads the second word only where the bytes reach into it.
  __device__ __forceinline__ void start(const void* address) {
    offset = static_cast<unsigned>(reinterpret_cast<std::uintptr_t>(address) & 15);
    const auto* aligned =
        reinterpret_cast<const std::uint32_t*>(static_cast<const unsigned char*>(address) - offset);
    load_global_16_bytes(&low, aligned);
    if (offset != 0) load_global_16_bytes(&high, aligned + 4);
  }

  /// kAlignment: the address is a multiple of this many bytes.
  template <int kAlignment>
  __device__ __forceinline__ Words words() const {
    std::uint32_t words[8];
#pragma unroll
    for (int i = 0; i < 4; ++i) {
      words[i] = low.values[i];
      words[i + 4] = high.values[i];
    }
    // Shifts by 8 bytes, then by 4, then by the rest: no branch, and no index that the compiler does not
    // know. These are values, since a choice between two elements of an array would put the array into
    // memory.
#pragma unroll
    for (int i = 0; i < 6; ++i) {
      const std::uint32_t here = words[i], there = words[i + 2];
      words[i] = offset & 8 ? there : here;
    }
    if constexpr (kAlignment < 8) {
#pragma unroll
      for (int i = 0; i < 5; ++i) {
        const std::uint32_t here = words[i], there = words[i + 1];
        words[i] = offset & 4 ? there : here;
      }
    }
    Words joined;
#pragma unroll
    for (int i = 0; i < 4; ++i) {
      joined.values[i] = kAlignment < 4 ? __funnelshift_r(words[i], words[i + 1], offset % 4 * 8) : words[i];
    }
    return joined;
  }
};

/// The same of elements of kBytes, 4 or more, by parts of 4 or 8 bytes: twice as many loads, of which the
/// lanes of a warp find most in the first cache, but nothing is shifted.
template <int kBytes>
struct PartsLoad {
  static_assert(kBytes >= 4, "the parts of shorter elements are shifted");
  using Part = std::conditional_t<(kBytes >= 8), std::uint64_t, std::uint32_t>;
  Words parts;

  __device__ __forceinline__ void start(const void* address) {
    load_parts(parts, static_cast<const Part*>(address));
  }
  template <int kAlignment>
  __device__ __forceinline__ Words words() const {
    return parts;
  }
};

/// The same of any elements by the five words of 4 bytes around the address: fewer registers than two words
/// of 16 bytes, and one shift for each word of the result.
struct ShiftedLoad {
  Words parts;
  std::uint32_t last = 0;  // the word behind the parts
  unsigned offset;         // bytes behind the first word's start

  /// Each word that is read holds one of the 16 bytes at least.
  __device__ __forceinline__ void start(const void* address) {
    offset = static_cast<unsigned>(reinterpret_cast<std::uintptr_t>(address) & 3);
    const auto* aligned =
        reinterpret_cast<const std::uint32_t*>(static_cast<const unsigned char*>(address) - offset);
    load_parts(parts, aligned);
    last = aligned[offset == 0 ? 3 : 4];
  }
  template <int kAlignment>
  __device__ __forceinline__ Words words() const {
    if constexpr (kAlignment >= 4) return parts;
    Words joined;
#pragma unroll
    for (int i = 0; i < 4; ++i)
      joined.values[i] = __funnelshift_r(parts.values[i], i < 3 ? parts.values[i + 1] : last, offset * 8);
    return joined;
  }
};

/// The same for addresses on 16-byte boundaries.
struct AlignedLoad {
  Words pack;

  __device__ __forceinline__ void start(const void* address) { load_global_16_bytes(&pack, address); }
  template <int kAlignment>
  __device__ __forceinline__ Words words() const {
    return pack;
  }
};

}  // namespace relayout::RELAYOUT_BACKEND
