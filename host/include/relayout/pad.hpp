// Padding along time.
#pragma once

#include <cstdint>

#include <relayout/export.hpp>
#include <relayout/stream.hpp>
#include <relayout/tensor_view.hpp>
#include <relayout/window_plan.hpp>

namespace relayout {

/// What an index outside [0, length) reads. The comments show it for a signal a b c d.
enum class PadMode {
  constant,   ///< v v | a b c d | v v
  replicate,  ///< a a | a b c d | d d
  reflect,    ///< c b | a b c d | c b    the edge is not repeated
  symmetric,  ///< b a | a b c d | d c    the edge is repeated
  circular,   ///< c d | a b c d | a b
  /// EnCodec's rule for short signals: the signal is first extended on the right with zeros to one more than
  /// the larger pad, reflected, and the extension cut off again. Equals reflect when the signal is long
  /// enough.
  reflect_zero_extended,
};

/// How large a pad may be.
enum class PadPolicy {
  strict,    ///< as PyTorch: reflect needs pads < length, circular pads <= length; else Error{pad_too_large}
  extended,  ///< as numpy: the pattern goes on for pads of any size
};

/// The padding of a signal. Pads may be negative: that many samples are cut off. Neither a pad nor the signal
/// goes beyond 2^60 samples.
struct PadSpec {
  std::int64_t left = 0;                 ///< samples in front of the signal
  std::int64_t right = 0;                ///< samples behind it
  PadMode mode = PadMode::constant;      ///< what they are
  double value = 0.0;                    ///< for PadMode::constant; rounded once to the output's element type
  PadPolicy policy = PadPolicy::strict;  ///< how large they may be
};

/// The name of the enumerator, as in "reflect".
RELAYOUT_API const char* name_of(PadMode mode) noexcept;

/// out[b, c, i] = in[b, c, map(i - left)] for i in [0, length + left + right).
/// in [batch, channels, length], any strides; out [batch, channels, length + left + right], any
/// strides under which no two elements share an address. Equal element types, or a cast among f16, bf16, f32
/// and f64 on the way. Errors: rank, shape, dtype, invalid_shape (nothing left, or too far), pad_too_large,
/// literal_range, the overlap errors.
RELAYOUT_API void pad(const Stream& stream, const TensorView& in, const PadSpec& spec, const TensorView& out);

/// The same, to be run later and again. Null pointers count as aligned; they are an error of run().
RELAYOUT_API WindowPlan plan_pad(const PlanTarget& target, const TensorView& in, const PadSpec& spec,
                                 const TensorView& out);

}  // namespace relayout
