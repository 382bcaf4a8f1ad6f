// Typed element-wise kernels of division and powers of integers that lie in no vectors.
#include "kernels/backend_kernels.hpp"
#include "kernels/elementwise/typed_launch.hpp"

namespace relayout::RELAYOUT_BACKEND {

void launch_typed_tables_costly_integer(const LaunchContext& context, const ElementwiseParams& p) {
  launch_typed_costly_integers<OperandRows::tables>(context, p);
}

}  // namespace relayout::RELAYOUT_BACKEND
