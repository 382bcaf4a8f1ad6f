// The tile kernel's accesses to shared memory, from the parameters that it would be launched with: the same
// walks as in kernels/copy/tile_read.hpp and kernels/copy/tile_write.hpp, of the first tile.
#pragma once

#include "core/tile_params.hpp"
#include "host/plan/copy/bank_model.hpp"

namespace relayout {

/// `params` complete, with its operands' pointers, on whose alignment the accesses of runs that start
/// anywhere depend; nothing is read from there.
void visit_shared_accesses(const TileParams& params, int warp_size, const plan::SharedVisitor& visit);

/// What these accesses cost on a device.
plan::BankReport count_conflicts(const TileParams& params, const DeviceProperties& device);

}  // namespace relayout
