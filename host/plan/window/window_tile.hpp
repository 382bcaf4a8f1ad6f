// The tile of one block of the general window kernel: how many output positions and channels share one load
// of the input.
#pragma once

#include "core/window_params.hpp"
#include "relayout/device.hpp"

namespace relayout::plan {

/// Fills the tile's fields. Positions and channels are powers of two. tile_samples = (positions - 1) * stride
/// + span rows of the input are kept in shared memory, tile_pitch elements apart; 0 when even the smallest
/// tile does not fit: then every output reads the input itself.
void choose_window_tile(const DeviceProperties& device, WindowParams& params);

}  // namespace relayout::plan
