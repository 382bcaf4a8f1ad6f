// Cheap operations on f16, bf16 and f32.
#include "kernels/backend_kernels.hpp"
#include "kernels/elementwise/elementwise_kernel.hpp"

namespace relayout::RELAYOUT_BACKEND {

void launch_elementwise_f32(const LaunchContext& context, const ElementwiseParams& p) {
  switch (p.width) {
    case 8:
      return launch_instance<float, 8, Steps::cheap>(context, p);
    case 4:
      return launch_instance<float, 4, Steps::cheap>(context, p);
    default:
      return launch_instance<float, 2, Steps::cheap>(context, p);
  }
}

}  // namespace relayout::RELAYOUT_BACKEND
