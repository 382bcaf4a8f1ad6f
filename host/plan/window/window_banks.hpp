// The bank conflicts of the window kernel's copies with one tap, from the parameters that it would be
// launched with: the same lanes as in kernels/window/window_vector.cpp, of the first tile.
#pragma once

#include "core/window_params.hpp"
#include "host/plan/copy/bank_model.hpp"

namespace relayout {

/// What the accesses of the first tile cost on a device. `params` as plan_vector_window fills them, with one
/// tap and no padding.
plan::BankReport count_conflicts(const WindowParams& params, const DeviceProperties& device);

}  // namespace relayout
