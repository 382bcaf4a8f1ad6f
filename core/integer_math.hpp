// Division of sizes, for host and device. Nothing here is negative.
#pragma once

#include <cstdint>
#include <type_traits>

namespace relayout {

/// value / by. Sizes are 64-bit in form and mostly small in fact: a 64-bit division takes several times as
/// long as a 32-bit one, and planning divides a lot.
template <class Value, class By>
constexpr std::common_type_t<Value, By> divide(Value value, By by) {
  using Result = std::common_type_t<Value, By>;
  const Result numerator = static_cast<Result>(value), denominator = static_cast<Result>(by);
  if constexpr (sizeof(Result) == 8) {
    if ((numerator | denominator) >> 32 == 0)
      return static_cast<std::uint32_t>(numerator) / static_cast<std::uint32_t>(denominator);
  }
  return numerator / denominator;
}

/// The least number of parts of size `by` that hold `value`.
template <class Value, class By>
constexpr std::common_type_t<Value, By> divide_up(Value value, By by) {
  return divide(value + by - 1, by);
}

/// The least multiple of `of` that holds `value`.
template <class Value, class Of>
constexpr std::common_type_t<Value, Of> round_up(Value value, Of of) {
  return divide_up(value, of) * of;
}

/// Steps of `step`, at most `extent`, that cover an axis. Most axes of a tile are whole or of one element.
constexpr std::int64_t steps_along(std::int64_t extent, std::int64_t step) {
  return step == 1 ? extent : step == extent ? 1 : divide_up(extent, step);
}

}  // namespace relayout
