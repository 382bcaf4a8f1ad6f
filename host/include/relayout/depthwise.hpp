// Depthwise causal conv1d: every channel with its own taps, directly, without an operand matrix.
#pragma once

#include <memory>
#include <string>
#include <utility>

#include <relayout/copy_plan.hpp>
#include <relayout/export.hpp>
#include <relayout/stream.hpp>
#include <relayout/tensor_view.hpp>

namespace relayout {

/// A function that is applied to each result.
enum class Activation {
  none,  ///< v itself
  silu,  ///< v / (1 + exp(-v))
};

/// A depthwise convolution or update that was checked and planned: immutable, cheap to copy, safe to use from
/// several threads at once.
class RELAYOUT_API DepthwisePlan {
 public:
  struct State;  ///< the library's own
  /// For the library: users have the plan_* functions.
  explicit DepthwisePlan(std::shared_ptr<const State> state) : state_(std::move(state)) {}
  /// A copy.
  DepthwisePlan(const DepthwisePlan&) = default;
  /// A copy.
  DepthwisePlan& operator=(const DepthwisePlan&) = default;

  /// Queues the work between the planned views: allocates nothing on the device, waits for nothing, can be
  /// recorded in a Graph. Errors: null_pointer for a view that was planned with a null pointer;
  /// invalid_argument for a stream of another device; unsupported for a plan from DeviceProperties.
  void run(const Stream& stream) const;
  /// The same with another signal: in (an update's samples) and out take the place of the planned views'
  /// data(), with their strides. Where explain() names a boundary for both, they must lie on it.
  /// Further errors: invalid_argument for an address, partial_overlap.
  void run(const Stream& stream, const void* in, void* out) const;

  /// The plan in plain words, several lines: the kernel and why it, its predicted time and the runner-up's,
  /// its tile and its accesses, and why the other kernels were not chosen.
  std::string explain() const;

 private:
  std::shared_ptr<const State> state_;
};

/// out[b, c, t] = act(bias[c] + sum over k of weights[c, k] * in[b, c, t - (taps-1-k)]): the last tap meets
/// the newest sample, and samples before the first are 0. A default TensorView stands for "none".
///
/// in, out [batch, channels, length] (channels-last data: a permuted view), f16, bf16 or f32, of one type.
/// weights [channels, taps], taps >= 1; bias none or [channels]; each f32 or of in's type.
/// initial_state none or [batch, channels, taps-1], of in's type: the samples before the first.
/// final_state none or the same shape and type: receives, bit for bit, the last taps-1 samples of the initial
/// state (or zeros) followed by in, so that a signal cut into chunks gives the bits of the whole.
/// sequence_ids none or i32 [batch, length]: a tap on a sample of another id counts as 0, and where the id is
/// negative out is 0; not together with states.
///
/// Inputs take any strides. Fastest are signals with unit stride along time, or along channels, in both in
/// and out; bases and pitches hardly matter. Sums, bias and activation are fp32, with one rounding at the
/// store; the order of a sum depends on nothing but taps. Errors: rank, shape, dtype, invalid_argument (no
/// taps, ids with states), null_pointer, output_overlap, partial_overlap.
RELAYOUT_API void depthwise_conv1d(const Stream& stream, const TensorView& in, const TensorView& weights,
                                   const TensorView& bias, Activation activation,
                                   const TensorView& initial_state, const TensorView& out,
                                   const TensorView& final_state = TensorView(),
                                   const TensorView& sequence_ids = TensorView());

/// The same, to be run later and again. Null pointers count as aligned; they are an error of run().
RELAYOUT_API DepthwisePlan plan_depthwise_conv1d(const PlanTarget& target, const TensorView& in,
                                                 const TensorView& weights, const TensorView& bias,
                                                 Activation activation, const TensorView& initial_state,
                                                 const TensorView& out,
                                                 const TensorView& final_state = TensorView(),
                                                 const TensorView& sequence_ids = TensorView());

/// One or a few new samples: out [batch, channels, n] as depthwise_conv1d gives them, bit for bit, when the
/// last taps-1 columns of `state` [batch, channels, taps-1 or more] come before `samples` [batch, channels,
/// n]. Then the state moves on: its columns and the samples in a row, of which the newest stay. Errors as
/// above.
RELAYOUT_API void depthwise_update(const Stream& stream, const TensorView& state, const TensorView& samples,
                                   const TensorView& weights, const TensorView& bias, Activation activation,
                                   const TensorView& out);

/// The same, to be run later and again, each time with the state as it is then.
RELAYOUT_API DepthwisePlan plan_depthwise_update(const PlanTarget& target, const TensorView& state,
                                                 const TensorView& samples, const TensorView& weights,
                                                 const TensorView& bias, Activation activation,
                                                 const TensorView& out);

}  // namespace relayout
