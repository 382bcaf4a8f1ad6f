// Element-wise kernels with a transposed operand; unsigned 32-bit integers share those of signed ones.
#include "kernels/elementwise/elementwise_transposed.hpp"
#include "kernels/backend_kernels.hpp"

namespace relayout::RELAYOUT_BACKEND {

void launch_transposed(const LaunchContext& context, const ElementwiseParams& p) {
  switch (p.common) {
    case DType::f16:
      return launch_transposed_of<f16, float>(context, p);
    case DType::bf16:
      return launch_transposed_of<bf16, float>(context, p);
    case DType::f32:
      return launch_transposed_of<float, float>(context, p);
    case DType::f64:
      return launch_transposed_of<double, double>(context, p);
    default:
      return launch_transposed_of<std::int32_t, std::int32_t>(context, p);
  }
}

}  // namespace relayout::RELAYOUT_BACKEND
