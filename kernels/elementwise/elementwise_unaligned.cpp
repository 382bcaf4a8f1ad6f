// Typed element-wise kernels on operands whose vectors begin anywhere: rows of odd pitch, slices.
#include "kernels/backend_kernels.hpp"
#include "kernels/elementwise/elementwise_typed.hpp"

namespace relayout::RELAYOUT_BACKEND {

void launch_typed_unaligned(const LaunchContext& context, const ElementwiseParams& p, DType type) {
  launch_typed_rows<OperandRows::unaligned>(context, p, type);
}

}  // namespace relayout::RELAYOUT_BACKEND
