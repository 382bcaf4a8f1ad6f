// Which kernel copies a nest.
#pragma once

#include "host/plan/loop_nest.hpp"

namespace relayout::plan {

enum class CopyKernel { tile, gather };

struct CopyPlan {
  CopyKernel kernel = CopyKernel::gather;
  /// The axis along which the input is fastest; the tile kernel spans it and the last.
  int in_axis = 0;
};

/// For a normalised nest of one output and one input: `tile` when the two run along different axes, both long
/// enough to fill a tile's rows; else `gather`.
CopyPlan choose_copy(const LoopNest& nest);

}  // namespace relayout::plan
