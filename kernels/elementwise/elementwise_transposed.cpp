// Element-wise kernels with a transposed operand of 4 bytes an element; unsigned integers share those of
// signed ones. For other sizes strips are as fast (host/plan/elementwise/elementwise_kernel.cpp).
#include "kernels/elementwise/elementwise_transposed.hpp"
#include "kernels/backend_kernels.hpp"

namespace relayout::RELAYOUT_BACKEND {

void launch_transposed(const LaunchContext& context, const ElementwiseParams& p) {
  p.common == DType::f32 ? launch_transposed_of<float>(context, p)
                         : launch_transposed_of<std::int32_t>(context, p);
}

}  // namespace relayout::RELAYOUT_BACKEND
