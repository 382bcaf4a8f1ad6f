// A PlanCache as text: a version line, then a line for each plan, fields between tabs.
#pragma once

#include <string>

#include "host/plan/copy/copy_plan.hpp"
#include "relayout/plan_cache.hpp"

namespace relayout {

/// All that the choice of a plan depends on: the first fields of a line.
std::string copy_text(const DeviceProperties& device, const plan::PlannedCopy& copy);

}  // namespace relayout
