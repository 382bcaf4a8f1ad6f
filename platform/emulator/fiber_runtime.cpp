#include "fiber_runtime.hpp"

#include <algorithm>
#include <string>
#include <thread>

#include "platform/processor_backend.hpp"
#include "relayout/error.hpp"
#include "relayout/stream.hpp"
#include "worker_pool.hpp"

namespace relayout::emulator {
namespace {

constexpr std::int64_t kMaxThreads = 1024, kMaxGridYZ = 65535;
constexpr std::size_t kMaxShared = 64 * 1024;
/// A grid of HIP has fewer than 2^32 threads along each axis, and so has that of an emulated GPU of 64 lanes.
constexpr std::int64_t kMaxGridThreads = 0xffffffff;

std::string list(std::int64_t x, std::int64_t y, std::int64_t z) {
  return "[" + std::to_string(x) + ", " + std::to_string(y) + ", " + std::to_string(z) + "]";
}

[[noreturn]] void refuse(const char* operation, const std::string& why) {
  throw Error(ErrorCode::launch, std::string(operation) + ": the launch was refused: " + why);
}

int warp_size_of(const LaunchContext& context) {
  return static_cast<const ProcessorStream*>(context.stream)->emulation.warp_size;
}

// What NVIDIA and AMD GPUs both take, and with 64 lanes no larger grid than AMD's.
void check(const char* operation, const LaunchContext& context, const LaunchShape& shape) {
  if (context.stream == nullptr) refuse(operation, "it has no stream of an emulated device");
  if (shape.blocks_x < 1 || shape.blocks_y < 1 || shape.blocks_z < 1 || shape.blocks_x > kMaxBlocks ||
      shape.blocks_y > kMaxGridYZ || shape.blocks_z > kMaxGridYZ)
    refuse(operation, "a grid of " + list(shape.blocks_x, shape.blocks_y, shape.blocks_z) +
                          " blocks is not within 1 and " + list(kMaxBlocks, kMaxGridYZ, kMaxGridYZ));
  const bool positive = shape.threads_x >= 1 && shape.threads_y >= 1 && shape.threads_z >= 1;
  // Each extent first: the product of three could leave 64 bits.
  if (!positive || shape.threads_x > kMaxThreads || shape.threads_y > kMaxThreads ||
      shape.threads_z > kMaxThreads ||
      std::int64_t{shape.threads_x} * shape.threads_y * shape.threads_z > kMaxThreads)
    refuse(operation, "a block of " + list(shape.threads_x, shape.threads_y, shape.threads_z) +
                          " threads is not within 1 and 1024 threads");
  if (shape.shared_bytes > kMaxShared)
    refuse(operation,
           std::to_string(shape.shared_bytes) + " bytes of dynamic shared memory are more than 65536");
  const int warp_size = warp_size_of(context);
  const auto has_too_many = [&](std::int64_t blocks, int threads) {
    return warp_size == 64 && blocks > kMaxGridThreads / threads;
  };
  if (has_too_many(shape.blocks_x, shape.threads_x) || has_too_many(shape.blocks_y, shape.threads_y) ||
      has_too_many(shape.blocks_z, shape.threads_z))
    refuse(operation, "a grid of " + list(shape.blocks_x, shape.blocks_y, shape.blocks_z) + " blocks of " +
                          list(shape.threads_x, shape.threads_y, shape.threads_z) +
                          " threads has 2^32 threads or more along an axis, which HIP does not take");
  if (warp_size != 32 && warp_size != 64)
    refuse(operation, "a warp of " + std::to_string(warp_size) + " lanes; the emulator has 32 and 64");
}

LaunchState checked_launch(const char* operation, const LaunchContext& context, const LaunchShape& shape,
                           KernelCall kernel) {
  check(operation, context, shape);
  const EmulationOptions& options = static_cast<const ProcessorStream*>(context.stream)->emulation;
  // 2147483647 * 65535 * 65535 is less than 2^63.
  return {operation,
          shape,
          kernel,
          options,
          shape.threads_x * shape.threads_y * shape.threads_z,
          shape.blocks_x * shape.blocks_y * shape.blocks_z,
          {}};
}

int worker_count(int asked, std::int64_t blocks) {
  int workers = asked > 0 ? asked : static_cast<int>(std::thread::hardware_concurrency());
  if (has_address_sanitizer()) workers = 1;
  if (has_thread_sanitizer()) workers = asked > 0 ? std::min(asked, 4) : 2;
  return static_cast<int>(std::min<std::int64_t>(std::clamp(workers, 1, 16), blocks));
}

}  // namespace

__thread Dim3 threadIdx{0, 0, 0};
__thread Dim3 blockIdx{0, 0, 0};
__thread Dim3 blockDim{1, 1, 1};
__thread Dim3 gridDim{1, 1, 1};

void refuse_misaligned(const void* address) {
  throw Error(ErrorCode::launch, "a kernel was ended: 16 bytes at an address that is " +
                                     std::to_string(reinterpret_cast<std::uintptr_t>(address) % 16) +
                                     " behind a multiple of 16");
}

LaunchShape emulated_grid(const LaunchContext& context, const NumberedBlocks& blocks) {
  const bool folds = context.stream != nullptr && warp_size_of(context) == 64 &&
                     blocks.count <= kEmulatedGridRow * kMaxGridYZ;
  return grid_of(blocks, folds ? kEmulatedGridRow : kMaxBlocks, kEmulatedGridRow);
}

void run_kernel(const char* operation, const LaunchContext& context, const LaunchShape& shape,
                KernelCall kernel) {
  LaunchState launch = checked_launch(operation, context, shape, kernel);
  WorkerPool::instance().run(launch, worker_count(launch.options.workers, launch.blocks));
}

void run_kernel_beside(const char* operation, const LaunchContext& context, const LaunchShape& shape,
                       KernelCall kernel) {
  LaunchState launch = checked_launch(operation, context, shape, kernel);
  BlockRunner runner;
  launch.begin.release();
  runner.prepare(launch, nullptr);
  runner.run_block(0);
  runner.acquire_results();
}

void run_kernel(const Stream& stream, const LaunchShape& shape, KernelCall kernel) {
  run_kernel("launch", {stream.device().index(), stream.native()}, shape, kernel);
}

}  // namespace relayout::emulator
