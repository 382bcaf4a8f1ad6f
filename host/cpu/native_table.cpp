#include "host/cpu/native_table.hpp"

namespace relayout::native {

const KernelTable& kernel_table() {
  static const KernelTable table = [] {
    KernelTable native;
    native.copy = copy;
    native.window = window;
    native.window_vector = window;
    native.pad_rows = window;
    native.gemm = gemm;
    native.gemm_epilogue = gemm_epilogue;
    native.conv = conv;
    native.depthwise = depthwise;
    native.depthwise_update = depthwise_update;
    native.elementwise = elementwise;
    native.quantized = quantized;
    return native;
  }();
  return table;
}

}  // namespace relayout::native
