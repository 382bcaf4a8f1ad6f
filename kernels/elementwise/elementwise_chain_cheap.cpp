// Chains of cheap operations on f16, bf16 and f32.
#include "kernels/backend_kernels.hpp"
#include "kernels/elementwise/elementwise_chain.hpp"

namespace relayout::RELAYOUT_BACKEND {

void launch_chain_cheap(const LaunchContext& context, const ElementwiseParams& p) {
  launch_chain<Steps::cheap>(context, p);
}

}  // namespace relayout::RELAYOUT_BACKEND
