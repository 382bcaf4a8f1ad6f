// Random extents, and random places in memory for a tensor of any shape.
#pragma once

#include <cstdint>
#include <vector>

#include "tests/fuzz/draw.hpp"

#include <relayout/tensor_view.hpp>

namespace relayout::fuzz {

enum class Extents { any, whole_vectors, short_ones };

/// Small numbers, multiples of the widths of vectors and tiles and their neighbours, primes, and a few
/// hundreds.
std::int64_t draw_extent(Draw& draw, Extents extents);

using Order = std::vector<int>;

/// Puts the next axis in front of `at % size` others; at 0: the order stays 0, 1, 2, ...
void insert(Order& order, int at);

/// The place of an axis in memory among those before it, the gap behind it, and its direction. Zeros:
/// contiguous.
struct AxisPlace {
  int at = 0, gap = 0, step = 0;
};
AxisPlace draw_place(Draw& draw);

/// Strides of axes with these places. Inputs may have any, 0 too; outputs have strides under which no two
/// elements share an address.
Dims placed(const Dims& shape, const std::vector<AxisPlace>& places, bool input);

/// Elements between an aligned address and the tensor's first.
std::int64_t draw_misalignment(Draw& draw);

}  // namespace relayout::fuzz
