// Depthwise causal conv1d of sequences of any lengths, one behind the other, with their states in a table:
// what servers of language models call prefill.
#pragma once

#include <cstdint>

#include <relayout/depthwise.hpp>
#include <relayout/export.hpp>
#include <relayout/stream.hpp>
#include <relayout/tensor_view.hpp>

namespace relayout {

/// Where depthwise_varlen finds the state of each sequence. Views stand for "none" by default. Their numbers
/// lie on the device and are read when the work runs: none of them, whatever it is, leads out of the
/// operands' memory.
struct DepthwiseVarlenOptions {
  /// i32 [batch]: the row of `states` of each sequence; `states` may then have any number of rows. A sequence
  /// whose index is negative, null_index, or no row of `states` is null: it has no state. Two sequences with
  /// one row leave undefined values in it and in their outputs.
  ///
  /// Or i32 [batch, blocks], for states that are kept at the ends of blocks: the row of each block. Then
  /// initial_block and last_block, i32 [batch], name the block whose state is read and the one that receives
  /// the state behind the last sample. A number that names no block makes the sequence null. The last block
  /// may be the initial one where no ends of blocks are written.
  TensorView state_indices;
  TensorView initial_block;  ///< see state_indices
  TensorView last_block;     ///< see state_indices
  /// With a block size, at least taps-1: the states behind every multiple of it, counted with the
  /// computed_tokens[b] samples that came before these, go to the blocks first_block[b], first_block[b] + 1
  /// and so on, up to but not with last_block[b]. Both are i32 [batch]. A block without a row is left out;
  /// the first of them may be the initial one.
  std::int64_t block_size = 0;
  TensorView first_block;                      ///< see block_size
  TensorView computed_tokens;                  ///< see block_size
  std::int32_t null_index = -1;                ///< an index that makes a sequence null
  NullOutput null_output = NullOutput::zeros;  ///< what becomes of the outputs of null sequences
  /// bool_ or u8 [batch]: where it is not 0, the sequence's state comes before its samples. None: zeros come
  /// before all of them.
  TensorView has_initial_state;
};

/// out[c, t] of the sequences b: samples query_start_loc[b] up to query_start_loc[b + 1] of `in` [channels,
/// total], each as depthwise_conv1d gives it when its state or zeros come before it; with up to 8 taps bit
/// for bit. Then its last taps-1 samples (those of the state or zeros, followed by its own) replace its
/// state.
///
/// in, out [channels, total], f16, bf16 or f32, of one type; weights, bias and activation as for
/// depthwise_conv1d. query_start_loc i32 [batch + 1], on the device; the host never waits for it. Numbers
/// outside 0 .. total count as the nearest of these, and an end before its begin is an empty sequence.
/// Outputs of no sequence stay as they are, and so does the state of an empty sequence; outputs of several
/// sequences are undefined. states none or [batch, channels, taps-1] (with state_indices [slots, ..]), of
/// in's type; of wider ones give a slice.
///
/// All views take any strides. Fastest are in and out with unit stride along time, or along channels. out and
/// states share no byte with any other view. Errors: rank, shape, dtype, invalid_argument (no taps, options
/// for states without states), null_pointer, output_overlap, partial_overlap.
RELAYOUT_API void depthwise_varlen(const Stream& stream, const TensorView& in,
                                   const TensorView& query_start_loc, const TensorView& weights,
                                   const TensorView& bias, Activation activation, const TensorView& states,
                                   const TensorView& out,
                                   const DepthwiseVarlenOptions& options = DepthwiseVarlenOptions());

/// The same, to be run later and again, each time with the numbers of the sequences as they are then.
RELAYOUT_API DepthwisePlan plan_depthwise_varlen(
    const PlanTarget& target, const TensorView& in, const TensorView& query_start_loc,
    const TensorView& weights, const TensorView& bias, Activation activation, const TensorView& states,
    const TensorView& out, const DepthwiseVarlenOptions& options = DepthwiseVarlenOptions());

/// states[b] [batch, channels, columns] = the last samples of sequence b of `in` [channels, total], bit for
/// bit, as many as there are columns, zeros before its first one. query_start_loc and types as above. Errors
/// as above.
RELAYOUT_API void depthwise_varlen_states(const Stream& stream, const TensorView& in,
                                          const TensorView& query_start_loc, const TensorView& states);

/// The same, to be run later and again; its output is `states`.
RELAYOUT_API DepthwisePlan plan_depthwise_varlen_states(const PlanTarget& target, const TensorView& in,
                                                        const TensorView& query_start_loc,
                                                        const TensorView& states);

}  // namespace relayout
