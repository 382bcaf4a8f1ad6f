// Typed element-wise kernels on operands whose rows lie in short pieces: a bias of three channels, or of the
// channels of small images.
#include "kernels/backend_kernels.hpp"
#include "kernels/elementwise_typed.hpp"

namespace relayout::RELAYOUT_BACKEND {

void launch_typed_folded(const LaunchContext& context, const ElementwiseParams& p, DType type) {
  launch_typed_rows<OperandRows::folded>(context, p, type);
}

}  // namespace relayout::RELAYOUT_BACKEND
