// What the opaque handles of relayout.h hold.
#pragma once

#include <memory>
#include <mutex>
#include <string>
#include <utility>
#include <variant>

#include "bindings/c/src/guard.hpp"
#include "relayout/conv_plan.hpp"
#include "relayout/copy_plan.hpp"
#include "relayout/depthwise.hpp"
#include "relayout/depthwise_backward.hpp"
#include "relayout/elementwise.hpp"
#include "relayout/gemm.hpp"
#include "relayout/window_plan.hpp"

namespace relayout::c {

/// A convolution between planned tensors. Its runs share the plan's memory, so on processors, where a run is
/// done when the call returns, they take turns.
struct ConvRun {
  ConvPlan plan;
  TensorView in, y;
  std::mutex turn;
  ConvRun(ConvPlan plan_, TensorView in_, TensorView y_)
      : plan(std::move(plan_)), in(std::move(in_)), y(std::move(y_)) {}
};

using AnyPlan = std::variant<CopyPlan, ElementwisePlan, WindowPlan, DepthwisePlan, DepthwiseBackwardPlan,
                             GemmPlan, std::shared_ptr<ConvRun>>;

}  // namespace relayout::c

struct relayout_device {
  relayout::Device device;
  std::string name;
};

struct relayout_stream {
  relayout::Stream stream;
};

struct relayout_plan {
  relayout::c::AnyPlan plan;
};

namespace relayout::c {

inline const Device& device_of(const relayout_device* device) {
  check_given(device, "device");
  return device->device;
}

inline const Stream& stream_of(const relayout_stream* stream) {
  check_given(stream, "stream");
  return stream->stream;
}

/// Makes a plan and gives it to the caller.
template <class F>
relayout_status planned(relayout_plan** plan, F&& make) noexcept {
  return guarded([&] {
    check_given(plan, "plan");
    *plan = nullptr;
    *plan = new relayout_plan{AnyPlan(std::forward<F>(make)())};
  });
}

}  // namespace relayout::c
