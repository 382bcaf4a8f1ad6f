// Small problems take hardly more than what their kernel does before its first byte moves, so plans for them
// differ from those for large ones, and tests, whose problems are small, have to ask for the latter.
#pragma once

#include <cstdlib>

namespace relayout::plan {

/// Whether every problem is planned as a large one. Tests ask for it by the environment variable
/// RELAYOUT_PLAN_AS_LARGE, to reach the kernels that large problems take.
inline bool plans_as_large() {
  static const bool result = std::getenv("RELAYOUT_PLAN_AS_LARGE") != nullptr;
  return result;
}

}  // namespace relayout::plan
