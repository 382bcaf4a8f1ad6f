// The one way a kernel is launched on a GPU.
#pragma once

#include <cstdint>
#include <string>
#include <type_traits>

#include "check.hpp"
#include "core/launch_context.hpp"
#include "kernel_language.hpp"
#include "relayout/kernel/launch_shape.hpp"

namespace relayout::RELAYOUT_BACKEND {

/// Queues kernel(args...) on the context's stream. Error{launch} names the operation.
template <class... P, class... A>
void launch(const char* operation, const LaunchContext& context, const LaunchShape& shape,
            void (*kernel)(P...), const A&... args) {
  if (shape.blocks_x > 0x7fffffff || shape.blocks_y > 65535 || shape.blocks_z > 65535) {
    throw Error(ErrorCode::launch, std::string(operation) + " needs a grid of " +
                                       std::to_string(shape.blocks_x) + " x " +
                                       std::to_string(shape.blocks_y) + " x " +
                                       std::to_string(shape.blocks_z) + " blocks, more than a GPU takes");
  }
  const DeviceGuard guard(context.device);
  check(runtime::allow_shared_memory(reinterpret_cast<const void*>(kernel), shape.shared_bytes), operation,
        ErrorCode::launch);
  const dim3 grid(static_cast<unsigned>(shape.blocks_x), static_cast<unsigned>(shape.blocks_y),
                  static_cast<unsigned>(shape.blocks_z));
  const dim3 block(static_cast<unsigned>(shape.threads_x), static_cast<unsigned>(shape.threads_y),
                   static_cast<unsigned>(shape.threads_z));
  kernel<<<grid, block, shape.shared_bytes, static_cast<runtime::Stream>(context.stream)>>>(
      static_cast<P>(args)...);
  check(runtime::take_last_error(), operation, ErrorCode::launch);
}

/// The same for one block that may wait for kernels of other devices.
template <class... P, class... A>
void launch_beside(const char* operation, const LaunchContext& context, const LaunchShape& shape,
                   void (*kernel)(P...), const A&... args) {
  launch(operation, context, shape, kernel, args...);
}

}  // namespace relayout::RELAYOUT_BACKEND
