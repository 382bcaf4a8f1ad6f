// From a plan for tiles to what the tile kernel is told.
#pragma once

#include "core/tile_params.hpp"
#include "host/plan/copy/tile_plan.hpp"

namespace relayout {

/// `params` holds the operands and their types; everything else is filled in.
void fill_tile_params(const plan::LoopNest& nest, const plan::TilePlan& plan, TileParams& params);

}  // namespace relayout
