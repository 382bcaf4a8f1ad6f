#include "host/conv1d/route_steps.hpp"

#include "host/api/checks.hpp"
#include "host/conv1d/conv1d_views.hpp"
#include "relayout/img2col.hpp"

namespace relayout {

Dims operand_shape(const Conv1d& problem, const Conv1dSizes& sizes) {
  const std::int64_t groups = problem.window.groups;
  return groups == 1 ? Dims{sizes.rows, sizes.depth} : Dims{groups, sizes.rows, sizes.depth};
}

RouteSteps::RouteSteps(const Device& device, const Conv1d& problem, ConvRoute route, bool with_bias)
    : device_(device), problem_(problem), route_(route), sizes_(sizes_of(problem)) {
  check_enumerator("conv1d", "the route", route, ConvRoute::direct);
  if (route == ConvRoute::direct) {
    weights_ = direct_.emplace(device, problem).weights();
    return;
  }
  weights_ = allocate_in(buffers_, device, problem.dtype, {problem.out_channels, sizes_.depth});
  if (route == ConvRoute::strided_gemm) {
    signal_.emplace(device, problem, with_bias);
    return;
  }
  operand_ = allocate_in(buffers_, device, problem.dtype, operand_shape(problem, sizes_));
  const TensorView y(nullptr, problem.dtype, {problem.batch, sizes_.positions, problem.out_channels});
  const std::size_t bytes = gemm_workspace_bytes(device, groups_of(y), with_bias);
  if (bytes > 0) workspace_ = allocate_in(buffers_, device, DType::u8, {static_cast<std::int64_t>(bytes)});
}

std::int64_t RouteSteps::input_step_bytes() const {
  return signal_ ? signal_->bytes()
                 : operand_.elements() * static_cast<std::int64_t>(size_of(problem_.dtype));
}

std::int64_t RouteSteps::device_bytes() const {
  std::int64_t bytes = 0;
  if (signal_) bytes += signal_->device_bytes();
  if (direct_) bytes += direct_->device_bytes();
  for (const Buffer& buffer : buffers_) bytes += static_cast<std::int64_t>(buffer.bytes());
  return bytes;
}

ColumnOrder RouteSteps::column_order() const {
  return route_ == ConvRoute::strided_gemm ? ColumnOrder::tap_outer : problem_.window.order;
}

PlannedStep RouteSteps::plan_weights(const TensorView& from) const {
  if (weights_.elements() == 0)
    return {[](const Stream&) {}, [] { return std::string("Kernel nothing: there are no weights.\n"); }};
  if (direct_) return step_of(direct_->plan_weights(device_, from));
  return step_of(plan_rearrange_weights(device_, from, column_order(), weights_));
}

PlannedStep RouteSteps::plan_input(const TensorView& input) const {
  if (!signal_) return step_of(plan_img2col(device_, input, problem_.window, problem_.pad, operand_));
  return {[signal = *signal_, input](const Stream& stream) { signal.fill(stream, input); },
          [signal = *signal_, device = device_, input] { return signal.explain_fill(device, input); }};
}

TensorView RouteSteps::operand_groups() const {
  return TensorView(operand_.data(), problem_.dtype, {problem_.window.groups, sizes_.rows, sizes_.depth});
}

TensorView RouteSteps::weight_groups() const {
  return TensorView(weights_.data(), problem_.dtype, {problem_.window.groups, sizes_.columns, sizes_.depth});
}

/// The groups' results lie side by side in each row of y.
TensorView RouteSteps::groups_of(const TensorView& y) const {
  return TensorView(y.data(), y.dtype(), {problem_.window.groups, sizes_.rows, sizes_.columns},
                    {sizes_.columns, problem_.out_channels, 1});
}

PlannedStep RouteSteps::plan_multiply(const TensorView& input, const TensorView& bias,
                                      const TensorView& y) const {
  if (direct_) {
    return {[direct = *direct_, input, bias, y](const Stream& stream) { direct.run(stream, input, bias, y); },
            [direct = *direct_, device = device_, input, y] { return direct.explain(device, input, y); }};
  }
  if (signal_) {
    return {[signal = *signal_, bt = weights_, bias, y](const Stream& stream) {
              signal.multiply(stream, bt, bias, y);
            },
            [signal = *signal_, device = device_] { return signal.explain_multiply(device); }};
  }
  return step_of(plan_gemm(device_, operand_groups(), weight_groups(), bias, groups_of(y), workspace_));
}

void RouteSteps::run(const Stream& stream, const TensorView& input, const TensorView& bias,
                     const TensorView& y) const {
  if (direct_) {
    direct_->run(stream, input, bias, y);
  } else if (signal_) {
    signal_->fill(stream, input);
    signal_->multiply(stream, weights_, bias, y);
  } else {
    img2col(stream, input, problem_.window, problem_.pad, operand_);
    gemm(stream, operand_groups(), weight_groups(), bias, groups_of(y), workspace_);
  }
}

}  // namespace relayout
