// Launching kernels on the fiber runtime.
#pragma once

#include <tuple>

#include "fiber_runtime.hpp"

namespace relayout::RELAYOUT_BACKEND {

/// Runs `kernel` with args converted to its parameters. context.stream is an ProcessorStream
/// (platform/processor_backend.hpp). A refused launch throws Error{launch} that names `operation`.
template <class... P, class... A>
void launch(const char* operation, const LaunchContext& context, const LaunchShape& shape,
            void (*kernel)(P...), const A&... args) {
  static_assert(sizeof...(P) == sizeof...(A), "one argument for each of the kernel's parameters");
  struct Arguments {
    void (*kernel)(P...);
    std::tuple<P...> values;
  };
  const Arguments arguments{kernel, std::tuple<P...>(args...)};
  const auto call = [](const void* memory) {
    const auto& packed = *static_cast<const Arguments*>(memory);
    std::apply(packed.kernel, packed.values);
  };
  run_kernel(operation, context, shape, {call, &arguments});
}

}  // namespace relayout::RELAYOUT_BACKEND
