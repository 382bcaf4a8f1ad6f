// Operations on 64-bit integers and on f64.
#include "kernels/backend_kernels.hpp"
#include "kernels/elementwise_kernel.hpp"

namespace relayout::RELAYOUT_BACKEND {

void launch_elementwise_wide(const LaunchContext& context, const ElementwiseParams& p) {
  if (p.compute == ComputeClass::long_word) return launch_instance<std::int64_t, 2, Steps::light>(context, p);
  launch_instance<double, 2, Steps::light>(context, p);
}

}  // namespace relayout::RELAYOUT_BACKEND
