// The fiber runtime as kernels and launches see it. Its sources are compiled without ThreadSanitizer's
// instrumentation even where the kernels have it: the runtime's own bookkeeping is no part of what is
// checked.
#pragma once

#include <cstddef>
#include <cstdint>

#include "core/launch_context.hpp"

namespace relayout::emulator {

struct Dim3 {
  std::uint32_t x, y, z;
};

// The indices of the GPU thread that runs now on this OS thread. They are rewritten at each switch. Fibers
// never leave their OS thread.
inline thread_local Dim3 threadIdx{0, 0, 0};
inline thread_local Dim3 blockIdx{0, 0, 0};
inline thread_local Dim3 blockDim{1, 1, 1};
inline thread_local Dim3 gridDim{1, 1, 1};

/// Where in the source a thread waits.
struct Site {
  const char* file;
  int line;
};

/// Refuses an access of 16 bytes: throws Error{launch}.
[[noreturn]] void refuse_misaligned(const void* address);
void block_barrier(const char* file, int line);
void* dynamic_shared() noexcept;
/// The bits that lane `source_lane` gave in the same call.
std::uint64_t warp_exchange(int lanes, std::uint64_t bits, int source_lane, Site site);
std::uint64_t warp_vote(int lanes, bool predicate, Site site);
void warp_wait(int lanes, Site site);

struct LaunchShape {
  std::int64_t blocks_x = 1, blocks_y = 1, blocks_z = 1;
  int threads_x = 1, threads_y = 1, threads_z = 1;
  std::size_t shared_bytes = 0;
};

/// One GPU thread's whole work: `call(arguments)`.
struct KernelCall {
  void (*call)(const void* arguments);
  const void* arguments;
};

/// Runs the kernel for every thread of every block and returns when all have ended. Error{launch} for a shape
/// that a GPU would refuse and for divergence; what a kernel throws ends the launch and leaves here. Launches
/// of several host threads run one after the other.
void run_kernel(const char* operation, const LaunchContext& context, const LaunchShape& shape,
                KernelCall kernel);

}  // namespace relayout::emulator
