// What the kernels of windows are predicted to take: one model for all of them, with a device's constants as
// data.
#pragma once

#include <cstdint>

#include "relayout/device.hpp"

namespace relayout::plan {

struct WindowTuning {
  /// Before the first and after the last byte. How fast the device is otherwise: device_rates.hpp.
  double launch_microseconds;
  /// What a block waits for the memory where nothing else is to be done.
  double wait_microseconds;
  /// Bytes lost per run of the input and per run of the output; the share of the price of a byte that has
  /// been brought into the L2 by a neighbour.
  double lost_per_read, lost_per_write, cached;
  /// And per sector of the output that a run writes in part.
  double lost_per_partial_sector;
  /// What the less busy parts of a multiprocessor add to the time of its busiest.
  double overlap;
  int threads_per_multiprocessor;
};

const WindowTuning& window_tuning(const DeviceProperties& device);

/// What one block does.
struct WindowWork {
  double bytes = 0, accesses = 0, instructions = 0;
  double waits = 1;   // for the memory, one after the other
  double warps = 16;  // that a multiprocessor needs to have enough loads under way
  double share = 1;   // of the speed that these counts alone would give
  /// A multiprocessor's first blocks all load before any of them stores, and its last ones all store when
  /// none loads any more. What that costs is this share of the time of the blocks that it has at once.
  double alone = 0;
  std::int64_t blocks = 1, shared_bytes = 0;
  std::int64_t resident = 8;  // blocks at most on a multiprocessor, whose registers have no room for more
};

/// Bytes' worth of time for `runs` runs of `bytes` each.
inline double read_cost(const WindowTuning& tuning, double runs, double bytes) {
  return runs * (bytes + tuning.lost_per_read);
}
inline double write_cost(const WindowTuning& tuning, double runs, double bytes) {
  return runs * (bytes + tuning.lost_per_write);
}

double predicted_microseconds(const WindowTuning& tuning, const DeviceProperties& device,
                              const WindowWork& work);

}  // namespace relayout::plan
