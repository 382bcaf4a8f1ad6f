#include "host/api/plan_checks.hpp"

#include <string>

#include "relayout/error.hpp"

namespace relayout {

bool is_native(const Device& device) noexcept { return device.kind() == DeviceKind::cpu; }

TensorView at_address(const TensorView& view, const void* data) {
  return TensorView(data, view.dtype(), view.shape(), view.strides());
}

void check_plan_alignment(const char* operation, const char* role, std::int64_t alignment,
                          const void* pointer) {
  if (reinterpret_cast<std::uintptr_t>(pointer) % static_cast<std::uintptr_t>(alignment) == 0) return;
  throw Error(ErrorCode::invalid_argument, std::string(operation) + ": the " + role +
                                               " must begin on a multiple of " + std::to_string(alignment) +
                                               " bytes, as in the plan; plan with such a pointer");
}

}  // namespace relayout
