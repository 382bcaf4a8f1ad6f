// 16 bytes from any address, as the two aligned words of 16 bytes around them, joined by a shift.
#pragma once

#include "kernels/pack.hpp"

namespace relayout::RELAYOUT_BACKEND {

/// Both aligned words are read where the address is not aligned, the one that starts at it otherwise.
__device__ __forceinline__ Pack<std::uint32_t> load_unaligned(const void* address) {
  const unsigned offset = static_cast<unsigned>(reinterpret_cast<std::uintptr_t>(address) & 15);
  const auto* aligned =
      reinterpret_cast<const std::uint32_t*>(static_cast<const unsigned char*>(address) - offset);
  const Pack<std::uint32_t> low = load_pack(aligned);
  const Pack<std::uint32_t> high = offset == 0 ? low : load_pack(aligned + 4);
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
#pragma unroll
  for (int i = 0; i < 5; ++i) {
    const std::uint32_t here = words[i], there = words[i + 1];
    words[i] = offset & 4 ? there : here;
  }
  Pack<std::uint32_t> joined;
#pragma unroll
  for (int i = 0; i < 4; ++i) joined.values[i] = __funnelshift_r(words[i], words[i + 1], offset % 4 * 8);
  return joined;
}

}  // namespace relayout::RELAYOUT_BACKEND
