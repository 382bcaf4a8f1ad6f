// Typed element-wise kernels on f32 and f64 of operations of many instructions.
#include "kernels/backend_kernels.hpp"
#include "kernels/elementwise/elementwise_typed.hpp"

namespace relayout::RELAYOUT_BACKEND {

void launch_typed_costly_real(const LaunchContext& context, const ElementwiseParams& p) {
  if (p.common == DType::f32) return launch_typed_costly_of<float, float>(context, p);
  launch_typed_costly_of<double, double>(context, p);
}

}  // namespace relayout::RELAYOUT_BACKEND
