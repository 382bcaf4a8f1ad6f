// Typed element-wise kernels on operands whose rows lie in short pieces: a bias of three channels, or of the
// channels of small images.
#include "kernels/backend_kernels.hpp"
#include "kernels/elementwise/elementwise_typed.hpp"

namespace relayout::RELAYOUT_BACKEND {

void launch_typed_periodic_row(const LaunchContext& context, const ElementwiseParams& p) {
  launch_typed_rows<OperandRows::periodic_row>(context, p);
}

}  // namespace relayout::RELAYOUT_BACKEND
