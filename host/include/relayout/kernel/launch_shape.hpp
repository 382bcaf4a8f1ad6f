// The grid and the blocks that a kernel is launched with.
#pragma once

#include <cstddef>
#include <cstdint>

namespace relayout {

/// Blocks of the grid, threads of a block, and bytes of dynamic shared memory that each block has. HIP, and
/// the emulator with 64 lanes, take fewer than 2^32 threads along each axis.
struct LaunchShape {
  std::int64_t blocks_x = 1;     ///< blocks along x, up to 2147483647
  std::int64_t blocks_y = 1;     ///< blocks along y, up to 65535
  std::int64_t blocks_z = 1;     ///< blocks along z, up to 65535
  int threads_x = 1;             ///< threads of a block along x; the product of all three is up to 1024
  int threads_y = 1;             ///< threads of a block along y
  int threads_z = 1;             ///< threads of a block along z
  std::size_t shared_bytes = 0;  ///< what RELAYOUT_DYNAMIC_SHARED points to
};

}  // namespace relayout
