#include "core/kernel_table.hpp"

#include "kernels/backend_kernels.hpp"

namespace relayout::RELAYOUT_BACKEND {

const KernelTable& kernel_table() {
  static constexpr KernelTable table = [] {
    KernelTable kernels{};
    kernels.copy = launch_copy;
    kernels.window = launch_window;
    kernels.gemm = launch_gemm;
    kernels.conv = launch_conv;
    kernels.depthwise = launch_depthwise;
    kernels.depthwise_backward = launch_depthwise_backward;
    kernels.depthwise_sequences = launch_depthwise_sequences;
    kernels.elementwise = launch_elementwise;
    kernels.exchange_signals = launch_exchange_signals;
    return kernels;
  }();
  return table;
}

}  // namespace relayout::RELAYOUT_BACKEND
