// What a block of each window kernel moves and issues, for the predicted times; that of `tile` is counted
// where its tile is chosen.
#pragma once

#include "core/window_params.hpp"
#include "host/plan/window/window_cost.hpp"

namespace relayout::plan {

/// `params` as planned for `rows`, `vector` or `direct`.
WindowWork window_work(const WindowTuning& tuning, const WindowParams& params);

}  // namespace relayout::plan
