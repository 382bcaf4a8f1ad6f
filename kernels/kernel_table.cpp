#include "core/kernel_table.hpp"

#include "kernels/backend_kernels.hpp"

namespace relayout::RELAYOUT_BACKEND {

const KernelTable& kernel_table() {
  static constexpr KernelTable table{launch_tile,      launch_stream,           launch_gather,
                                     launch_window,    launch_window_vector,    launch_pad_rows,
                                     launch_gemm,      launch_gemm_epilogue,    launch_conv,
                                     launch_depthwise, launch_depthwise_update, launch_elementwise};
  return table;
}

}  // namespace relayout::RELAYOUT_BACKEND
