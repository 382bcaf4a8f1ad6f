// Which device and stream a launch goes to.
#pragma once

#include <cstdint>

namespace relayout {

/// Where a launch goes. `stream` is the back end's native stream.
struct LaunchContext {
  int device = 0;
  void* stream = nullptr;
};

}  // namespace relayout
