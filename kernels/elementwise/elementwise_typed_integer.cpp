// Typed element-wise kernels on bool and integers; unsigned ones of 32 and 64 bits share those of their size.
#include "kernels/backend_kernels.hpp"
#include "kernels/elementwise/elementwise_typed.hpp"

namespace relayout::RELAYOUT_BACKEND {

void launch_typed_integer(const LaunchContext& context, const ElementwiseParams& p) {
  switch (p.tensor[0].type) {
    case DType::bool_:
      return launch_typed_of<bool, bool, bool, std::int32_t>(context, p);
    case DType::u8:
      return launch_typed_of<std::uint8_t, std::int32_t>(context, p);
    case DType::i8:
      return launch_typed_of<std::int8_t, std::int32_t>(context, p);
    case DType::u16:
      return launch_typed_of<std::uint16_t, std::int32_t>(context, p);
    case DType::i16:
      return launch_typed_of<std::int16_t, std::int32_t>(context, p);
    case DType::u32:
    case DType::i32:
      return launch_typed_of<std::int32_t, std::int32_t>(context, p);
    default:
      return launch_typed_of<std::int64_t, std::int64_t>(context, p);
  }
}

}  // namespace relayout::RELAYOUT_BACKEND
