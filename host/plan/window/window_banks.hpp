// The bank conflicts of the window kernel with 16-byte accesses, from the parameters that it would be
// launched with: the same lanes as in kernels/window/window_vector.cpp, of the first tile.
#pragma once

#include "core/window_params.hpp"
#include "host/plan/copy/bank_model.hpp"

namespace relayout {

/// What the accesses of the first tile cost on a device. `params` as planned for WindowKernel::vector,
/// written in WriteOrder::channel.
plan::BankReport count_conflicts(const WindowParams& params, const DeviceProperties& device);

}  // namespace relayout
