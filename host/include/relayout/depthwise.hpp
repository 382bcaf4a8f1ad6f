// Depthwise causal conv1d: every channel with its own taps, directly, without an operand matrix.
#pragma once

#include <cstdint>
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
/// state (or zeros) followed by in, so that a signal may be cut into chunks.
/// sequence_ids none or i32 [batch, length]: a tap on a sample of another id counts as 0, and where the id is
/// negative out is 0; not together with states.
///
/// Inputs take any strides. Fastest are signals with unit stride along time, or along channels, in both in
/// and out; bases and pitches hardly matter. Sums, bias and activation are fp32, with one rounding at the
/// store. With up to 8 taps, and where the signal or the weights are f32, the order of a sum depends on
/// nothing but taps, so chunks give the bits of the whole. With more taps of 16 bits it depends on shape,
/// strides and device, too. Errors: rank, shape, dtype, invalid_argument (no taps, ids with states),
/// null_pointer, output_overlap, partial_overlap.
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

/// What becomes of the outputs of a sequence without a row of states.
enum class NullOutput {
  zeros,      ///< they are 0
  untouched,  ///< they stay as they are
};

/// Where depthwise_update finds the state and the samples of each sequence. Views stand for "none" by
/// default. Their numbers lie on the device and are read when the update runs: none of them, whatever it is,
/// leads out of the operands' memory.
struct DepthwiseUpdateOptions {
  /// i32 [batch]: the row of `state` of each sequence; `state` may then have any number of rows. A sequence
  /// whose index is negative, null_index, or no row of `state` is null: it has no state. Two sequences with
  /// one row leave undefined values in it and in their outputs.
  ///
  /// Or i32 [batch, blocks], for states that are kept at the ends of blocks: the row of each block. Then
  /// initial_block and last_block, i32 [batch], name the block whose state is read and the one that is
  /// written. A number that names no block makes the sequence null. Not together with cache_seqlens.
  TensorView state_indices;
  TensorView initial_block;                    ///< see state_indices
  TensorView last_block;                       ///< see state_indices
  std::int32_t null_index = -1;                ///< an index that makes a sequence null
  NullOutput null_output = NullOutput::zeros;  ///< what becomes of the outputs of null sequences
  /// i32 [batch]: the states are rings. Column cache_seqlens[b] modulo their number takes the first sample,
  /// those before it hold the samples before, and nothing else moves.
  TensorView cache_seqlens;
  /// i32 [batch]: how many samples of the last update were accepted, the first of them always. Its samples
  /// stand behind taps-2 older ones at the front of the state, so the taps-1 columns before the new samples
  /// begin at num_accepted_tokens[b] - 1, moved into the state where they would not lie in it. Afterwards the
  /// new samples stand behind the last taps-2 of those, at the front; columns behind them stay. The state
  /// needs taps-2 columns more than there are samples. Not together with cache_seqlens.
  TensorView num_accepted_tokens;
  /// i32 [batch + 1]: samples and out are [channels, total], and sequence b has those from query_start_loc[b]
  /// up to query_start_loc[b + 1]. Numbers outside 0 .. total count as the nearest of these, and an end
  /// before its begin is an empty sequence, whose state stays. Outputs of no sequence stay; those of several
  /// are undefined. With num_accepted_tokens, samples that the state has no room for are left out.
  TensorView query_start_loc;
};

/// One or a few new samples: out [batch, channels, n] as depthwise_conv1d gives them when the last taps-1
/// columns of `state` [batch, channels, taps-1 or more] come before `samples` [batch, channels, n]; with up
/// to 8 taps bit for bit. Then the state moves on: its columns and the samples in a row, of which the newest
/// stay. With `options` states are found by index, are rings, follow speculation, or sequences have different
/// lengths. out may be samples, the same view. Errors as above; invalid_argument for options that exclude
/// each other.
RELAYOUT_API void depthwise_update(const Stream& stream, const TensorView& state, const TensorView& samples,
                                   const TensorView& weights, const TensorView& bias, Activation activation,
                                   const TensorView& out,
                                   const DepthwiseUpdateOptions& options = DepthwiseUpdateOptions());

/// The same, to be run later and again, each time with the state and the numbers of the options as they are
/// then. To be run in place it must be planned so.
RELAYOUT_API DepthwisePlan plan_depthwise_update(
    const PlanTarget& target, const TensorView& state, const TensorView& samples, const TensorView& weights,
    const TensorView& bias, Activation activation, const TensorView& out,
    const DepthwiseUpdateOptions& options = DepthwiseUpdateOptions());

}  // namespace relayout
