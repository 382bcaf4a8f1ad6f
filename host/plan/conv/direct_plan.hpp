// The one planner of the kernel that is a whole convolution: its tile, and how its lanes read.
#pragma once

#include <string>

#include "core/conv_params.hpp"
#include "relayout/device.hpp"

namespace relayout::plan {

/// Fills the plan's part. A block computes tile_positions outputs (kFewPositions or kManyPositions) of every
/// column of its tile from tile_samples rows of shared memory. With pass_taps == taps these are neighbouring
/// samples, as many as lie under all taps of the positions; where so many do not fit, every tap takes its
/// turn, and a row is what one position reads.
void plan_direct(const DeviceProperties& device, ConvParams& params);

/// Sentences, a line each: the kernel, its tile and its accesses. native: on the processor.
std::string explain_direct(bool native, const ConvParams& params);

}  // namespace relayout::plan
