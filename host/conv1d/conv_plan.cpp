#include "relayout/conv_plan.hpp"

#include <optional>
#include <string>
#include <vector>

#include "host/api/checks.hpp"
#include "host/conv1d/direct_conv.hpp"
#include "host/conv1d/padded_signal.hpp"
#include "relayout/error.hpp"

namespace relayout {
namespace {

void check_operand_shape(const char* name, const TensorView& view, const Dims& shape) {
  if (view.shape() == shape) return;
  throw Error(ErrorCode::shape, std::string("conv plan: ") + name + " is " + view.to_string() +
                                    ", but the problem's is " + to_string(shape));
}

void check_operand(const char* name, const TensorView& view, const Dims& shape) {
  check_operand_shape(name, view, shape);
  check_pointer("conv plan", name, view);
}

void check_bias(const TensorView& bias, std::int64_t out_channels) {
  check_operand("the bias", bias, {out_channels});
  if (bias.dtype() != DType::f32 || !bias.is_contiguous()) {
    throw Error(ErrorCode::dtype,
                "conv plan: the bias is " + bias.to_string() + ", but must be contiguous f32");
  }
}

}  // namespace

struct ConvPlan::State {
  Device device;
  Conv1d problem;
  ConvRoute route;
  Conv1dSizes sizes;
  std::vector<Buffer> buffers;
  TensorView operand, weights, bias;
  TensorView workspace;                // of the one GEMM of route `operand`
  std::optional<PaddedSignal> signal;  // of route `strided_gemm`
  std::optional<DirectConv> direct;    // of route `direct`

  State(const Device& device_, const Conv1d& problem_, ConvRoute route_)
      : device(device_), problem(problem_), route(route_), sizes(sizes_of(problem_)) {}

  TensorView allocate(DType type, const Dims& shape) {
    const TensorView sized(nullptr, type, shape);
    buffers.emplace_back(device, static_cast<std::size_t>(sized.elements()) * size_of(type));
    return TensorView(buffers.back().data(), type, shape);
  }

  void rearrange(const Stream& stream, const TensorView& from) const {
    if (direct) return direct->rearrange(stream, from);
    prepare_gemm(stream);
    rearrange_weights(stream, from,
                      route == ConvRoute::strided_gemm ? ColumnOrder::tap_outer : problem.window.order,
                      weights);
  }

  /// The groups' results lie side by side in each row of y.
  TensorView groups_of(const TensorView& y) const {
    return TensorView(y.data(), y.dtype(), {problem.window.groups, sizes.rows, sizes.columns},
                      {sizes.columns, problem.out_channels, 1});
  }

  void allocate_route(bool with_bias) {
    if (route == ConvRoute::direct) {
      weights = direct.emplace(device, problem).weights();
      return;
    }
    weights = allocate(problem.dtype, {problem.out_channels, sizes.depth});
    if (route == ConvRoute::strided_gemm) {
      signal.emplace(device, problem, with_bias);
      return;
    }
    const std::int64_t groups = problem.window.groups;
    operand = allocate(problem.dtype,
                       groups == 1 ? Dims{sizes.rows, sizes.depth} : Dims{groups, sizes.rows, sizes.depth});
    const TensorView y(nullptr, problem.dtype, {problem.batch, sizes.positions, problem.out_channels});
    const std::size_t bytes = gemm_workspace_bytes(device, groups_of(y), with_bias);
    if (bytes > 0) workspace = allocate(DType::u8, {static_cast<std::int64_t>(bytes)});
  }

