// Typed element-wise kernels on bool and integers whose vectors begin anywhere: rows of odd pitch, slices.
#include "kernels/backend_kernels.hpp"
#include "kernels/elementwise/typed_launch.hpp"

namespace relayout::RELAYOUT_BACKEND {

void launch_unaligned_integer(const LaunchContext& context, const ElementwiseParams& p) {
  launch_typed_integers<OperandRows::unaligned>(context, p);
}

}  // namespace relayout::RELAYOUT_BACKEND
