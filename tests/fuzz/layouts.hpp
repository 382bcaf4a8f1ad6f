// Random extents, and how a tensor of any shape lies in memory.
#pragma once

#include <cstdint>
#include <vector>

#include "tests/fuzz/draw.hpp"

#include <relayout/tensor_view.hpp>

namespace relayout::fuzz {

enum class Extents { any, whole_vectors, short_ones };

/// Small numbers, multiples of what vectors and tiles hold and their neighbours, primes, and a few hundreds.
std::int64_t draw_extent(Draw& draw, Extents extents);

using Order = std::vector<int>;

/// Puts the next axis in front of `at % size` others; at 0: the order stays 0, 1, 2, ...
void insert(Order& order, int at);

/// Where an axis lies in memory among those before it, what is free behind it, and how it is walked. Zeros:
/// contiguous.
struct AxisPlace {
  int at = 0, gap = 0, step = 0;
};
AxisPlace draw_place(Draw& draw);

/// Strides of axes that lie so: any for inputs, 0 too; for outputs such that no two elements share an
/// address.
Dims placed(const Dims& shape, const std::vector<AxisPlace>& places, bool input);

/// Elements between an aligned address and the tensor's first.
std::int64_t draw_misalignment(Draw& draw);

}  // namespace relayout::fuzz
