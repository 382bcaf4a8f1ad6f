// From a plan for tiles to what the tile kernel is told.
#pragma once

#include "host/plan/tile_plan.hpp"
#include "kernels/tile_params.hpp"

namespace relayout {

/// `params` holds the operands and their types; everything else is filled in.
void fill_tile_params(const plan::LoopNest& nest, const plan::TilePlan& plan, TileParams& params);

}  // namespace relayout
