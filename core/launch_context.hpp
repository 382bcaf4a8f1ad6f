// Where a launch goes, and how many threads it has.
#pragma once

#include <cstddef>
#include <cstdint>

#include "core/integer_math.hpp"
#include "relayout/kernel/launch_shape.hpp"

namespace relayout {

/// Where a launch goes. `stream` is the back end's native stream.
struct LaunchContext {
  int device = 0;
  void* stream = nullptr;
};

/// A grid along x alone, whose blocks a kernel finds in blockIdx.x: for kernels whose lanes have numbers of
/// 31 bits, which every GPU takes, and for grids of a fixed size.
inline LaunchShape launch_shape(std::int64_t blocks, int threads, std::int64_t shared_bytes = 0) {
  LaunchShape shape;
  shape.blocks_x = blocks;
  shape.threads_x = threads;
  shape.shared_bytes = static_cast<std::size_t>(shared_bytes);
  return shape;
}

/// Blocks that a kernel knows by their numbers (kernels/block_index.hpp). Their count may be a size of the
/// user's: where a grid along x would have more threads than the GPU takes, launch() folds it into rows.
struct NumberedBlocks {
  std::int64_t count = 1;
  int threads = 1;  // of each, along x
  std::size_t shared_bytes = 0;
};

inline NumberedBlocks numbered_blocks(std::int64_t count, int threads, std::int64_t shared_bytes = 0) {
  return {count, threads, static_cast<std::size_t>(shared_bytes)};
}

/// Blocks of so many threads, of which each has one of `count` things.
inline NumberedBlocks one_thread_each(std::int64_t count, int threads) {
  return numbered_blocks(divide_up(count, threads), threads);
}

/// The most blocks that a grid has room for. Numbers of blocks have 31 bits.
constexpr std::int64_t kMaxBlocks = 0x7fffffff;

/// Blocks of a row where HIP's limit of 2^32 threads makes rows necessary: of 1024 threads, 2^31 threads.
constexpr std::uint32_t kLongGridRow = std::uint32_t{1} << 21;

/// The grid of numbered blocks: along x alone where that has at most `most_x` blocks, otherwise rows of `row`
/// blocks. The last row is filled up with blocks that have no number below the count. What no grid has room
/// for remains along x, and is refused at the launch.
inline LaunchShape grid_of(const NumberedBlocks& blocks, std::int64_t most_x, std::int64_t row) {
  LaunchShape shape = launch_shape(blocks.count, blocks.threads);
  shape.shared_bytes = blocks.shared_bytes;
  if (blocks.count <= most_x || blocks.count > kMaxBlocks) return shape;
  shape.blocks_x = row;
  shape.blocks_y = divide_up(blocks.count, row);
  return shape;
}

}  // namespace relayout
