// Light operations on integers of up to 32 bits, bool, and the bits of other types.
#include "kernels/backend_kernels.hpp"
#include "kernels/elementwise_kernel.hpp"

namespace relayout::RELAYOUT_BACKEND {

void launch_elementwise_word(const LaunchContext& context, const ElementwiseParams& p) {
  switch (p.width) {
    case 16:
      return launch_elementwise_of<std::int32_t, 16, LightOperations>(context, p);
    case 8:
      return launch_elementwise_of<std::int32_t, 8, LightOperations>(context, p);
    case 4:
      return launch_elementwise_of<std::int32_t, 4, LightOperations>(context, p);
    default:
      return launch_elementwise_of<std::int32_t, 2, LightOperations>(context, p);
  }
}

}  // namespace relayout::RELAYOUT_BACKEND
