// What a block of the window kernel for any strides does, for its predicted time.
#pragma once

#include "core/window_params.hpp"
#include "host/plan/window/window_cost.hpp"

namespace relayout::plan {

/// How often a thread finds the elements of a word, and how often it writes one, in a tile of so many units
/// of so many words; and the instructions of a warp for it. word: elements of a word.
struct TileWrites {
  double finds, turns;
  double instructions(double word) const { return turns * (0.8 + 2.5 * word) + finds * (120 + 45 * word); }
};
TileWrites writes_of(std::int64_t unit_words, std::int64_t units);

/// What a block does with the tile that p holds. layout: what lies side by side in the output, also where the
/// kernel makes no use of it. on_sectors: warps begin and end where sectors do.
WindowWork window_tile_work(const WindowTuning& tuning, const WindowParams& p, WindowLines layout,
                            bool on_sectors);

}  // namespace relayout::plan
