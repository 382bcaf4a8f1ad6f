// The one planner of the depthwise kernels: of all that can run a convolution, each with what one thread
// takes, the one of least predicted time. It fills the plan's part of DepthwiseParams.
#pragma once

#include <string>
#include <vector>

#include "core/depthwise_params.hpp"
#include "relayout/device.hpp"

namespace relayout::plan {

/// A kernel as a candidate: its parameters and its predicted time, or what is in the way of it.
struct DepthwiseCandidate {
  DepthwiseParams params;
  const char* refused = nullptr;  // null: it can run the convolution
  double microseconds = 0;
};

/// Every kernel of convolutions in an order that does not matter, `problem` being any but an update.
std::vector<DepthwiseCandidate> depthwise_candidates(const DeviceProperties& device,
                                                     const DepthwiseParams& problem);

/// Chooses the kernel. native: for the processor's own code.
void plan_depthwise(const DeviceProperties& device, bool native, DepthwiseParams& params);

/// As explain() names it.
const char* name_of(DepthwiseKernel kernel);

/// Bytes on a multiple of which an operand's address must lie; 1 where any will do.
struct DepthwiseAlignment {
  std::int64_t in = 1, out = 1;
};
DepthwiseAlignment depthwise_alignment(const DepthwiseParams& params);

/// Sentences, a line each: the kernel and why it, its tile and its accesses, the runner-up, and what was in
/// the way of the others.
std::string explain_depthwise(const DeviceProperties& device, const DepthwiseParams& params);

}  // namespace relayout::plan
