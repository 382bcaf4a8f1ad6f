// The numbers of the blocks of a grid that launch() may fold into rows (NumberedBlocks in
// core/launch_context.hpp): HIP takes fewer than 2^32 threads along x, which are 2^24 blocks of 256.
#pragma once

#include <cstdint>

#include "kernel_language.hpp"

namespace relayout::RELAYOUT_BACKEND {

/// The number of this block.
__device__ __forceinline__ std::uint32_t block_index() {
  if constexpr (kGridRow == 0) {
    return blockIdx.x;
  } else {
    return blockIdx.x + blockIdx.y * kGridRow;
  }
}

/// Whether a block has nothing to do, since `number`, which it made of its own, is not one of `count`: it
/// only fills up the last row of a folded grid. Such a block must return before it reads or writes anything.
__device__ __forceinline__ bool is_spare(std::int64_t number, std::int64_t count) {
  return kGridRow != 0 && number >= count;
}

}  // namespace relayout::RELAYOUT_BACKEND
