// Typed element-wise kernels on operands whose vectors begin anywhere: rows of odd pitch, slices.
#include "kernels/backend_kernels.hpp"
#include "kernels/elementwise_typed.hpp"

namespace relayout::RELAYOUT_BACKEND {

void launch_typed_unaligned(const LaunchContext& context, const ElementwiseParams& p, DType type) {
  switch (type) {
    case DType::u8:
      return launch_unaligned_of<std::uint8_t, std::int32_t>(context, p);
    case DType::i8:
      return launch_unaligned_of<std::int8_t, std::int32_t>(context, p);
    case DType::u32:
    case DType::i32:
      return launch_unaligned_of<std::int32_t, std::int32_t>(context, p);
    case DType::f16:
      return launch_unaligned_of<f16, float>(context, p);
    case DType::bf16:
      return launch_unaligned_of<bf16, float>(context, p);
    case DType::f32:
      return launch_unaligned_of<float, float>(context, p);
    default:
      return launch_unaligned_of<double, double>(context, p);
  }
}

}  // namespace relayout::RELAYOUT_BACKEND
