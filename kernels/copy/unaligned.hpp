// 16 bytes from any address: the two aligned words of 16 bytes around them are joined by a shift. It comes in
// two parts, so that many loads can be under way before the first is waited for.
#pragma once

#include "kernels/vector.hpp"

namespace relayout::RELAYOUT_BACKEND {

/// The loads of 16 bytes from any address.
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
