// One operation in f32 of any types, on rows from any address.
#include "kernels/backend_kernels.hpp"
#include "kernels/elementwise/elementwise_mixed.hpp"

namespace relayout::RELAYOUT_BACKEND {

void launch_mixed_chunks(const LaunchContext& context, const ElementwiseParams& p) {
  launch_mixed_of<true>(context, p);
}

}  // namespace relayout::RELAYOUT_BACKEND
