// Typed element-wise kernels on integers of operations of many instructions: division and powers.
#include "kernels/backend_kernels.hpp"
#include "kernels/elementwise/typed_launch.hpp"

namespace relayout::RELAYOUT_BACKEND {

void launch_typed_costly_integer(const LaunchContext& context, const ElementwiseParams& p) {
  launch_typed_costly_integers<OperandRows::aligned>(context, p);
}

}  // namespace relayout::RELAYOUT_BACKEND
