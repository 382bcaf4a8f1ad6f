// The bank conflicts of the window kernel's copies with one tap, from the parameters that it would be
// launched with: the same lanes as in kernels/window_vector.cpp, of the first tile.
#pragma once

#include "host/plan/bank_model.hpp"
#include "kernels/params.hpp"

namespace relayout {

/// What the accesses of the first tile cost on a device. `params` as plan_vector_window fills them, with one
/// tap and no padding.
plan::BankReport count_conflicts(const WindowParams& params, const DeviceProperties& device);

}  // namespace relayout
