// Typed element-wise kernels on operands whose vectors begin anywhere: rows of odd pitch, slices.
#include "kernels/backend_kernels.hpp"
#include "kernels/elementwise/elementwise_typed.hpp"

namespace relayout::RELAYOUT_BACKEND {

void launch_typed_unaligned(const LaunchContext& context, const ElementwiseParams& p) {
  launch_typed_rows<OperandRows::unaligned>(context, p);
}

}  // namespace relayout::RELAYOUT_BACKEND
