// The fiber runtime as the library's kernels and launches see it; relayout/kernel/emulation.hpp has what
// users' kernels see. Its sources are compiled without ThreadSanitizer's instrumentation even where the
// kernels have it: the runtime's own bookkeeping is no part of what is checked.
#pragma once

#include <cstdint>

#include "core/launch_context.hpp"
#include "relayout/kernel/emulation.hpp"

namespace relayout::emulator {

/// Where in the source a thread waits.
struct Site {
  const char* file;
  int line;
};

/// Refuses an access of 16 bytes: throws Error{launch}.
[[noreturn]] void refuse_misaligned(const void* address);
/// The bits that lane `source_lane` gave in the same call.
std::uint64_t warp_exchange(int lanes, std::uint64_t bits, int source_lane, Site site);
std::uint64_t warp_vote(int lanes, bool predicate, Site site);
void warp_wait(int lanes, Site site);

/// Blocks of a row of a folded grid.
constexpr std::uint32_t kEmulatedGridRow = 4;
/// The grid of numbered blocks on the context's stream. With 32 lanes no grid is folded, as on NVIDIA's GPUs.
LaunchShape emulated_grid(const LaunchContext& context, const NumberedBlocks& blocks);

/// The same as that of a stream; operation: what errors name.
void run_kernel(const char* operation, const LaunchContext& context, const LaunchShape& shape,
                KernelCall kernel);
/// The same for one block without shared memory, beside the launches of other host threads.
void run_kernel_beside(const char* operation, const LaunchContext& context, const LaunchShape& shape,
                       KernelCall kernel);

}  // namespace relayout::emulator
