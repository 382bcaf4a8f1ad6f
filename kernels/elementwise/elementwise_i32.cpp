// Cheap operations on integers of up to 32 bits, bool, and the bits of other types.
#include "kernels/backend_kernels.hpp"
#include "kernels/elementwise/elementwise_kernel.hpp"

namespace relayout::RELAYOUT_BACKEND {

void launch_elementwise_i32(const LaunchContext& context, const ElementwiseParams& p) {
  switch (p.width) {
    case 16:
      return launch_instance<std::int32_t, 16, Steps::cheap>(context, p);
    case 8:
      return launch_instance<std::int32_t, 8, Steps::cheap>(context, p);
    case 4:
      return launch_instance<std::int32_t, 4, Steps::cheap>(context, p);
    default:
      return launch_instance<std::int32_t, 2, Steps::cheap>(context, p);
  }
}

}  // namespace relayout::RELAYOUT_BACKEND
