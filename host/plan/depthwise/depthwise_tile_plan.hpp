// The tiles of DepthwiseKernel::tile, tile_matrix and turn.
#pragma once

#include "core/depthwise_params.hpp"
#include "relayout/device.hpp"

namespace relayout::plan {

/// One operand's strides.
struct DepthwiseSideStrides {
  std::int64_t channel, time;
};

/// `channels` x `times` of an operand with `all_channels` and elements of `bytes`; may_have_gaps: an input,
/// of which gaps may be read.
DepthwiseTileSide depthwise_tile_side(const DepthwiseSideStrides& strides, std::int64_t channels,
                                      std::int64_t times, std::int64_t all_channels, std::int64_t length,
                                      bool may_have_gaps, std::int64_t bytes);

/// Each fills the plan's part of params with the shape of tile of least predicted time; returns what is in
/// the way of it, null where nothing is.
const char* plan_depthwise_tile(const DeviceProperties& device, DepthwiseParams& params);
const char* plan_depthwise_turn(const DeviceProperties& device, DepthwiseParams& params);
const char* plan_depthwise_tile_matrix(const DeviceProperties& device, DepthwiseParams& params);

}  // namespace relayout::plan
