// Turns words of neighbouring elements, so that each column of elements becomes a vector.
#pragma once

#include "kernels/vector.hpp"

namespace relayout::RELAYOUT_BACKEND {

/// runs[g] = halves g of words 0..7.
__device__ __forceinline__ void transpose_words(const std::uint32_t (&words)[8], Words (&runs)[2]) {
#pragma unroll
  for (int k = 0; k < 4; ++k) {
    runs[0].values[k] = permute_bytes<0x5410>(words[2 * k], words[2 * k + 1]);
    runs[1].values[k] = permute_bytes<0x7632>(words[2 * k], words[2 * k + 1]);
  }
}

/// runs[g] = bytes g of words 0..15.
__device__ __forceinline__ void transpose_words(const std::uint32_t (&words)[16], Words (&runs)[4]) {
#pragma unroll
  for (int k = 0; k < 4; ++k) {
    const std::uint32_t* four = words + 4 * k;
    const std::uint32_t low01 = permute_bytes<0x5140>(four[0], four[1]),
                        high01 = permute_bytes<0x7362>(four[0], four[1]);
    const std::uint32_t low23 = permute_bytes<0x5140>(four[2], four[3]),
                        high23 = permute_bytes<0x7362>(four[2], four[3]);
    runs[0].values[k] = permute_bytes<0x5410>(low01, low23);
    runs[1].values[k] = permute_bytes<0x7632>(low01, low23);
    runs[2].values[k] = permute_bytes<0x5410>(high01, high23);
    runs[3].values[k] = permute_bytes<0x7632>(high01, high23);
  }
}

}  // namespace relayout::RELAYOUT_BACKEND
