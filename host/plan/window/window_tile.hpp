// The tile of the window kernel for any strides: which lines of the output its lanes write, how the samples
// lie in shared memory, and how many positions and channels a block takes.
#pragma once

#include <cstdint>
#include <vector>

#include "core/window_params.hpp"
#include "relayout/device.hpp"

namespace relayout::plan {

/// Fills the tile's fields with the tile of least predicted time, and says that time in microseconds; below 0
/// where not even the smallest tile fits into shared memory.
double choose_window_tile(const DeviceProperties& device, WindowParams& params);

/// A tile by what it is made of.
struct WindowTileChoice {
  std::int64_t channels = 0, multiple = 0;  // of the least positions
  double microseconds = 0;                  // predicted
};

/// All tiles that are considered, that of the least predicted time first.
std::vector<WindowTileChoice> window_tiles(const DeviceProperties& device, const WindowParams& params);
/// Fills the tile's fields.
void set_window_tile(const DeviceProperties& device, const WindowTileChoice& choice, WindowParams& params);

}  // namespace relayout::plan
