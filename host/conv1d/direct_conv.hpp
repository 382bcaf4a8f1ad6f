// The convolution as one kernel from the input to y.
#pragma once

#include <string>

#include "core/conv_params.hpp"
#include "relayout/buffer.hpp"
#include "relayout/conv1d.hpp"
#include "relayout/window_plan.hpp"

namespace relayout {

/// Copies share the memory.
class DirectConv {
 public:
  /// Allocates the weights. The problem has been checked by sizes_of.
  DirectConv(const Device& device, const Conv1d& problem);

  /// The rearrangement of weights [out_channels, in_channels / groups, taps], any strides.
  WindowPlan plan_weights(const Device& device, const TensorView& from) const;
  /// Queues y = bias + the convolution of input [batch, in_channels, length], any strides. bias f32
  /// [out_channels], contiguous, or none; y [batch, positions, out_channels], contiguous.
  void run(const Stream& stream, const TensorView& input, const TensorView& bias, const TensorView& y) const;
  /// What run would do, in sentences, a line each.
  std::string explain(const Device& device, const TensorView& input, const TensorView& y) const;

  /// [out_channels, taps, depth]: the channels of a group, filled up with 0 to a multiple of kConvDepth.
  const TensorView& weights() const noexcept { return weights_; }
  std::int64_t device_bytes() const noexcept { return static_cast<std::int64_t>(memory_.bytes()); }

 private:
  ConvParams planned(const DeviceProperties& device, const TensorView& input, const TensorView& bias,
                     const TensorView& y) const;

  Conv1d problem_;
  std::uint64_t pad_bits_;
  Buffer memory_;
  TensorView weights_;
};

}  // namespace relayout
