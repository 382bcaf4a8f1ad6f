// Operations on 64-bit integers and on f64.
#include "kernels/backend_kernels.hpp"
#include "kernels/elementwise/elementwise_kernel.hpp"

namespace relayout::RELAYOUT_BACKEND {

void launch_elementwise_wide(const LaunchContext& context, const ElementwiseParams& p) {
  if (p.compute == ComputeClass::i64) return launch_instance<std::int64_t, 2, Steps::cheap>(context, p);
  launch_instance<double, 2, Steps::cheap>(context, p);
}

}  // namespace relayout::RELAYOUT_BACKEND
