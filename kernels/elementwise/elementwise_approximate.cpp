// Chains on f32 of cheap operations and of those that options.precision makes faster.
#include "kernels/backend_kernels.hpp"
#include "kernels/elementwise/elementwise_chain.hpp"

namespace relayout::RELAYOUT_BACKEND {

void launch_chain_approximate(const LaunchContext& context, const ElementwiseParams& p) {
  launch_chain_of<float, float, Steps::approximate>(context, p);
}

void launch_elementwise_approximate(const LaunchContext& context, const ElementwiseParams& p) {
  if (p.width == 4) return launch_instance<float, 4, Steps::approximate>(context, p);
  launch_instance<float, 2, Steps::approximate>(context, p);
}

}  // namespace relayout::RELAYOUT_BACKEND
