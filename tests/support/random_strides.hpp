// Strides of every kind, by chance.
#pragma once

#include "tests/cases/layout.hpp"
#include "tests/support/random.hpp"

namespace relayout::test {

/// The axes in this order in memory, the slowest first, with gaps, backwards, and (inputs) broadcast.
inline Dims random_strides(Random& random, const Dims& shape, const std::vector<int>& order, bool input) {
  Dims gaps(shape.size(), 0);
  for (std::int64_t& gap : gaps) gap = random.chance(0.3) ? random.integer(1, 9) : 0;
  Dims strides = cases::strides_in_order(shape, order, gaps);
  for (std::int64_t& stride : strides) {
    if (random.chance(0.2)) stride = -stride;
    if (input && random.chance(0.1)) stride = 0;
  }
  return strides;
}

}  // namespace relayout::test
