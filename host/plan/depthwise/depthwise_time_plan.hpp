// The shape of the blocks of DepthwiseKernel::time, time_many and time_matrix.
#pragma once

#include "core/depthwise_params.hpp"
#include "relayout/device.hpp"

namespace relayout::plan {

/// Each fills the plan's part of params with a kernel along time; returns what is in the way of it, null
/// where nothing is.
const char* plan_depthwise_time(const DeviceProperties& device, DepthwiseParams& params);
const char* plan_depthwise_time_many(const DeviceProperties& device, DepthwiseParams& params);
const char* plan_depthwise_time_matrix(const DeviceProperties& device, DepthwiseParams& params);

}  // namespace relayout::plan
