#include "host/cpu/native_table.hpp"

namespace relayout::native {

const KernelTable& kernel_table() {
  static const KernelTable table = [] {
    KernelTable native;
    native.copy = copy;
    native.window = window;
    native.gemm = gemm;
    native.conv = conv;
    native.depthwise = depthwise;
    native.depthwise_backward = depthwise_backward;
    native.depthwise_sequences = depthwise_sequences;
    native.elementwise = elementwise;
    native.exchange_signals = exchange_signals;
    return native;
  }();
  return table;
}

}  // namespace relayout::native
