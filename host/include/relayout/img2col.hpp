// img2col: a convolution's input as a matrix, one row per output position.
#pragma once

#include <cstdint>

#include <relayout/export.hpp>
#include <relayout/pad.hpp>

namespace relayout {

/// The order of a row's K = taps * channels elements.
enum class ColumnOrder {
  tap_outer,      ///< k * channels + c: what a channels-last GEMM wants
  channel_outer,  ///< c * taps + k: the order of PyTorch's unfold and of ggml
};

/// The window that slides over the padded signal. All numbers are at least 1, and the groups divide the
/// channels.
struct Window {
  std::int64_t taps = 1;                       ///< samples that a window reads
  std::int64_t stride = 1;                     ///< samples between two output positions
  std::int64_t dilation = 1;                   ///< samples between two taps
  std::int64_t groups = 1;                     ///< groups of channels that do not mix
  ColumnOrder order = ColumnOrder::tap_outer;  ///< the order of a row's elements

  /// Samples from a window's first tap to its last: (taps - 1) * dilation + 1.
  std::int64_t span() const noexcept { return (taps - 1) * dilation + 1; }
};

/// Output positions: floor((length + left + right - span) / stride) + 1. Error{invalid_shape} when the padded
/// signal is shorter than the window or goes beyond 2^60 samples, Error{invalid_argument} for taps, stride,
/// dilation or groups below 1 and for a length below 0.
RELAYOUT_API std::int64_t output_length(std::int64_t length, const Window& window, const PadSpec& pad);

/// Which samples a causal output may read.
enum class Causal {
  sample,  ///< left = span - 1, right = 0: output t reads no sample after t * stride
  frame,   ///< left = span - stride (EnCodec; needs span >= stride): output t reads samples up to
           ///< t * stride + stride - 1
};

/// Pads (mode constant 0) with which output_length is ceil(length / stride). Error{invalid_argument} for
/// Causal::frame with span < stride, and those of output_length.
RELAYOUT_API PadSpec causal_padding(Causal causal, std::int64_t length, const Window& window);

/// A[b * ho + t, k * channels + c] = padded in[b, c, t * stride + k * dilation - left], in one pass over the
/// input: cast, transpose, padding and img2col fused. in [batch, channels, length], any strides
/// (channels-last data: a permuted view). out [batch * ho, K] for one group, [groups, batch * ho, K / groups]
/// for more; any strides under which no two elements share an address, and unit stride along the last axis is
/// fast. Equal element types or a cast among f16, bf16, f32, f64. Errors: those of pad and output_length; the
/// groups must divide the channels.
RELAYOUT_API void img2col(const Stream& stream, const TensorView& in, const Window& window,
                          const PadSpec& pad, const TensorView& out);

/// The same, to be run later and again. Null pointers count as aligned; they are an error of run().
RELAYOUT_API WindowPlan plan_img2col(const PlanTarget& target, const TensorView& in, const Window& window,
                                     const PadSpec& pad, const TensorView& out);

/// Weights [co, ci/groups, taps] (any strides) -> the GEMM's Bt [co, taps * ci/groups] in the window's order,
/// cast to out's type. Tap k meets sample t * stride + k * dilation - left: taps are not flipped.
RELAYOUT_API void rearrange_weights(const Stream& stream, const TensorView& weights, ColumnOrder order,
                                    const TensorView& out);

/// The same as a plan of the copy that it is.
RELAYOUT_API CopyPlan plan_rearrange_weights(const PlanTarget& target, const TensorView& weights,
                                             ColumnOrder order, const TensorView& out);

}  // namespace relayout
