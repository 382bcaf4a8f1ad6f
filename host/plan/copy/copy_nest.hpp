// The loop nest of a copy between two views that go together element by element in C order, whatever their
// shapes.
#pragma once

#include "host/plan/loop_nest.hpp"

namespace relayout::plan {

/// The nest of `out` (operand 0) and `in`, normalised; both have the same number of elements. Its axes lie
/// between the boundaries of both shapes: [4, 6] and [2, 12] meet in [2, 2, 6], axes that a view's strides
/// allow to merge being one. Where boundaries cross, as those of strided [4, 6] and [6, 4] do, or more than
/// kMaxRank axes would be left, the result has no operands.
LoopNest common_nest(const TensorView& out, const TensorView& in);

/// The axis along which the input is fastest; a repeated axis (stride 0) is never the one to run along.
int fastest_input_axis(const LoopNest& nest);

}  // namespace relayout::plan
