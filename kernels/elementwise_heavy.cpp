// Chains with an operation of many instructions.
#include "kernels/backend_kernels.hpp"
#include "kernels/elementwise_kernel.hpp"

namespace relayout::RELAYOUT_BACKEND {

void launch_elementwise_heavy(const LaunchContext& context, const ElementwiseParams& p) {
  switch (p.compute) {
    case ComputeClass::word:
      return launch_heavy<std::int32_t, 2>(context, p);
    case ComputeClass::long_word:
      return launch_heavy<std::int64_t, 2>(context, p);
    case ComputeClass::twice:
      return launch_heavy<double, 2>(context, p);
    case ComputeClass::single:
      if (p.width == 4) return launch_heavy<float, 4>(context, p);
      return launch_heavy<float, 2>(context, p);
  }
}

}  // namespace relayout::RELAYOUT_BACKEND
