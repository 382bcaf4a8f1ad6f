// Light operations on f16, bf16 and f32.
#include "kernels/backend_kernels.hpp"
#include "kernels/elementwise_kernel.hpp"

namespace relayout::RELAYOUT_BACKEND {

void launch_elementwise_single(const LaunchContext& context, const ElementwiseParams& p) {
  switch (p.width) {
    case 8:
      return launch_instance<float, 8, Steps::light>(context, p);
    case 4:
      return launch_instance<float, 4, Steps::light>(context, p);
    default:
      return launch_instance<float, 2, Steps::light>(context, p);
  }
}

}  // namespace relayout::RELAYOUT_BACKEND
