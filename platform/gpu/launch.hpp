// The one way a kernel is launched on a GPU.
#pragma once

#include <algorithm>
#include <cstdint>
#include <string>
#include <tuple>
#include <type_traits>

#include "check.hpp"
#include "core/launch_context.hpp"
#include "kernel_language.hpp"
#include "relayout/kernel/launch_shape.hpp"
#include "relayout/map/compiler.hpp"

namespace relayout::RELAYOUT_BACKEND {

/// The most blocks of so many threads that a grid of this GPU's vendor has along x.
inline std::int64_t most_blocks_x(int threads) {
  return std::min(kMaxBlocks, runtime::kMaxGridThreads / threads);
}

/// The grid and the blocks of a launch.
struct GridAndBlock {
  dim3 grid, block;

  /// On the current device. Error{launch} where a GPU takes no such grid.
  GridAndBlock(const char* operation, const LaunchShape& shape, const void* kernel)
      : grid(static_cast<unsigned>(shape.blocks_x), static_cast<unsigned>(shape.blocks_y),
             static_cast<unsigned>(shape.blocks_z)),
        block(static_cast<unsigned>(shape.threads_x), static_cast<unsigned>(shape.threads_y),
              static_cast<unsigned>(shape.threads_z)) {
    if (shape.blocks_x > most_blocks_x(shape.threads_x) || shape.blocks_y > 65535 || shape.blocks_z > 65535) {
      throw Error(ErrorCode::launch, std::string(operation) + " needs a grid of " +
                                         std::to_string(shape.blocks_x) + " x " +
                                         std::to_string(shape.blocks_y) + " x " +
                                         std::to_string(shape.blocks_z) + " blocks, more than a GPU takes");
    }
    check(relayout::detail::allow_shared_memory(kernel, shape.shared_bytes), operation, ErrorCode::launch);
  }
};

/// Queues kernel(args...) by queue(function, grid and block, addresses of the arguments). Its status counts,
/// not the last error, which may be somebody else's.
template <class Queue, class... P, class... A>
void launch_by(const Queue& queue, const char* operation, const LaunchContext& context,
               const LaunchShape& shape, void (*kernel)(P...), const A&... args) {
  const DeviceGuard guard(context.device);
  const void* const function = reinterpret_cast<const void*>(kernel);
  const GridAndBlock threads(operation, shape, function);
  std::tuple<P...> values(static_cast<P>(args)...);
  const runtime::Status status = std::apply(
      [&](auto&... value) {
        void* addresses[] = {&value...};
        return queue(function, threads, addresses);
      },
      values);
  if (status != runtime::kSuccess) (void)runtime::take_last_error();
  check(status, operation, ErrorCode::launch);
}

/// Queues kernel(args...) on the context's stream. Error{launch} names the operation.
template <class... P, class... A>
void launch(const char* operation, const LaunchContext& context, const LaunchShape& shape,
            void (*kernel)(P...), const A&... args) {
  launch_by(
      [&](const void* function, const GridAndBlock& threads, void** addresses) {
        return runtime::launch(function, threads.grid, threads.block, addresses, shape.shared_bytes,
                               static_cast<runtime::Stream>(context.stream));
      },
      operation, context, shape, kernel, args...);
}

/// The grid of numbered blocks on this GPU.
inline LaunchShape grid_on_gpu(const NumberedBlocks& blocks) {
  return grid_of(blocks, most_blocks_x(blocks.threads), kGridRow == 0 ? kMaxBlocks : kGridRow);
}

/// The same for blocks that have numbers.
template <class... P, class... A>
void launch(const char* operation, const LaunchContext& context, const NumberedBlocks& blocks,
            void (*kernel)(P...), const A&... args) {
  launch(operation, context, grid_on_gpu(blocks), kernel, args...);
}

/// The same for a kernel that may begin while the one before it ends, since it calls
/// wait_for_kernel_before().
template <class... P, class... A>
void launch_early(const char* operation, const LaunchContext& context, const NumberedBlocks& blocks,
                  void (*kernel)(P...), const A&... args) {
  const LaunchShape shape = grid_on_gpu(blocks);
  launch_by(
      [&](const void* function, const GridAndBlock& threads, void** addresses) {
        return runtime::launch_early(context.device, function, threads.grid, threads.block, addresses,
                                     shape.shared_bytes, static_cast<runtime::Stream>(context.stream));
      },
      operation, context, shape, kernel, args...);
}

/// The same for one block that may wait for kernels of other devices.
template <class... P, class... A>
void launch_beside(const char* operation, const LaunchContext& context, const LaunchShape& shape,
                   void (*kernel)(P...), const A&... args) {
  launch(operation, context, shape, kernel, args...);
}

}  // namespace relayout::RELAYOUT_BACKEND
