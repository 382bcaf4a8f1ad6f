// How fast a device moves bytes and issues instructions, which all predicted times begin from, and what its
// architecture has.
#pragma once

#include <initializer_list>

#include "relayout/device.hpp"

namespace relayout::plan {

struct DeviceRates {
  double bytes_per_microsecond;  // that the best copy moves, read and written together
  /// One multiprocessor issues so many instructions of warps, and its L1 or its shared memory takes so many
  /// accesses of warps.
  double instructions_per_microsecond, accesses_per_microsecond;
  double cycles_per_microsecond;
};

/// The rates follow from the device's peak rates. Where those are not known, they are the rates of as many
/// multiprocessors of an H200, or of an MI300X where warps have 64 lanes.
DeviceRates device_rates(const DeviceProperties& device);

/// What parts of the device take that work at the same time: hardly more than the longest of these times, and
/// up to a tenth more where others take as long, since each waits for the others now and then. Fitted.
double time_together(std::initializer_list<double> times);

/// How many bytes the memory moves while a lane issues an instruction, as a multiple of an H200's. Work that
/// instructions bound reaches a larger share of a memory that is slower beside them.
double memory_ratio(const DeviceProperties& device);

/// Whether the name of the device's architecture begins so.
bool is_of_family(const DeviceProperties& device, const char* family);

/// Whether matrix units multiply all numbers of 16 bits: those of sm_80 and later, and of CDNA 3 and later.
/// Earlier ones of CDNA take subnormal numbers as 0.
bool has_matrix_units(const DeviceProperties& device);

}  // namespace relayout::plan
