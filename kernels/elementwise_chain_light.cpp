// Chains of light operations on f16, bf16 and f32.
#include "kernels/backend_kernels.hpp"
#include "kernels/elementwise_chain.hpp"

namespace relayout::RELAYOUT_BACKEND {

void launch_chain_light(const LaunchContext& context, const ElementwiseParams& p) {
  launch_chain<Steps::light>(context, p);
}

}  // namespace relayout::RELAYOUT_BACKEND
