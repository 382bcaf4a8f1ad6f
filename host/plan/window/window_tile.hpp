// The tile of one block of the window kernel: how many output positions and channels share one load of the
// input.
#pragma once

#include <cstdint>

#include "relayout/device.hpp"

namespace relayout::plan {

struct WindowShape {
  std::int64_t channels = 1;  // of one group
  std::int64_t positions = 1;
  std::int64_t stride = 1;
  std::int64_t span = 1;  // samples from first to last tap
  std::int64_t element_bytes = 2;
};

/// positions and channels are powers of two. samples = (positions - 1) * stride + span input rows are kept in
/// shared memory, `pitch` elements apart; samples = 0 when even the smallest tile does not fit: then every
/// output reads the input itself.
struct WindowTile {
  int positions = 0;
  int channels = 0;
  int samples = 0;
  int pitch = 0;
  std::int64_t shared_bytes = 0;
};

WindowTile choose_window_tile(const WindowShape& shape, const DeviceProperties& device);

}  // namespace relayout::plan
