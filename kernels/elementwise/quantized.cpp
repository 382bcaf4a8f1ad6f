// Which of the kernels of 8-bit codes takes what.
#include "kernels/backend_kernels.hpp"

namespace relayout::RELAYOUT_BACKEND {

void launch_quantized(const LaunchContext& context, const QuantizedParams& p) {
  if (p.kernel == QuantizedKernel::any) return launch_quantized_any(context, p);
  launch_quantized_arithmetic(context, p);
}

}  // namespace relayout::RELAYOUT_BACKEND
