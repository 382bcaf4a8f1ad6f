// Light operations on f16, bf16 and f32.
#include "kernels/backend_kernels.hpp"
#include "kernels/elementwise_kernel.hpp"

namespace relayout::RELAYOUT_BACKEND {

void launch_elementwise_single(const LaunchContext& context, const ElementwiseParams& p) {
  switch (p.width) {
    case 8:
      return launch_elementwise_of<float, 8, LightOperations>(context, p);
    case 4:
      return launch_elementwise_of<float, 4, LightOperations>(context, p);
    default:
      return launch_elementwise_of<float, 2, LightOperations>(context, p);
  }
}

}  // namespace relayout::RELAYOUT_BACKEND
