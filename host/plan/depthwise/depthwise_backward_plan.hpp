// The planner of the depthwise convolution's backward pass.
#pragma once

#include <string>

#include "core/depthwise_backward_params.hpp"

namespace relayout::plan {

/// Fills the plan's part. native: for the processor's own code.
void plan_depthwise_backward(bool native, DepthwiseBackwardParams& params);

/// Bytes of the planned pass's workspace; -1 where no memory has as many.
std::int64_t depthwise_backward_workspace(const DepthwiseBackwardParams& params);

/// Lets a planned pass use the workspace, or none where it needs none.
void set_depthwise_backward_workspace(void* workspace, DepthwiseBackwardParams& params);

/// Sentences, a line each: the kernel and why it, its tile, its launches and its workspace.
std::string explain_depthwise_backward(const DepthwiseBackwardParams& params);

}  // namespace relayout::plan
