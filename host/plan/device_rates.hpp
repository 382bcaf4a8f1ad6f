// How fast a device moves bytes and issues instructions: what all predicted times begin from.
#pragma once

#include "relayout/device.hpp"

namespace relayout::plan {

struct DeviceRates {
  double bytes_per_microsecond;  // that the best copy moves, read and written together
  /// Of one multiprocessor: instructions of warps that it issues, and accesses of warps that its L1 or its
  /// shared memory takes.
  double instructions_per_microsecond, accesses_per_microsecond;
};

/// From the device's peak rates. Where those are not known: of as many multiprocessors of an H200, or of an
/// MI300X, which has 64 lanes.
DeviceRates device_rates(const DeviceProperties& device);

}  // namespace relayout::plan
