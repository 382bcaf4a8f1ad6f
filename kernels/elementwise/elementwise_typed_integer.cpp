// Typed element-wise kernels on bool and integers.
#include "kernels/backend_kernels.hpp"
#include "kernels/elementwise/typed_launch.hpp"

namespace relayout::RELAYOUT_BACKEND {

void launch_typed_integer(const LaunchContext& context, const ElementwiseParams& p) {
  launch_typed_integers<OperandRows::aligned>(context, p);
}

}  // namespace relayout::RELAYOUT_BACKEND
