// The one planner of the depthwise kernels: the axis of 16-byte accesses, and what one thread takes. It fills
// the plan's part of DepthwiseParams.
#pragma once

#include <string>

#include "core/depthwise_params.hpp"
#include "relayout/device.hpp"

namespace relayout::plan {

/// Packs of 16 bytes along one of the axes, or single elements.
enum class DepthwiseAxis { time, channel, none };

/// A kernel as a candidate: its parameters, and what is in the way of it, null where nothing is.
struct DepthwiseCandidate {
  DepthwiseParams params;
  const char* refused = nullptr;
};

/// What the kernel of one axis would run a convolution with.
DepthwiseCandidate depthwise_candidate(const DeviceProperties& device, const DepthwiseParams& problem,
                                       DepthwiseAxis axis);

/// Chooses the first of `time`, `channel` and `none` that takes the convolution; an update has one kernel.
/// native: for the processor's own code.
void plan_depthwise(const DeviceProperties& device, bool native, DepthwiseParams& params);

/// Bytes on a multiple of which the addresses of the planned input and output must lie; 1 where any will do.
std::int64_t depthwise_alignment(const DepthwiseParams& params);

/// Sentences, a line each: the kernel and why it, its tile and its accesses, and what was in the way of the
/// other kernels.
std::string explain_depthwise(const DeviceProperties& device, const DepthwiseParams& params);

}  // namespace relayout::plan
