// Typed element-wise kernels of operations of many instructions on floating types whose vectors begin
// anywhere.
#include "kernels/backend_kernels.hpp"
#include "kernels/elementwise/typed_launch.hpp"

namespace relayout::RELAYOUT_BACKEND {

void launch_unaligned_costly_real(const LaunchContext& context, const ElementwiseParams& p) {
  launch_typed_costly_reals<OperandRows::unaligned>(context, p);
}

}  // namespace relayout::RELAYOUT_BACKEND
