// Typed element-wise kernels of functions, division and powers, on rows from any address.
#include "kernels/backend_kernels.hpp"
#include "kernels/elementwise/typed_launch.hpp"

namespace relayout::RELAYOUT_BACKEND {

void launch_typed_costly_chunks(const LaunchContext& context, const ElementwiseParams& p) {
  launch_typed<OperandRows::chunks, Steps::costly>(context, p);
}

}  // namespace relayout::RELAYOUT_BACKEND
