// What the routes of the convolution keep on a device, and the steps that they take there. ConvPlan runs the
// steps on inputs that are there; Conv1dPipeline brings its input there first.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "host/conv1d/direct_conv.hpp"
#include "host/conv1d/padded_signal.hpp"
#include "relayout/buffer.hpp"
#include "relayout/conv1d.hpp"
#include "relayout/gemm.hpp"

namespace relayout {

/// The shape of A: [rows, depth], with groups [groups, rows, depth].
Dims operand_shape(const Conv1d& problem, const Conv1dSizes& sizes);

/// A step that was planned once, on tensors that stay where they are.
struct PlannedStep {
  std::function<void(const Stream&)> run;
  std::function<std::string()> explain;  // a paragraph for each kernel
};

template <class Plan>
PlannedStep step_of(const Plan& plan) {
  return {[plan](const Stream& stream) { plan.run(stream); }, [plan] { return plan.explain(); }};
}

/// Copies share the memory.
class RouteSteps {
 public:
  /// Allocates everything. Errors: those of sizes_of, and out_of_memory.
  RouteSteps(const Device& device, const Conv1d& problem, ConvRoute route, bool with_bias);

  ConvRoute route() const noexcept { return route_; }
  const Conv1d& problem() const noexcept { return problem_; }
  const Conv1dSizes& sizes() const noexcept { return sizes_; }
  /// A, on route `operand` only; else a default view.
  const TensorView& operand() const noexcept { return operand_; }
  /// Bt.
  const TensorView& weights() const noexcept { return weights_; }
  /// Bytes of what the input step writes: A or the padded signal. Route `direct` has no such step.
  std::int64_t input_step_bytes() const;
  /// Bytes of all device memory that it holds.
  std::int64_t device_bytes() const;

  /// Weights [out_channels, in_channels / groups, taps] of any strides to Bt.
  PlannedStep plan_weights(const TensorView& from) const;
  /// Input [batch, in_channels, length] of any strides to A or to the padded signal.
  PlannedStep plan_input(const TensorView& input) const;
  /// What the input step left, on route `direct` the input itself, to y [batch, positions, out_channels],
  /// contiguous. The bias has been announced, or is a default view.
  PlannedStep plan_multiply(const TensorView& input, const TensorView& bias, const TensorView& y) const;

  /// Queues the input step and the multiplication, planned for this call.
  void run(const Stream& stream, const TensorView& input, const TensorView& bias, const TensorView& y) const;

 private:
  ColumnOrder column_order() const;
  TensorView operand_groups() const;
  TensorView weight_groups() const;
  TensorView groups_of(const TensorView& y) const;

  Device device_;
  Conv1d problem_;
  ConvRoute route_;
  Conv1dSizes sizes_;
  std::vector<Buffer> buffers_;
  TensorView operand_, weights_;
  TensorView workspace_;                // of the one GEMM of route `operand`
  std::optional<PaddedSignal> signal_;  // of route `strided_gemm`
  std::optional<DirectConv> direct_;    // of route `direct`
};

}  // namespace relayout
