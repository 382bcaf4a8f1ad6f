// Chains and single operations with activations on f16, bf16 and f32.
#include "kernels/backend_kernels.hpp"
#include "kernels/elementwise/elementwise_chain.hpp"

namespace relayout::RELAYOUT_BACKEND {

void launch_chain_activation(const LaunchContext& context, const ElementwiseParams& p) {
  launch_chain<Steps::activation>(context, p);
}

}  // namespace relayout::RELAYOUT_BACKEND
