// Chains with an operation of many instructions.
#include "kernels/backend_kernels.hpp"
#include "kernels/elementwise/elementwise_kernel.hpp"

namespace relayout::RELAYOUT_BACKEND {

void launch_elementwise_costly(const LaunchContext& context, const ElementwiseParams& p) {
  switch (p.compute) {
    case ComputeClass::i32:
      return launch_instance<std::int32_t, 2, Steps::costly>(context, p);
    case ComputeClass::i64:
      return launch_instance<std::int64_t, 2, Steps::costly>(context, p);
    case ComputeClass::f64:
      return launch_instance<double, 2, Steps::costly>(context, p);
    case ComputeClass::f32:
      if (p.width == 4) return launch_instance<float, 4, Steps::costly>(context, p);
      return launch_instance<float, 2, Steps::costly>(context, p);
  }
}

}  // namespace relayout::RELAYOUT_BACKEND
