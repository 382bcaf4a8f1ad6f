// Typed element-wise kernels of operations of few instructions, in aligned vectors.
#include "kernels/backend_kernels.hpp"
#include "kernels/elementwise/typed_launch.hpp"

namespace relayout::RELAYOUT_BACKEND {

void launch_typed_aligned(const LaunchContext& context, const ElementwiseParams& p) {
  launch_typed<OperandRows::aligned, Steps::cheap>(context, p);
}

}  // namespace relayout::RELAYOUT_BACKEND
