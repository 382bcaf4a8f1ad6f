// Typed element-wise kernels of operations of few instructions, on tensors that lie in no vectors.
#include "kernels/backend_kernels.hpp"
#include "kernels/elementwise/typed_launch.hpp"

namespace relayout::RELAYOUT_BACKEND {

void launch_typed_tables(const LaunchContext& context, const ElementwiseParams& p) {
  launch_typed<OperandRows::tables, Steps::cheap>(context, p);
}

}  // namespace relayout::RELAYOUT_BACKEND
