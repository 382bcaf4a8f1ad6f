// What plans ask when they are made and when they run.
#pragma once

#include <cstdint>

#include "relayout/device.hpp"
#include "relayout/tensor_view.hpp"

namespace relayout {

/// A plan's pointers may come later.
enum class Pointers { given, may_be_null };

/// Whether native code runs there, not a GPU's kernels.
bool is_native(const Device& device) noexcept;

/// The view at another address.
TensorView at_address(const TensorView& view, const void* data);

/// Error{invalid_argument} for an address of `role`, "input" or "output", that does not lie as far behind a
/// multiple of `alignment` bytes as the planned one: on a multiple where none is given.
void check_plan_alignment(const char* operation, const char* role, std::int64_t alignment,
                          const void* pointer, const void* planned = nullptr);

}  // namespace relayout
