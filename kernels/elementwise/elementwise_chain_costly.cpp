// Chains and single operations of many instructions, others than activations, on f16, bf16 and f32.
#include "kernels/backend_kernels.hpp"
#include "kernels/elementwise/elementwise_chain.hpp"

namespace relayout::RELAYOUT_BACKEND {

void launch_chain_costly(const LaunchContext& context, const ElementwiseParams& p) {
  launch_chain<Steps::costly>(context, p);
}

}  // namespace relayout::RELAYOUT_BACKEND
