// Typed element-wise kernels on integers of operations of many instructions: division and powers.
#include "kernels/backend_kernels.hpp"
#include "kernels/elementwise/elementwise_typed.hpp"

namespace relayout::RELAYOUT_BACKEND {

void launch_typed_costly_integer(const LaunchContext& context, const ElementwiseParams& p) {
  switch (p.common) {
    case DType::u8:
      return launch_typed_costly_of<std::uint8_t, std::int32_t>(context, p);
    case DType::i8:
      return launch_typed_costly_of<std::int8_t, std::int32_t>(context, p);
    case DType::u16:
      return launch_typed_costly_of<std::uint16_t, std::int32_t>(context, p);
    case DType::i16:
      return launch_typed_costly_of<std::int16_t, std::int32_t>(context, p);
    case DType::u32:
      return launch_typed_costly_of<std::uint32_t, std::int32_t>(context, p);
    case DType::i32:
      return launch_typed_costly_of<std::int32_t, std::int32_t>(context, p);
    case DType::u64:
      return launch_typed_costly_of<std::uint64_t, std::int64_t>(context, p);
    default:
      return launch_typed_costly_of<std::int64_t, std::int64_t>(context, p);
  }
}

}  // namespace relayout::RELAYOUT_BACKEND
