// One operation in f32 of any types, on tensors in aligned vectors.
#include "kernels/elementwise/elementwise_mixed.hpp"
#include "kernels/backend_kernels.hpp"

namespace relayout::RELAYOUT_BACKEND {

void launch_mixed(const LaunchContext& context, const ElementwiseParams& p) {
  launch_mixed_of<false>(context, p);
}

}  // namespace relayout::RELAYOUT_BACKEND
