// Random shapes of operands that are repeated to one shape, and how each tensor lies in memory.
#pragma once

#include <cstddef>
#include <vector>

#include "tests/fuzz/layouts.hpp"

#include <relayout/elementwise.hpp>

namespace relayout::fuzz {

struct OperandShapes {
  Dims shape;                  // of the output
  std::vector<Dims> operands;  // of the tensors among the operands
};

/// Up to 6 axes, seldom up to 32 of which most have extent 1; a few thousand elements, seldom none. Any
/// operand may be repeated along any axis; by Broadcasting::repeat not the first one, where that is a tensor.
/// `tidy`: extents, and below layouts, that the fastest paths take.
OperandShapes draw_shapes(Draw& draw, bool tidy, std::size_t tensors, Broadcasting how,
                          bool first_is_tensor = true);

/// Strides and misalignment of a tensor: contiguous, those of an image, or any.
struct Placed {
  Dims strides;
  std::int64_t misaligned = 0;
};
Placed draw_placed(Draw& draw, const Dims& shape, bool input, bool tidy);

}  // namespace relayout::fuzz
