#include "host/api/plan_checks.hpp"

#include <string>

#include "host/api/checks.hpp"
#include "host/plan/plan_words.hpp"
#include "relayout/error.hpp"

namespace relayout {

bool is_native(const Device& device) noexcept { return device.kind() == DeviceKind::cpu; }

TensorView at_address(const TensorView& view, const void* data) {
  return TensorView(data, view.dtype(), view.shape(), view.strides());
}

void check_plan_alignment(const char* operation, const char* role, std::int64_t alignment,
                          const void* pointer, const void* planned) {
  const auto place = [&](const void* address) {
    return reinterpret_cast<std::uintptr_t>(address) % static_cast<std::uintptr_t>(alignment);
  };
  if (place(pointer) == place(planned)) return;
  const std::string where =
      place(planned) == 0
          ? "on a multiple of "
          : plan::plural(static_cast<std::int64_t>(place(planned)), "byte") + " behind a multiple of ";
  fail(operation, ErrorCode::invalid_argument,
       std::string("the ") + role + " must begin " + where + std::to_string(alignment) +
           " bytes, as in the plan; plan with such a pointer");
}

}  // namespace relayout
