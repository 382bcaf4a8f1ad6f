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

/// A grid along x alone, which has room for sizes of the user's, and blocks along x.
inline LaunchShape launch_shape(std::int64_t blocks, int threads, std::int64_t shared_bytes = 0) {
  LaunchShape shape;
  shape.blocks_x = blocks;
  shape.threads_x = threads;
  shape.shared_bytes = static_cast<std::size_t>(shared_bytes);
  return shape;
}

/// Blocks of so many threads, of which each has one of `count` things.
inline LaunchShape one_thread_each(std::int64_t count, int threads) {
  return launch_shape(divide_up(count, threads), threads);
}

}  // namespace relayout
