// The predicted time of a planned depthwise convolution.
#pragma once

#include "core/depthwise_params.hpp"
#include "relayout/device.hpp"

namespace relayout::plan {

double depthwise_microseconds(const DeviceProperties& device, const DepthwiseParams& params);

}  // namespace relayout::plan
