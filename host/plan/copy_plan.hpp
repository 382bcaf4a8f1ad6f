// Which kernel copies a nest.
#pragma once

#include "host/plan/loop_nest.hpp"
#include "host/plan/tile_plan.hpp"

namespace relayout::plan {

enum class CopyKernel { tile, gather };

struct CopyPlan {
  CopyKernel kernel = CopyKernel::gather;
  TilePlan tile;  // of CopyKernel::tile
};

/// For a normalised nest of one output and one input: `tile` where both sides have runs, else `gather`.
CopyPlan choose_copy(const LoopNest& nest, const TileTarget& target);

/// The axis along which the input is fastest; a repeated axis (stride 0) is never the one to run along.
int fastest_input_axis(const LoopNest& nest);

}  // namespace relayout::plan
