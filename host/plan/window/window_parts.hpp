// A window as one kernel, or in parts. Where all samples under a position's window lie inside the signal,
// nothing is padded: those positions are a copy, with axes for batches, groups, channels, positions and taps,
// and the copy's kernels move it. Kernels of windows make the positions at the ends.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "core/window_params.hpp"
#include "host/plan/copy/copy_plan.hpp"
#include "host/plan/window/window_plan.hpp"
#include "relayout/device.hpp"

namespace relayout::plan {

/// Some of the positions, by a kernel of windows.
struct WindowPart {
  WindowParams params;
  std::int64_t out_offset = 0;  // bytes from the output's address to params.out
};

/// The positions [begin, end), by a copy.
struct InsidePart {
  PlannedCopy copy;
  TensorView in, out;  // over [batch, group, channel, position, tap]
  std::int64_t begin = 0, end = 0;
  std::int64_t in_offset = 0, out_offset = 0;  // bytes from the operands' addresses to the copy's
};

/// What runs a window. Its launches may follow each other in any order.
struct PlannedWindow {
  static constexpr int kMaxParts = 2;
  WindowPart parts[kMaxParts];
  int count = 0;
  std::optional<InsidePart> inside;
  double microseconds = 0;             // predicted, all launches together; 0 for native code
  const char* not_in_parts = nullptr;  // why one kernel runs it all
};

/// The window by the kernels of the least predicted time. native: by the processor's own code.
PlannedWindow plan_window(const DeviceProperties& device, bool native, const WindowParams& problem);

/// The window in parts whether or not that is fast; `not_in_parts` says why there are none.
PlannedWindow window_in_parts(const DeviceProperties& device, const WindowParams& problem);

/// The same of all parts.
WindowAlignment alignment_of(const PlannedWindow& window);

/// Sentences, a line each: the kernels and why they, their tiles and accesses, and what was in the way of
/// others.
std::string explain_window(const DeviceProperties& device, const PlannedWindow& window);

}  // namespace relayout::plan
