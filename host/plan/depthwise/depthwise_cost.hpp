// The predicted time of a planned depthwise convolution, and the choice by it.
#pragma once

#include "core/depthwise_params.hpp"
#include "relayout/device.hpp"

namespace relayout::plan {

double depthwise_microseconds(const DeviceProperties& device, const DepthwiseParams& params);

/// Keeps the first candidate of least predicted time.
class Cheapest {
 public:
  explicit Cheapest(const DeviceProperties& device) : device_(device) {}
  void offer(const DepthwiseParams& candidate) {
    const double time = depthwise_microseconds(device_, candidate);
    if (found_ && time >= least_) return;
    found_ = true;
    least_ = time;
    best_ = candidate;
  }
  /// Null where nothing was offered.
  const DepthwiseParams* best() const { return found_ ? &best_ : nullptr; }

 private:
  const DeviceProperties& device_;
  DepthwiseParams best_;
  double least_ = 0;
  bool found_ = false;
};

}  // namespace relayout::plan
