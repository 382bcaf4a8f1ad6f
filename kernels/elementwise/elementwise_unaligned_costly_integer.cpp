// Typed element-wise kernels of division and powers of integers whose vectors begin anywhere.
#include "kernels/backend_kernels.hpp"
#include "kernels/elementwise/typed_launch.hpp"

namespace relayout::RELAYOUT_BACKEND {

void launch_unaligned_costly_integer(const LaunchContext& context, const ElementwiseParams& p) {
  launch_typed_costly_integers<OperandRows::unaligned>(context, p);
}

}  // namespace relayout::RELAYOUT_BACKEND
