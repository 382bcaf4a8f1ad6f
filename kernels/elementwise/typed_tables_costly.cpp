// Typed element-wise kernels of functions, division and powers, on tensors that lie in no vectors.
#include "kernels/backend_kernels.hpp"
#include "kernels/elementwise/typed_launch.hpp"

namespace relayout::RELAYOUT_BACKEND {

void launch_typed_costly_tables(const LaunchContext& context, const ElementwiseParams& p) {
  launch_typed<OperandRows::tables, Steps::costly>(context, p);
}

}  // namespace relayout::RELAYOUT_BACKEND
