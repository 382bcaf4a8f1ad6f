// The planner of the depthwise kernels for sequences. How long each sequence is only the device knows, so the
// choice goes by strides, taps and the number of samples together.
#pragma once

#include <string>

#include "core/depthwise_sequence_params.hpp"
#include "relayout/device.hpp"

namespace relayout::plan {

/// Chooses the kernel and fills the plan's part. native: for the processor's own code.
void plan_depthwise_sequences(const DeviceProperties& device, bool native, DepthwiseSequenceParams& params);

/// Sentences, a line each: the kernel and why it, what a thread takes, and its accesses.
std::string explain_depthwise_sequences(const DepthwiseSequenceParams& params);

}  // namespace relayout::plan
