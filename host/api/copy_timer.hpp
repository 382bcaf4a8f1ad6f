// Which of several plans of one copy is the fastest, by the clock.
#pragma once

#include <vector>

#include "relayout/copy_plan.hpp"

namespace relayout {

/// Seconds of one run of each plan between this memory, the best of several samples in turn. Waits for the
/// stream, and times on a stream of its own, which can always record a graph.
std::vector<double> seconds_of(const Stream& stream, const std::vector<CopyPlan>& plans, const void* in,
                               void* out);

}  // namespace relayout
