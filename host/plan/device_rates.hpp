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

/// Bytes that the memory moves while a lane issues an instruction, an H200's being 1: what a share of the
/// memory's speed that an H200's instructions leave is less or more on this device.
double memory_ratio(const DeviceProperties& device);

}  // namespace relayout::plan
