#include "relayout/conv_plan.hpp"

#include <string>
#include <utility>

#include "core/bytes.hpp"
#include "host/api/checks.hpp"
#include "host/conv1d/conv1d_views.hpp"
#include "host/conv1d/route_steps.hpp"
#include "relayout/error.hpp"

namespace relayout {
namespace {

constexpr const char* kOperation = "conv plan";

void check_operand(const char* name, const TensorView& view, const Dims& shape) {
  check_problem_shape(kOperation, name, view, shape);
  check_pointer(kOperation, name, view);
}

Dims input_shape(const Conv1d& problem) { return {problem.batch, problem.in_channels, problem.length}; }
Dims output_shape(const RouteSteps& steps) {
  return {steps.problem().batch, steps.sizes().positions, steps.problem().out_channels};
}

void check_tensors(const Conv1d& problem, const TensorView& weights, const TensorView& bias) {
  (void)sizes_of(problem);  // which checks the problem
  const std::int64_t channels = problem.in_channels / problem.window.groups;
  check_cast(kOperation, weights.dtype(), problem.dtype);
  check_operand("the weights", weights, {problem.out_channels, channels, problem.window.taps});
  if (is_given(bias)) check_conv_bias(kOperation, bias, problem.out_channels);
}

}  // namespace

struct ConvPlan::State {
  Device device;
  RouteSteps steps;
  Buffer bias_memory;
  TensorView bias;  // a default view where there is none
};

ConvPlan::ConvPlan(const Stream& stream, const Conv1d& problem, ConvRoute route, const TensorView& weights,
                   const TensorView& bias) {
  const bool with_bias = is_given(bias);
  check_tensors(problem, weights, bias);
  RouteSteps steps(stream.device(), problem, route, with_bias);

  if (route != ConvRoute::direct) prepare_gemm(stream);
  const auto state =
      std::make_shared<State>(State{stream.device(), std::move(steps), Buffer(), TensorView()});
  if (with_bias) {
    const std::size_t bytes = static_cast<std::size_t>(unique_bytes(bias));
    state->bias_memory = Buffer(stream.device(), bytes);
    state->bias = TensorView(state->bias_memory.data(), DType::f32, bias.shape());
    stream.copy(state->bias.data(), bias.data(), bytes);
  }
  state->steps.plan_weights(weights).run(stream);
  state_ = state;
}

void ConvPlan::run(const Stream& stream, const TensorView& input, const TensorView& y) const {
  const State& s = *state_;
  const DType type = problem().dtype;
  if (!same_device(stream.device(), s.device)) {
    fail(kOperation, ErrorCode::invalid_argument,
         "made for " + s.device.to_string() + ", and cannot run on " + stream.device().to_string());
  }
  check_cast(kOperation, input.dtype(), type);
  check_operand("the input", input, input_shape(problem()));
  check_operand("y", y, output_shape(s.steps));
  if (y.dtype() != type) {
    fail(kOperation, ErrorCode::dtype,
         std::string("y is ") + name_of(y.dtype()) + ", but the problem's type is " + name_of(type));
  }
  if (!y.is_contiguous()) {
    fail(kOperation, ErrorCode::invalid_argument, "y is " + y.to_string() + ", and must be contiguous");
  }
  check_memory(kOperation, input, y);
  s.steps.run(stream, input, s.bias, y);
}

std::string ConvPlan::explain(const TensorView& input, const TensorView& y) const {
  const RouteSteps& steps = state_->steps;
  check_problem_shape(kOperation, "the input", input, input_shape(problem()));
  check_problem_shape(kOperation, "y", y, output_shape(steps));
  const std::string multiplication = steps.plan_multiply(input, state_->bias, y).explain();
  return route() == ConvRoute::direct ? multiplication : steps.plan_input(input).explain() + multiplication;
}

const Conv1d& ConvPlan::problem() const noexcept { return state_->steps.problem(); }
ConvRoute ConvPlan::route() const noexcept { return state_->steps.route(); }
const Conv1dSizes& ConvPlan::sizes() const noexcept { return state_->steps.sizes(); }
const TensorView& ConvPlan::operand() const noexcept { return state_->steps.operand(); }
const TensorView& ConvPlan::weight_operand() const noexcept { return state_->steps.weights(); }

std::int64_t ConvPlan::device_bytes() const noexcept {
  return state_->steps.device_bytes() + static_cast<std::int64_t>(state_->bias_memory.bytes());
}

}  // namespace relayout
