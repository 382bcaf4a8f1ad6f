// How the lanes of the kernel for strips share a nest (kernels/elementwise/strips.hpp).
#pragma once

#include "core/elementwise_params.hpp"

#include <relayout/device.hpp>

namespace relayout::plan {

/// Axes that a nest may gain, and the place of a jump.
constexpr int kStripAxes = 3;

/// Lanes that fill a device.
std::int64_t lanes_to_fill(const DeviceProperties& device);

/// Sets which tensors lie in one piece.
void find_dense(ElementwiseParams& params);

struct StripCut {
  bool vectors;  // strips are vectors of an operand that lies across the output's rows
  double cost;  // as StripCosts has it, beside that of other lengths; 0 where the problem is too small for it
};

/// Sets strips of `count` elements, and puts the nest's axes in their order. without: axes that get no
/// strips, bit by bit, unless there are no others. may_join: strips may lie along two axes.
StripCut cut_strips(ElementwiseParams& params, std::int32_t count, std::uint32_t without = 0,
                    bool may_join = true);

/// Whether neighbouring lanes have neighbouring elements of the output, enough of them to move whole sectors
/// together.
bool follow_output(const ElementwiseParams& params);

}  // namespace relayout::plan
