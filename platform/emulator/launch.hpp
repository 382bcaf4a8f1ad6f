// Launching kernels on the fiber runtime.
#pragma once

#include "fiber_runtime.hpp"

namespace relayout::RELAYOUT_BACKEND {

/// Runs `kernel` with args converted to its parameters. context.stream is an ProcessorStream
/// (platform/processor_backend.hpp). A refused launch throws Error{launch} that names `operation`.
template <class... P, class... A>
void launch(const char* operation, const LaunchContext& context, const LaunchShape& shape,
            void (*kernel)(P...), const A&... args) {
  with_kernel_call([&](KernelCall call) { run_kernel(operation, context, shape, call); }, kernel, args...);
}

/// The same for blocks that have numbers. With 64 lanes their grids are folded from few blocks on, so that
/// the tests run them as they are on AMD.
template <class... P, class... A>
void launch(const char* operation, const LaunchContext& context, const NumberedBlocks& blocks,
            void (*kernel)(P...), const A&... args) {
  launch(operation, context, emulated_grid(context, blocks), kernel, args...);
}

/// The same for a kernel that might begin while the one before it ends.
template <class... P, class... A>
void launch_early(const char* operation, const LaunchContext& context, const NumberedBlocks& blocks,
                  void (*kernel)(P...), const A&... args) {
  launch(operation, context, blocks, kernel, args...);
}

/// The same for one block without shared memory that may wait for kernels of other host threads: it runs
/// beside their launches.
template <class... P, class... A>
void launch_beside(const char* operation, const LaunchContext& context, const LaunchShape& shape,
                   void (*kernel)(P...), const A&... args) {
  with_kernel_call([&](KernelCall call) { run_kernel_beside(operation, context, shape, call); }, kernel,
                   args...);
}

}  // namespace relayout::RELAYOUT_BACKEND
