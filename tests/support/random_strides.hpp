// Random strides of every kind.
#pragma once

#include <algorithm>

#include "tests/cases/permute_shorthand.hpp"
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

/// A permutation's shape, axes, strides and bases: up to so many axes, in any order in memory.
inline void draw_layout(Random& random, int most_axes, cases::PermuteCase& c) {
  const int rank = static_cast<int>(random.integer(1, most_axes));
  std::int64_t elements = 1;
  for (int axis = 0; axis < rank; ++axis) {
    c.shape.push_back(
        random.integer(1, std::max<std::int64_t>(2, std::min<std::int64_t>(70, 6000 / elements))));
    elements *= c.shape.back();
  }
  c.axes = cases::identity(rank);
  random.shuffle(c.axes);
  const auto strides = [&](const Dims& shape, bool input) {
    std::vector<int> order = cases::identity(rank);
    random.shuffle(order);
    return random_strides(random, shape, order, input);
  };
  c.in_strides = strides(c.shape, true);
  c.out_strides = strides(c.out_shape(), false);
  c.in_misaligned = random.integer(0, 3);
  c.out_misaligned = random.integer(0, 3);
}

}  // namespace relayout::test
