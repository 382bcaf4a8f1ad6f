#include "core/kernel_table.hpp"

#include "kernels/backend_kernels.hpp"

namespace relayout::RELAYOUT_BACKEND {

const KernelTable& kernel_table() {
  static constexpr KernelTable table = [] {
    KernelTable kernels{};
    kernels.copy = launch_copy;
    kernels.window = launch_window;
    kernels.window_vector = launch_window_vector;
    kernels.pad_rows = launch_pad_rows;
    kernels.gemm = launch_gemm;
    kernels.gemm_epilogue = launch_gemm_epilogue;
    kernels.conv = launch_conv;
    kernels.depthwise = launch_depthwise;
    kernels.depthwise_update = launch_depthwise_update;
    kernels.elementwise = launch_elementwise;
    kernels.quantized = launch_quantized;
    return kernels;
  }();
  return table;
}

}  // namespace relayout::RELAYOUT_BACKEND
