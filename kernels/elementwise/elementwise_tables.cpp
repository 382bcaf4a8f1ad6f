// Programs of cheap operations, on tensors and codes that lie in no vectors.
#include "kernels/elementwise/elementwise_tables.hpp"
#include "kernels/backend_kernels.hpp"

namespace relayout::RELAYOUT_BACKEND {

void launch_tables(const LaunchContext& context, const ElementwiseParams& p) {
  launch_tables_of<Steps::cheap>(context, p);
}

}  // namespace relayout::RELAYOUT_BACKEND
