// What the kernel of a whole convolution is told: plain data, filled by host/conv1d/direct_conv.cpp.
#pragma once

#include "core/divisor.hpp"
#include "core/window_params.hpp"

namespace relayout {

/// Channels of one sample that a block holds at a time, outputs of one position that it computes, and the
/// step along the channels to which Bt is filled up.
constexpr int kConvChannels = 64, kConvColumns = 64, kConvDepth = 32;

/// Warps beside each other, each with its share of a block's columns.
constexpr int kConvWarps = 4;

/// Outputs that one block computes, of every column of its tile.
constexpr int kFewPositions = 16, kManyPositions = 64;

/// Among how many warps the depth of the sums is divided: in a small block there would be too few of them to
/// hide anything behind.
constexpr int conv_parts(int positions) { return positions == kFewPositions ? 2 : 1; }

/// With x the padded input, rounded to out_type, and s = t * stride + k * dilation - pad_left:
///
///     y[b, t, g, n] = round(bias[g, n] + sum over k, c of x[b, g * channels + c, s] * bt[g, n, k, c])
///
/// `out` is y, of unit stride along n. bt [groups * columns, taps, depth] lies contiguously on a 16-byte
/// boundary; depth: channels rounded up to kConvDepth, the elements beyond them 0.
struct ConvParams : WindowParams {
  const void* bt = nullptr;
  const float* bias = nullptr;  // null: none
  std::int64_t columns = 0;     // outputs of one group at one position
  std::int64_t depth = 0;

  // The rest is the kernels' alone: native code ignores it.
  std::int32_t warp_size = 32;
  /// The tile (host/plan/conv/direct_plan.hpp) serves pass_taps taps at a time. Its row i is sample i *
  /// row_samples behind the first one; position t and tap k of a pass read row t * position_rows + k *
  /// tap_rows.
  std::int64_t row_samples = 1;
  std::int32_t pass_taps = 1, position_rows = 1, tap_rows = 0;
  Divisor rows;                                    // of tile_samples
  Divisor column_tiles, position_tiles, by_group;  // of a block's number
};

}  // namespace relayout
