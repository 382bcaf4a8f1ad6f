// Typed element-wise kernels on floating types of operations of many instructions.
#include "kernels/backend_kernels.hpp"
#include "kernels/elementwise/typed_launch.hpp"

namespace relayout::RELAYOUT_BACKEND {

void launch_typed_costly_real(const LaunchContext& context, const ElementwiseParams& p) {
  launch_typed_costly_reals<OperandRows::aligned>(context, p);
}

}  // namespace relayout::RELAYOUT_BACKEND
