// Division of sizes, 64-bit in form and mostly small in fact: a 64-bit division takes several times as long
// as a 32-bit one, and planning divides a lot. Nothing here is negative.
#pragma once

#include <cstdint>

namespace relayout {

inline std::int64_t divide(std::int64_t value, std::int64_t by) {
  if ((value | by) >> 32 != 0) return value / by;
  return static_cast<std::uint32_t>(value) / static_cast<std::uint32_t>(by);
}

inline std::int64_t divide_up(std::int64_t value, std::int64_t by) { return divide(value + by - 1, by); }

/// Steps of `step`, at most `extent`, that cover an axis. Most axes of a tile are whole or of one element.
inline std::int64_t steps_along(std::int64_t extent, std::int64_t step) {
  return step == 1 ? extent : step == extent ? 1 : divide_up(extent, step);
}

}  // namespace relayout