  TensorView operand_groups() const {
    return TensorView(operand.data(), problem.dtype, {problem.window.groups, sizes.rows, sizes.depth});
  }
  TensorView weight_groups() const {
    return TensorView(weights.data(), problem.dtype, {problem.window.groups, sizes.columns, sizes.depth});
  }
  void multiply_operand(const Stream& stream, const TensorView& y) const {
    gemm(stream, operand_groups(), weight_groups(), bias, groups_of(y), workspace);
  }
  GemmPlan operand_gemm(const TensorView& y) const {
    return plan_gemm(device, operand_groups(), weight_groups(), bias, groups_of(y), workspace);
  }
};

ConvPlan::ConvPlan(const Stream& stream, const Conv1d& problem, ConvRoute route, const TensorView& weights,
                   const TensorView& bias) {
  const auto state = std::make_shared<State>(stream.device(), problem, route);
  const std::int64_t channels = problem.in_channels / problem.window.groups;
  const bool with_bias = is_given(bias);
  check_cast("conv plan", weights.dtype(), problem.dtype);
  check_operand("the weights", weights, {problem.out_channels, channels, problem.window.taps});
  if (with_bias) check_bias(bias, problem.out_channels);

  state->allocate_route(with_bias);
  if (with_bias) state->bias = state->allocate(DType::f32, {problem.out_channels});
  state->rearrange(stream, weights);
  if (with_bias) {
    stream.copy(state->bias.data(), bias.data(),
                static_cast<std::size_t>(problem.out_channels) * sizeof(float));
  }
  state_ = state;
}

void ConvPlan::run(const Stream& stream, const TensorView& input, const TensorView& y) const {
  const State& s = *state_;
  if (!same_device(stream.device(), s.device)) {
    throw Error(ErrorCode::invalid_argument, "conv plan: made for " + s.device.to_string() +
                                                 ", and cannot run on " + stream.device().to_string());
  }
  check_cast("conv plan", input.dtype(), s.problem.dtype);
  check_operand("the input", input, {s.problem.batch, s.problem.in_channels, s.problem.length});
  check_operand("y", y, {s.problem.batch, s.sizes.positions, s.problem.out_channels});
  if (y.dtype() != s.problem.dtype) {
    throw Error(ErrorCode::dtype, std::string("conv plan: y is ") + name_of(y.dtype()) +
                                      ", but the problem's type is " + name_of(s.problem.dtype));
  }
  if (!y.is_contiguous()) {
    throw Error(ErrorCode::invalid_argument, "conv plan: y is " + y.to_string() + ", and must be contiguous");
  }
  check_memory("conv plan", input, y);
  if (s.direct) {
    s.direct->run(stream, input, s.bias, y);
  } else if (s.signal) {
    s.signal->fill(stream, input);
    s.signal->multiply(stream, s.weights, s.bias, y);
  } else {
    img2col(stream, input, s.problem.window, s.problem.pad, s.operand);
    s.multiply_operand(stream, y);
  }
}

std::string ConvPlan::explain(const TensorView& input, const TensorView& y) const {
  const State& s = *state_;
  check_operand_shape("the input", input, {s.problem.batch, s.problem.in_channels, s.problem.length});
  check_operand_shape("y", y, {s.problem.batch, s.sizes.positions, s.problem.out_channels});
  if (s.direct) return s.direct->explain(s.device, input, y);
  if (s.signal) return s.signal->explain(s.device, input);
  return plan_img2col(s.device, input, s.problem.window, s.problem.pad, s.operand).explain() +
         s.operand_gemm(y).explain();
}

const Conv1d& ConvPlan::problem() const noexcept { return state_->problem; }
ConvRoute ConvPlan::route() const noexcept { return state_->route; }
const Conv1dSizes& ConvPlan::sizes() const noexcept { return state_->sizes; }
const TensorView& ConvPlan::operand() const noexcept { return state_->operand; }
const TensorView& ConvPlan::weight_operand() const noexcept { return state_->weights; }

std::int64_t ConvPlan::device_bytes() const noexcept {
  std::int64_t bytes = state_->signal ? state_->signal->device_bytes() : 0;
  if (state_->direct) bytes += state_->direct->device_bytes();
  for (const Buffer& buffer : state_->buffers) bytes += static_cast<std::int64_t>(buffer.bytes());
  return bytes;
}

}  // namespace relayout
