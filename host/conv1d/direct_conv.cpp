#include "host/conv1d/direct_conv.hpp"

#include "core/bytes.hpp"
#include "core/integer_math.hpp"
#include "core/kernel_table.hpp"
#include "host/api/checks.hpp"
#include "host/api/plan_checks.hpp"
#include "host/api/window.hpp"
#include "host/plan/checked_math.hpp"
#include "host/plan/conv/direct_plan.hpp"

namespace relayout {
namespace {

std::int64_t channels_of(const Conv1d& problem) { return problem.in_channels / problem.window.groups; }

}  // namespace

DirectConv::DirectConv(const Device& device, const Conv1d& problem)
    : problem_(problem), pad_bits_(encode_pad_value("conv1d", problem.pad, problem.dtype)) {
  const std::int64_t depth = round_up(channels_of(problem), kConvDepth);
  const std::int64_t bytes =
      plan::checked_product({problem.out_channels, problem.window.taps, depth, bytes_of(problem.dtype)},
                            "conv1d: the bytes of the weights");
  memory_ = Buffer(device, static_cast<std::size_t>(bytes));
  weights_ = TensorView(memory_.data(), problem.dtype, {problem.out_channels, problem.window.taps, depth});
}

WindowPlan DirectConv::plan_weights(const Device& device, const TensorView& from) const {
  PadSpec fill;
  fill.right = weights_.extent(2) - channels_of(problem_);
  return plan_pad(device, from.permuted({0, 2, 1}), fill, weights_);
}

ConvParams DirectConv::planned(const DeviceProperties& device, const TensorView& input,
                               const TensorView& bias, const TensorView& y) const {
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
  plan::plan_direct(device, params);
  return params;
}

void DirectConv::run(const Stream& stream, const TensorView& input, const TensorView& bias,
                     const TensorView& y) const {
  if (y.elements() == 0) return;
  kernels_of(stream).conv(context_of(stream), planned(stream.device().properties(), input, bias, y));
}

std::string DirectConv::explain(const Device& device, const TensorView& input, const TensorView& y) const {
  if (y.elements() == 0) return "Kernel nothing: there are no outputs.\n";
  return plan::explain_direct(is_native(device), planned(device.properties(), input, TensorView(), y));
}

}  // namespace relayout
