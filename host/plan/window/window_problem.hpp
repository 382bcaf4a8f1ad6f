// The same window with fewer or better axes.
#pragma once

#include "core/window_params.hpp"

namespace relayout::plan {

/// How many positions of a window of one tap and a stride of 1 hold a sample of the signal.
std::int64_t samples_within(const WindowParams& params);

/// Joins what may be joined: neighbouring channels that move together become elements of up to 4 bytes, and
/// the batches of single channels become channels.
void simplify_window(WindowParams& params);

}  // namespace relayout::plan
