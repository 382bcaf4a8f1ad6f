// What a block of the window kernel for any strides does, for its predicted time.
#pragma once

#include "core/window_params.hpp"
#include "host/plan/window/window_cost.hpp"

namespace relayout::plan {

/// What a block does with the tile that p holds. layout: what lies side by side in the output, also where the
/// kernel makes no use of it.
WindowWork window_tile_work(const WindowTuning& tuning, const WindowParams& p, WindowLines layout);

}  // namespace relayout::plan
