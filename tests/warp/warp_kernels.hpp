// The kernel behind warp_test, one copy per back end.
#pragma once

#include <cstdint>

#include "core/launch_context.hpp"

namespace relayout::test {

/// What each thread of one block got from the warp operations, given value[thread].
struct WarpResults {
  std::int32_t lane;
  std::int32_t rotated;    // of the lane three ahead, around the warp
  std::int32_t exchanged;  // of the lane whose number differs in the highest bit
  std::uint64_t odd;       // ballot: whose value is odd
  std::int32_t neighbour;  // of the next lane, through shared memory and a warp barrier
};

constexpr int kWarpTestThreads = 256;

/// Queues the kernel for one block of kWarpTestThreads threads; Error{unsupported} for a warp size that the
/// back end cannot have.
using WarpLauncher = void (*)(const LaunchContext&, int warp_size, const std::int32_t* values,
                              WarpResults* results);

}  // namespace relayout::test

namespace relayout::emulator {
void launch_warp_operations(const LaunchContext&, int, const std::int32_t*, test::WarpResults*);
}
namespace relayout::cuda {
void launch_warp_operations(const LaunchContext&, int, const std::int32_t*, test::WarpResults*);
}
namespace relayout::hip {
void launch_warp_operations(const LaunchContext&, int, const std::int32_t*, test::WarpResults*);
}
