// Typed element-wise kernels on floating types.
#include "kernels/backend_kernels.hpp"
#include "kernels/elementwise/typed_launch.hpp"

namespace relayout::RELAYOUT_BACKEND {

void launch_typed_real(const LaunchContext& context, const ElementwiseParams& p) {
  launch_typed_reals<OperandRows::aligned>(context, p);
}

}  // namespace relayout::RELAYOUT_BACKEND
