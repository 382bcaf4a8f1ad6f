// Typed element-wise kernels of functions, division and powers, in vectors that begin anywhere.
#include "kernels/backend_kernels.hpp"
#include "kernels/elementwise/typed_launch.hpp"

namespace relayout::RELAYOUT_BACKEND {

void launch_typed_costly_unaligned(const LaunchContext& context, const ElementwiseParams& p) {
  launch_typed<OperandRows::unaligned, Steps::costly>(context, p);
}

}  // namespace relayout::RELAYOUT_BACKEND
