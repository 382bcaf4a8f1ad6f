// Typed element-wise kernels on f16 and bf16 of operations of many instructions.
#include "kernels/backend_kernels.hpp"
#include "kernels/elementwise/elementwise_typed.hpp"

namespace relayout::RELAYOUT_BACKEND {

void launch_typed_costly_half(const LaunchContext& context, const ElementwiseParams& p) {
  if (p.common == DType::f16) return launch_typed_costly_of<f16, float>(context, p);
  launch_typed_costly_of<bf16, float>(context, p);
}

}  // namespace relayout::RELAYOUT_BACKEND
