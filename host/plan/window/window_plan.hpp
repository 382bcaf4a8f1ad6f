// Which kernel of windows runs pad or img2col, or a part of its positions (window_parts.hpp), and on which
// tile. It fills the plan's part of WindowParams.
#pragma once

#include <cstddef>
#include <vector>

#include "core/window_params.hpp"
#include "relayout/device.hpp"

namespace relayout::plan {

/// A kernel as a candidate: its parameters, what is in the way of it, null where nothing is, and how long it
/// is predicted to take.
struct WindowCandidate {
  WindowParams params;
  const char* refused = nullptr;
  double microseconds = 0;
};

/// What one of the GPU's kernels would run the window with.
WindowCandidate window_candidate(const DeviceProperties& device, const WindowParams& problem,
                                 WindowKernel kernel);

/// What the choice is made among: every kernel, possible or not, and of the tiles of WindowKernel::tile up to
/// so many, the best by estimate first and others of the whole range. The window was not simplified.
std::vector<WindowCandidate> window_candidates(const DeviceProperties& device, WindowParams problem,
                                               std::size_t tiles);

/// As explain() names it.
const char* name_of(WindowKernel kernel);

/// Takes the candidate of the least predicted time and returns that: 0 where nothing is to be done, and for
/// the processor's own code (`native`).
double choose_window_kernel(const DeviceProperties& device, bool native, WindowParams& params);

/// Bytes that the distances of other addresses from the planned ones must be multiples of; 1 where any
/// address will do.
struct WindowAlignment {
  std::int64_t in = 1, out = 1;
};
WindowAlignment window_alignment(const WindowParams& params);

}  // namespace relayout::plan

namespace relayout {

/// For copies: plans the kernel with 16-byte accesses; false when it does not take the window or another
/// kernel comes first.
bool plan_vector_window(const DeviceProperties& device, WindowParams& params);

}  // namespace relayout
