// Chains with an operation of many instructions.
#include "kernels/backend_kernels.hpp"
#include "kernels/elementwise_kernel.hpp"

namespace relayout::RELAYOUT_BACKEND {

void launch_elementwise_heavy(const LaunchContext& context, const ElementwiseParams& p) {
  switch (p.compute) {
    case ComputeClass::word:
      return launch_instance<std::int32_t, 2, Steps::heavy>(context, p);
    case ComputeClass::long_word:
      return launch_instance<std::int64_t, 2, Steps::heavy>(context, p);
    case ComputeClass::twice:
      return launch_instance<double, 2, Steps::heavy>(context, p);
    case ComputeClass::single:
      if (p.width == 4) return launch_instance<float, 4, Steps::heavy>(context, p);
      return launch_instance<float, 2, Steps::heavy>(context, p);
  }
}

}  // namespace relayout::RELAYOUT_BACKEND
