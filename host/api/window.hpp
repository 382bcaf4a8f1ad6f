// The one way of pad and img2col: views -> checks -> the window's problem -> plan -> launch. A window is a
// padded one over [batch, channels, length].
#pragma once

#include "core/window_params.hpp"
#include "host/plan/window/window_parts.hpp"
#include "relayout/img2col.hpp"
#include "relayout/pad.hpp"
#include "relayout/stream.hpp"
#include "relayout/window_plan.hpp"

namespace relayout {

/// Element strides of the output over (batch, group, position, tap, channel within the group).
struct WindowStrides {
  std::int64_t batch = 0, group = 0, position = 0, tap = 0, channel = 0;
};

/// The stride of an axis as kernels get it: 0 for one that is never used and too large to compute with.
std::int64_t window_stride(const TensorView& view, int axis);

/// length + left + right; Error{invalid_argument} for a negative length, {invalid_shape} for a sum below 1
/// and for a length or a pad beyond 2^60.
std::int64_t padded_length(const char* operation, std::int64_t length, const PadSpec& pad);
/// The function of relayout/img2col.hpp, whose errors here name the operation.
std::int64_t output_length(const char* operation, std::int64_t length, const Window& window,
                           const PadSpec& pad);

/// Error{pad_too_large} or {invalid_shape} when the mode cannot pad a signal of this length under the policy.
void check_padding(const char* operation, std::int64_t length, const PadSpec& pad);

/// The constant of constant padding in the low bytes, rounded once to `type`; 0 for the other modes, which
/// have none. Error{literal_range} for an integer type that cannot hold it, Error{dtype} for a type without a
/// conversion.
std::uint64_t encode_pad_value(const char* operation, const PadSpec& pad, DType type);

/// The problem alone: everything has been checked, nothing is planned. pad_bits: encode_pad_value for the
/// output's type.
WindowParams window_params(const TensorView& in, const Window& window, const PadSpec& pad,
                           std::uint64_t pad_bits, std::int64_t positions, const TensorView& out,
                           const WindowStrides& strides);

/// The problems of pad and img2col. Checks everything but memory.
WindowParams pad_problem(const TensorView& in, const PadSpec& spec, const TensorView& out);
WindowParams img2col_problem(const TensorView& in, const Window& window, const PadSpec& pad,
                             const TensorView& out);

/// Queues the planned window on this memory.
void launch_window(const Stream& stream, const plan::PlannedWindow& window, const void* in, void* out);

/// Plans and queues a window whose problem was checked.
void run_window(const Stream& stream, const WindowParams& problem);

/// Keeps the plan of a window that was checked but for its memory: null pointers are an error of its run().
WindowPlan keep_window(const char* operation, const PlanTarget& target, const WindowParams& problem,
                       const TensorView& in, const TensorView& out);

}  // namespace relayout
