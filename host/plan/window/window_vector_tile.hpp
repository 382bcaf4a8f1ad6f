// The tile of the window kernel that moves 16 bytes at a time, and when it may run.
#pragma once

#include "core/window_params.hpp"
#include "relayout/device.hpp"

namespace relayout::plan {

/// Null where 16-byte accesses are possible, with along_time set; else what is in the way. They need: out
/// elements of 2 or 4 bytes whose rows are contiguous along channels (tap outer) or channels and taps
/// (channel outer), whole packs of 16 bytes, every row on a 16-byte boundary; an input with unit stride along
/// time or channels, every row on a 16-byte boundary, of elements no smaller than the output's where channels
/// are the fast axis.
const char* vector_obstacle(WindowParams& params);

/// Fills the tile's fields, for 16-byte loads as along_time says: tile_positions is any number, and
/// tile_pitch equals tile_channels. False where no tile fits.
bool choose_vector_tile(const DeviceProperties& device, WindowParams& params);

}  // namespace relayout::plan
