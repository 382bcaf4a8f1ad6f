// The one call behind pad and img2col: a padded window over [batch, channels, length].
#pragma once

#include "core/window_params.hpp"
#include "relayout/img2col.hpp"
#include "relayout/stream.hpp"

namespace relayout {

/// Element strides of the output over (batch, group, position, tap, channel within the group).
struct WindowStrides {
  std::int64_t batch = 0, group = 0, position = 0, tap = 0, channel = 0;
};

/// length + left + right; Error{invalid_shape} below 0 or beyond 63 bits.
std::int64_t padded_length(const char* operation, std::int64_t length, const PadSpec& pad);

/// Error{pad_too_large} or {invalid_shape} when the mode cannot pad a signal of this length under the policy.
void check_padding(const char* operation, std::int64_t length, const PadSpec& pad);

/// The constant of constant padding in the low bytes, rounded once to `type`; 0 for the other modes, which
/// have none. Error{literal_range} for an integer type that cannot hold it, Error{dtype} for a type without a
/// conversion.
std::uint64_t encode_pad_value(const char* operation, const PadSpec& pad, DType type);

/// All but the plan's fields. Everything has been checked; positions > 0. pad_bits: encode_pad_value for the
/// output's type.
WindowParams window_params(const TensorView& in, const Window& window, const PadSpec& pad,
                           std::uint64_t pad_bits, std::int64_t positions, const TensorView& out,
                           const WindowStrides& strides);

/// Queues that window.
void run_window(const Stream& stream, const TensorView& in, const Window& window, const PadSpec& pad,
                std::uint64_t pad_bits, std::int64_t positions, const TensorView& out,
                const WindowStrides& strides);

/// Plans and queues a window; the plan's fields of `params` are overwritten.
void launch_window(const Stream& stream, WindowParams params);

}  // namespace relayout
