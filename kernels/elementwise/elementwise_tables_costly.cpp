// Programs of operations of which one takes many instructions, on tensors and codes that lie in no vectors.
#include "kernels/backend_kernels.hpp"
#include "kernels/elementwise/elementwise_tables.hpp"

namespace relayout::RELAYOUT_BACKEND {

void launch_tables_costly(const LaunchContext& context, const ElementwiseParams& p) {
  launch_tables_of<Steps::costly>(context, p);
}

}  // namespace relayout::RELAYOUT_BACKEND
