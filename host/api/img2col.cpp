#include "relayout/img2col.hpp"

#include <string>

#include "host/api/checks.hpp"
#include "host/api/window.hpp"
#include "host/plan/checked_math.hpp"
#include "relayout/error.hpp"
#include "relayout/permute.hpp"

namespace relayout {
namespace {

std::string described(std::int64_t length, const PadSpec& pad) {
  return "a signal of length " + std::to_string(length) + " padded by " + std::to_string(pad.left) + " and " +
         std::to_string(pad.right);
}

void check_length(const char* operation, std::int64_t length) {
  if (length < 0) {
    fail(operation, ErrorCode::invalid_argument,
         "a signal has 0 samples or more, not " + std::to_string(length));
  }
}

void check_window(const char* operation, const Window& window) {
  const auto check = [operation](const char* name, std::int64_t value) {
    if (value < 1) {
      fail(operation, ErrorCode::invalid_argument,
           std::string(name) + " must be 1 or more, and is " + std::to_string(value));
    }
  };
  check("taps", window.taps);
  check("stride", window.stride);
  check("dilation", window.dilation);
  check("groups", window.groups);
  check_enumerator(operation, "the window's order", window.order, ColumnOrder::channel_outer);
  std::int64_t reach;
  if (__builtin_mul_overflow(window.taps - 1, window.dilation, &reach) ||
      __builtin_add_overflow(reach, 1, &reach)) {
    fail(operation, ErrorCode::invalid_shape,
         "a window of " + std::to_string(window.taps) + " taps with dilation " +
             std::to_string(window.dilation) + " does not fit 64 bits");
  }
}

/// Strides of A over (batch, group, position, tap, channel), from its rank 2 or 3 view.
WindowStrides operand_strides(const TensorView& out, const Window& window, std::int64_t channels,
                              std::int64_t positions) {
  WindowStrides strides;
  if (out.elements() == 0) return strides;
  strides.position = window_stride(out, out.rank() - 2);
  strides.batch = positions * strides.position;
  strides.group = out.rank() == 3 ? window_stride(out, 0) : 0;
  const std::int64_t step = window_stride(out, out.rank() - 1);
  const bool tap_outer = window.order == ColumnOrder::tap_outer;
  strides.tap = tap_outer ? channels * step : step;
  strides.channel = tap_outer ? step : window.taps * step;
  return strides;
}

}  // namespace

std::int64_t padded_length(const char* operation, std::int64_t length, const PadSpec& pad) {
  check_length(operation, length);
  // Sums of indices, strides and pads within this bound fit 64 bits.
  constexpr std::int64_t kMax = std::int64_t{1} << 60;
  const auto is_far = [](std::int64_t samples) { return samples > kMax || samples < -kMax; };
  if (is_far(length) || is_far(pad.left) || is_far(pad.right)) {
    fail(operation, ErrorCode::invalid_shape, described(length, pad) + " goes beyond 2^60 samples");
  }
  const std::int64_t padded = length + pad.left + pad.right;
  if (padded < 1) {
    fail(operation, ErrorCode::invalid_shape, described(length, pad) + " has no samples left; cut off fewer");
  }
  return padded;
}

std::int64_t output_length(const char* operation, std::int64_t length, const Window& window,
                           const PadSpec& pad) {
  check_window(operation, window);
  const std::int64_t padded = padded_length(operation, length, pad);
  if (padded < window.span()) {
    fail(operation, ErrorCode::invalid_shape,
         described(length, pad) + " is shorter than the window's " + std::to_string(window.span()) +
             " samples");
  }
  return (padded - window.span()) / window.stride + 1;
}

std::int64_t output_length(std::int64_t length, const Window& window, const PadSpec& pad) {
  return output_length("output_length", length, window, pad);
}

PadSpec causal_padding(Causal causal, std::int64_t length, const Window& window) {
  constexpr const char* kOperation = "causal_padding";
  check_window(kOperation, window);
  check_length(kOperation, length);
  check_enumerator(kOperation, "the kind of causality", causal, Causal::frame);
  PadSpec pad;
  pad.left = window.span() - 1;
  if (causal == Causal::sample) return pad;
  if (window.span() < window.stride) {
    fail(kOperation, ErrorCode::invalid_argument,
         "frames need a window of at least the stride, and it has " + std::to_string(window.span()) +
             " samples against stride " + std::to_string(window.stride));
  }
  pad.left = window.span() - window.stride;
  // As many frames as cover the signal.
  if (length % window.stride != 0) pad.right = window.stride - length % window.stride;
  return pad;
}

WindowParams img2col_problem(const TensorView& in, const Window& window, const PadSpec& pad,
                             const TensorView& out) {
  check_cast("img2col", in.dtype(), out.dtype());
  check_rank("img2col", "the input", in, 3);
  const std::int64_t channels = in.extent(1);
  const std::int64_t positions = output_length("img2col", in.extent(2), window, pad);
  check_rank("img2col", "the output", out, window.groups == 1 ? 2 : 3);
  check_reach("img2col", "the input", in);
  check_reach("img2col", "the output", out);
  if (channels % window.groups != 0) {
    fail("img2col", ErrorCode::invalid_argument,
         std::to_string(channels) + " channels do not divide into " + std::to_string(window.groups) +
             " groups");
  }
  const std::int64_t group_channels = channels / window.groups;
  const std::int64_t rows = plan::checked_product({in.extent(0), positions}, "img2col: the number of rows"),
                     columns = plan::checked_product({window.taps, group_channels},
                                                     "img2col: the number of columns");
  check_shape("img2col", out, window.groups == 1 ? Dims{rows, columns} : Dims{window.groups, rows, columns});
  check_padding("img2col", in.extent(2), pad);
  return window_params(in, window, pad, encode_pad_value("img2col", pad, out.dtype()), positions, out,
                       operand_strides(out, window, group_channels, positions));
}

namespace {

/// A copy between two views of three axes.
struct WeightViews {
  TensorView in, out;
};

WeightViews weight_views(const TensorView& weights, ColumnOrder order, const TensorView& out) {
  check_enumerator("rearrange_weights", "the order", order, ColumnOrder::channel_outer);
  check_cast("rearrange_weights", weights.dtype(), out.dtype());
  check_rank("rearrange_weights", "the weights", weights, 3);
  check_rank("rearrange_weights", "the output", out, 2);
  const Dims& shape = weights.shape();
  check_shape(
      "rearrange_weights", out,
      {shape[0], plan::checked_product({shape[1], shape[2]}, "rearrange_weights: a row of the output")});
  const bool tap_outer = order == ColumnOrder::tap_outer;
  const TensorView ordered = tap_outer ? weights.permuted({0, 2, 1}) : weights;
  // Bt as [co, taps, channels] or [co, channels, taps]: the last axis split, whatever its stride.
  const std::int64_t step = used_stride(out, 1);
  check_reach("rearrange_weights", "the output", out);
  return {ordered, TensorView(out.data(), out.dtype(), ordered.shape(),
                              {out.stride(0), ordered.extent(2) * step, step})};
}

}  // namespace

void img2col(const Stream& stream, const TensorView& in, const Window& window, const PadSpec& pad,
             const TensorView& out) {
  const WindowParams problem = img2col_problem(in, window, pad, out);
  check_memory("img2col", in, out);
  run_window(stream, problem);
}

WindowPlan plan_img2col(const PlanTarget& target, const TensorView& in, const Window& window,
                        const PadSpec& pad, const TensorView& out) {
  return keep_window("img2col", target, img2col_problem(in, window, pad, out), in, out);
}

void rearrange_weights(const Stream& stream, const TensorView& weights, ColumnOrder order,
                       const TensorView& out) {
  const WeightViews views = weight_views(weights, order, out);
  cast(stream, views.in, views.out);
}

CopyPlan plan_rearrange_weights(const PlanTarget& target, const TensorView& weights, ColumnOrder order,
                                const TensorView& out) {
  const WeightViews views = weight_views(weights, order, out);
  return plan_cast(target, views.in, views.out);
}

}  // namespace relayout
