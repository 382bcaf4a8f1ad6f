// Which kernel runs a window, and on which tile.
#pragma once

#include "core/window_params.hpp"
#include "host/plan/window/window_vector_tile.hpp"

namespace relayout::plan {

enum class WindowKernel {
  rows,     // padding alone, time fastest on both sides, nothing converted: rows of any alignment
  vector,   // 16-byte accesses on both sides, through a tile
  general,  // everything else
};

struct WindowPlan {
  WindowKernel kernel = WindowKernel::general;
  WindowTile tile;          // not of `rows`
  bool along_time = false;  // `vector`: the axis of its loads
  bool streaming = false;   // the output is too large for a reader to find it in the L2
};

WindowPlan plan_window(const WindowShape& shape, const WindowAccess& access, bool converts,
                       std::int64_t pad_left, const DeviceProperties& device);

/// The same for parameters that are complete but for the plan's fields, which it fills.
WindowKernel plan_window(const DeviceProperties& device, WindowParams& params);

}  // namespace relayout::plan

namespace relayout {

/// For copies: plans the kernel with 16-byte accesses; false when it does not take the window or another
/// kernel comes first.
bool plan_vector_window(const DeviceProperties& device, WindowParams& params);

}  // namespace relayout
