// 16 bytes from any address, as the two aligned words of 16 bytes around them, joined by a shift.
#pragma once

#include "kernels/pack.hpp"

namespace relayout::RELAYOUT_BACKEND {

/// kAlignment: bytes of which the address is a multiple. kBothInside: both aligned words may be read wherever
/// the address lies between them; else the second is not where the first is all.
template <int kAlignment, bool kBothInside>
__device__ __forceinline__ Pack<std::uint32_t> load_unaligned(const void* address) {
  const unsigned offset = static_cast<unsigned>(reinterpret_cast<std::uintptr_t>(address) & 15);
  const auto* aligned =
      reinterpret_cast<const std::uint32_t*>(static_cast<const unsigned char*>(address) - offset);
  Pack<std::uint32_t> low, high;
  load_global_16_bytes(&low, aligned);
  high = low;
  if (kBothInside || offset != 0) load_global_16_bytes(&high, aligned + 4);
  std::uint32_t words[8];
#pragma unroll
  for (int i = 0; i < 4; ++i) {
    words[i] = low.values[i];
    words[i + 4] = high.values[i];
  }
  // By 8 bytes, by 4, by the rest: no branch, no index that is not known to the compiler; values, since a
  // choice between two elements of an array would put the array into memory.
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
  Pack<std::uint32_t> joined;
#pragma unroll
  for (int i = 0; i < 4; ++i) {
    joined.values[i] = kAlignment < 4 ? __funnelshift_r(words[i], words[i + 1], offset % 4 * 8) : words[i];
  }
  return joined;
}

}  // namespace relayout::RELAYOUT_BACKEND
