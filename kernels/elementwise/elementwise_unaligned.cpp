// Typed element-wise kernels of operations of few instructions, in vectors that begin anywhere: rows of odd
// pitch, slices.
#include "kernels/backend_kernels.hpp"
#include "kernels/elementwise/typed_launch.hpp"

namespace relayout::RELAYOUT_BACKEND {

void launch_typed_unaligned(const LaunchContext& context, const ElementwiseParams& p) {
  launch_typed<OperandRows::unaligned, Steps::cheap>(context, p);
}

}  // namespace relayout::RELAYOUT_BACKEND
