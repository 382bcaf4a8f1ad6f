#include "host/cpu/native_table.hpp"

namespace relayout::native {

const KernelTable& kernel_table() {
  static const KernelTable table = [] {
    KernelTable native;
    native.tile = nullptr;  // plans are for GPUs
    native.stream = nullptr;
    native.gather = copy;
    native.window = window;
    native.gemm = gemm;
    native.conv = conv;
    native.depthwise = depthwise;
    native.elementwise = elementwise;
    native.quantized = quantized;
    return native;
  }();
  return table;
}

}  // namespace relayout::native
