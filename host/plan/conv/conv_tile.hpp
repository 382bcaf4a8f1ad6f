// The tile of one block of the kernel that is a whole convolution.
#pragma once

#include <cstdint>

#include "core/conv_params.hpp"
#include "relayout/device.hpp"

namespace relayout::plan {

struct ConvShape {
  std::int64_t sequences = 1;  // batch * groups
  std::int64_t positions = 1;
  std::int64_t column_tiles = 1;
  std::int64_t taps = 1, stride = 1, dilation = 1;
  std::int64_t row_bytes = 128;   // of one sample, or the results of one position, in shared memory
  std::int64_t sums_bytes = 256;  // of the sums of one position
};

/// A block computes `positions` outputs (kFewPositions or kManyPositions) of every column of its tile from
/// `rows` rows of shared memory. With all_taps these are neighbouring samples, as many as lie under all taps
/// of the positions; where so many do not fit, every tap takes its turn, and a row is what one position
/// reads.
struct ConvTile {
  int positions = kFewPositions, rows = kFewPositions;
  bool all_taps = false;
  std::int64_t shared_bytes = 0;
};

ConvTile choose_conv_tile(const ConvShape& shape, const DeviceProperties& device);

}  // namespace relayout::plan
