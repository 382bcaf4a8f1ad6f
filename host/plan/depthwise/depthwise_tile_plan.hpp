// The tile of DepthwiseKernel::tile.
#pragma once

#include "core/depthwise_params.hpp"
#include "relayout/device.hpp"

namespace relayout::plan {

/// Fills the plan's part of params with the shape of tile of least predicted time; returns what is in the way
/// of it, null where nothing is.
const char* plan_depthwise_tile(const DeviceProperties& device, DepthwiseParams& params);

}  // namespace relayout::plan
