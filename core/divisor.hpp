// Division by a number that is known at the launch: a multiplication and a shift in the kernel
// (kernels/divide.hpp). Plain data, made on the host.
#pragma once

#include <cstdint>

namespace relayout {

/// index / value for index < 2^31: (mulhi(index, multiplier) + index) >> shift.
/// T. Granlund, P. Montgomery, "Division by invariant integers using multiplication", PLDI 1994.
struct Divisor {
  std::uint32_t value = 1, multiplier = 1, shift = 0;
};

constexpr Divisor make_divisor(std::uint32_t value) {
  Divisor divisor;
  divisor.value = value;
  while ((std::uint64_t{1} << divisor.shift) < value) ++divisor.shift;
  divisor.multiplier =
      static_cast<std::uint32_t>((((std::uint64_t{1} << divisor.shift) - value) << 32) / value + 1);
  return divisor;
}

/// By the number of blocks along an axis of a grid. Numbers that no grid has room for are cut off: such a
/// launch is refused.
constexpr Divisor make_grid_divisor(std::int64_t blocks) {
  constexpr std::int64_t kMax = 0x7fffffff;
  return make_divisor(static_cast<std::uint32_t>(blocks < 1 ? 1 : blocks < kMax ? blocks : kMax));
}

}  // namespace relayout
