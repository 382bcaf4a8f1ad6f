// Two streams of a device whose kernels do not wait for each other's memory.
#pragma once

#include <array>

#include "relayout/stream.hpp"

namespace relayout {

/// Streams whose kernels run on different multiprocessors, half of the device's each. A kernel that writes
/// over a link fills the store queues of the multiprocessors that it runs on, and every other kernel there
/// waits with it. Ordinary streams where a device cannot be divided.
std::array<Stream, 2> half_streams(const Device& device);

}  // namespace relayout
