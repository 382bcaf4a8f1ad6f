// The same window with fewer or better axes.
#pragma once

#include <cstdint>

#include "core/window_params.hpp"

namespace relayout::plan {

/// From an element of an axis to the next. An axis of one element may have any stride, which is never taken.
constexpr std::int64_t step_along(std::int64_t extent, std::int64_t stride) {
  return extent > 1 ? stride : 0;
}

/// How many positions of a window of one tap and a stride of 1 hold a sample of the signal.
std::int64_t samples_within(const WindowParams& params);

/// Joins what may be joined: neighbouring channels that move together become elements of up to 4 bytes, and
/// the batches of single channels become channels.
void simplify_window(WindowParams& params);

}  // namespace relayout::plan
