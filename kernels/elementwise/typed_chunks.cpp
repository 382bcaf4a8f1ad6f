// Typed element-wise kernels of operations of few instructions, on rows from any address.
#include "kernels/backend_kernels.hpp"
#include "kernels/elementwise/typed_launch.hpp"

namespace relayout::RELAYOUT_BACKEND {

void launch_typed_chunks(const LaunchContext& context, const ElementwiseParams& p) {
  launch_typed<OperandRows::chunks, Steps::cheap>(context, p);
}

}  // namespace relayout::RELAYOUT_BACKEND
