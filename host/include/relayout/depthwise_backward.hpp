// The backward pass of the depthwise causal conv1d: from the gradient of its output those of its inputs.
#pragma once

#include <cstddef>
#include <memory>
#include <string>
#include <utility>

#include <relayout/depthwise.hpp>

namespace relayout {

/// What the forward pass was given (depthwise_conv1d), in the same shapes. A default TensorView stands for
/// "none". weights and bias: each f16, bf16 or f32, whatever the input's type.
struct DepthwiseForward {
  TensorView in;                            ///< [batch, channels, length], f16, bf16 or f32
  TensorView weights;                       ///< [channels, taps], taps >= 1
  TensorView bias;                          ///< none or [channels]
  Activation activation{Activation::none};  ///< what was applied to the sums
  TensorView initial_state;                 ///< none or [batch, channels, taps-1], of in's type
  TensorView sequence_ids;                  ///< none or i32 [batch, length]; not together with states
};

/// The gradients that come and those that are wanted. They have in's type unless a member says otherwise;
/// a default TensorView stands for "none".
struct DepthwiseGradients {
  TensorView d_out;            ///< read: [batch, channels, length], the gradient of the output
  TensorView d_final_state;    ///< read: none or [batch, channels, taps-1], that of the final state
  TensorView d_in;             ///< written: [batch, channels, length]
  TensorView d_weights;        ///< written: none or [channels, taps], f16, bf16 or f32
  TensorView d_bias;           ///< written: none or [channels], f16, bf16 or f32
  TensorView d_initial_state;  ///< written: none or [batch, channels, taps-1]
};

/// A backward pass that was checked and planned: immutable, cheap to copy, safe to use from several threads
/// at once.
class RELAYOUT_API DepthwiseBackwardPlan {
 public:
  struct State;  ///< the library's own
  /// For the library: users have plan_depthwise_conv1d_backward.
  explicit DepthwiseBackwardPlan(std::shared_ptr<const State> state) : state_(std::move(state)) {}
  /// A copy.
  DepthwiseBackwardPlan(const DepthwiseBackwardPlan&) = default;
  /// A copy.
  DepthwiseBackwardPlan& operator=(const DepthwiseBackwardPlan&) = default;

  /// Queues the work between the planned views: allocates nothing on the device, waits for nothing, can be
  /// recorded in a Graph. All runs use the planned workspace, so they follow each other: on one stream, or
  /// ordered by events. Errors: null_pointer for a view or a workspace that was planned with a null pointer;
  /// invalid_argument for a stream of another device; unsupported for a plan from DeviceProperties.
  void run(const Stream& stream) const;
  /// The same on other signals, with the planned views' strides, and with another workspace of
  /// workspace_bytes(). Further errors: invalid_argument for an address that is no multiple of the element
  /// size, partial_overlap.
  void run(const Stream& stream, const void* in, const void* d_out, void* d_in, void* workspace) const;

  /// Device memory that running needs.
  std::size_t workspace_bytes() const noexcept;
  /// The plan in plain words, several lines: the kernel and why it, its tile and its workspace.
  std::string explain() const;

 private:
  std::shared_ptr<const State> state_;
};

/// The gradients of depthwise_conv1d. With g[b, c, t] = d_out[b, c, t] times the derivative of the activation
/// at the forward pass's sum, which is computed again:
///   d_in[b, c, t] = sum over k of weights[c, k] * g[b, c, t + taps-1-k]
///   d_weights[c, k] = sum over b, t of g[b, c, t] * in[b, c, t - (taps-1-k)], d_bias[c] = sum over b, t of g
/// where the initial state (or zeros) comes before in, d_initial_state holds what d_in would hold there, and
/// d_final_state is added to the last taps-1 gradients of the initial state followed by in. With sequence
/// ids a tap between two ids adds nothing, and where the id is negative g is 0.
///
/// Inputs take any strides, and gradients that are written any with distinct elements. Fastest are up to 4
/// taps without sequence ids on in, d_out and d_in that all have unit stride along time, or all along at
/// least 16 channels; then up to 8 taps (with sequence ids 4), and signals that differ in their layouts.
/// Bases and pitches hardly matter to channels; along time, rows of d_in on boundaries of 16 bytes are
/// fastest. Sums are fp32, with one rounding at the store. Results have the same bits in every run: the order
/// of each sum depends on nothing but the shapes, the strides, the types and whether the device is
/// Device::cpu(), not on addresses.
///
/// `workspace`: memory on the device, contiguous, aligned to 4 bytes, of at least
/// depthwise_conv1d_backward_workspace_bytes(); none is needed where that is 0. The caller owns it; its
/// contents need not be set and mean nothing afterwards. Until the queued work has finished nothing else may
/// use it, so calls that may run at the same time, on two streams, need a workspace each.
///
/// Errors, before anything is written: rank, shape, dtype, invalid_argument (no taps, ids with states, a
/// workspace that is too small), null_pointer, output_overlap, partial_overlap (what is written, the
/// workspace too, shares no byte with any other view).
RELAYOUT_API void depthwise_conv1d_backward(const Stream& stream, const DepthwiseForward& forward,
                                            const DepthwiseGradients& gradients,
                                            const TensorView& workspace = TensorView());

/// The same, to be run later and again. Null pointers count as aligned; they are an error of run().
RELAYOUT_API DepthwiseBackwardPlan plan_depthwise_conv1d_backward(const PlanTarget& target,
                                                                  const DepthwiseForward& forward,
                                                                  const DepthwiseGradients& gradients,
                                                                  const TensorView& workspace = TensorView());

/// Device memory that depthwise_conv1d_backward needs: by shapes, types and which gradients are wanted; the
/// pointers may be null. 4 bytes a channel, tap and block of 24 samples or more; with more taps than the
/// fastest kernel takes, 4 bytes a sample besides. Errors: rank, shape, dtype, invalid_argument.
RELAYOUT_API std::size_t depthwise_conv1d_backward_workspace_bytes(const PlanTarget& target,
                                                                   const DepthwiseForward& forward,
                                                                   const DepthwiseGradients& gradients);

}  // namespace relayout
