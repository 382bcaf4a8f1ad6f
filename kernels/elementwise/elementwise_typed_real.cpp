// Typed element-wise kernels on floating types.
#include "kernels/backend_kernels.hpp"
#include "kernels/elementwise/elementwise_typed.hpp"

namespace relayout::RELAYOUT_BACKEND {

void launch_typed_real(const LaunchContext& context, const ElementwiseParams& p) {
  const DType a = p.tensor[0].type, b = p.tensor[1].type;
  if (a == b) {
    switch (a) {
      case DType::f16:
        return launch_typed_of<f16, float>(context, p);
      case DType::bf16:
        return launch_typed_of<bf16, float>(context, p);
      case DType::f32:
        return launch_typed_of<float, float>(context, p);
      default:
        return launch_typed_of<double, double>(context, p);
    }
  }
  if (a == DType::f16) return launch_typed_of<f16, float, float, float>(context, p);
  if (a == DType::bf16) return launch_typed_of<bf16, float, float, float>(context, p);
  if (b == DType::f16) return launch_typed_of<float, f16, float, float>(context, p);
  launch_typed_of<float, bf16, float, float>(context, p);
}

}  // namespace relayout::RELAYOUT_BACKEND
