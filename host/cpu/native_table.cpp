#include "host/cpu/native_table.hpp"

namespace relayout::native {

const KernelTable& kernel_table() {
  static const KernelTable table = [] {
    KernelTable native;
    native.tile = nullptr;  // plans are for GPUs
    native.stream = nullptr;
    native.gather = copy;
    native.window = window;
    native.window_vector = window;
    native.pad_rows = window;
    native.gemm = gemm;
    native.gemm_epilogue = gemm_epilogue;
    native.conv = conv;
    native.depthwise = depthwise;
    native.depthwise_update = depthwise_update;
    native.elementwise = elementwise;
    return native;
  }();
  return table;
}

}  // namespace relayout::native
