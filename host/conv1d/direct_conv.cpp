#include "host/conv1d/direct_conv.hpp"

#include <cstdlib>

#include "core/kernel_table.hpp"
#include "host/api/checks.hpp"
#include "host/api/window.hpp"
#include "host/plan/checked_math.hpp"
#include "host/plan/conv/conv_tile.hpp"

namespace relayout {
namespace {

std::int64_t channels_of(const Conv1d& problem) { return problem.in_channels / problem.window.groups; }

/// What the kernels take of a tile.
void plan_into(const DeviceProperties& device, ConvParams& params) {
  plan::ConvShape shape;
  shape.sequences = params.batch * params.groups;
  shape.positions = params.positions;
  shape.column_tiles = (params.columns + kConvColumns - 1) / kConvColumns;
  shape.taps = params.taps;
  shape.stride = params.stride;
  shape.dilation = params.dilation;
  shape.row_bytes = kConvChannels * static_cast<std::int64_t>(size_of(params.out_type));
  shape.sums_bytes = kConvColumns * static_cast<std::int64_t>(sizeof(float));
  const plan::ConvTile tile = plan::choose_conv_tile(shape, device);
  params.tile_positions = tile.positions;
  params.tile_channels = params.tile_pitch = kConvChannels;
  params.tile_samples = tile.rows;
  if (tile.all_taps) {
    params.pass_taps = static_cast<std::int32_t>(params.taps);
    params.position_rows = static_cast<std::int32_t>(params.stride);
    params.tap_rows = static_cast<std::int32_t>(params.dilation);
  } else {
    params.row_samples = params.stride;
  }
  params.shared_bytes = tile.shared_bytes;
}

}  // namespace

DirectConv::DirectConv(const Device& device, const Conv1d& problem)
    : problem_(problem), pad_bits_(encode_pad_value("conv1d", problem.pad, problem.dtype)) {
  const std::int64_t depth = (channels_of(problem) + kConvDepth - 1) / kConvDepth * kConvDepth;
  const std::int64_t bytes = plan::checked_product(
      {problem.out_channels, problem.window.taps, depth, static_cast<std::int64_t>(size_of(problem.dtype))},
      "conv1d: the bytes of the weights");
  memory_ = Buffer(device, static_cast<std::size_t>(bytes));
  weights_ = TensorView(memory_.data(), problem.dtype, {problem.out_channels, problem.window.taps, depth});
}

void DirectConv::rearrange(const Stream& stream, const TensorView& weights) const {
  if (weights_.elements() == 0) return;
  PadSpec fill;
  fill.right = weights_.extent(2) - channels_of(problem_);
  pad(stream, weights.permuted({0, 2, 1}), fill, weights_);
}

void DirectConv::run(const Stream& stream, const TensorView& input, const TensorView& bias,
                     const TensorView& y) const {
  if (y.elements() == 0) return;
  const Device& device = stream.device();
  WindowStrides strides;
  strides.batch = y.extent(1) * problem_.out_channels;
  strides.position = problem_.out_channels;
  strides.group = problem_.out_channels / problem_.window.groups;
  strides.channel = 1;
  ConvParams params;
  static_cast<WindowParams&>(params) =
      window_params(input, problem_.window, problem_.pad, pad_bits_, y.extent(1), y, strides);
  params.bt = weights_.data();
  params.bias = static_cast<const float*>(bias.data());
  params.columns = strides.group;
  params.depth = weights_.extent(2);
  params.along_time = params.channels == 1 || std::abs(params.in_time) <= std::abs(params.in_channel);
  const std::int64_t y_bytes = y.elements() * static_cast<std::int64_t>(size_of(y.dtype()));
  params.streaming = y_bytes > static_cast<std::int64_t>(device.properties().l2_bytes / 2);
  params.warp_size = device.properties().warp_size;
  plan_into(device.properties(), params);
  kernels_of(stream).conv(context_of(stream), params);
}

}  // namespace relayout
