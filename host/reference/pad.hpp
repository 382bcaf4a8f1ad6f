// The oracle of pad, and the padded signal that other oracles read.
#pragma once

#include <algorithm>

#include <relayout/pad.hpp>

#include "host/reference/scalar.hpp"

namespace relayout::reference {

/// Which sample index i reads (0 is the signal's first), found by folding i at the ends until it is inside;
/// -1 stands for the constant.
inline std::int64_t source_sample(const PadSpec& spec, std::int64_t i, std::int64_t length) {
  if (spec.mode == PadMode::constant) return i >= 0 && i < length ? i : -1;
  if (spec.mode == PadMode::replicate) return i < 0 ? 0 : (i >= length ? length - 1 : i);
  if (spec.mode == PadMode::circular) {
    while (i < 0) i += length;
    while (i >= length) i -= length;
    return i;
  }
  if (spec.mode == PadMode::symmetric) {
    while (i < 0 || i >= length) i = i < 0 ? -1 - i : 2 * length - 1 - i;
    return i;
  }
  std::int64_t mirrored_length = length;
  if (spec.mode == PadMode::reflect_zero_extended) {
    mirrored_length = std::max(length, std::max(spec.left, spec.right) + 1);
  }
  if (mirrored_length == 1) i = 0;
  while (i < 0 || i >= mirrored_length) i = i < 0 ? -i : 2 * (mirrored_length - 1) - i;
  return i < length ? i : -1;  // the zero extension
}

/// Bits, in `type`, of sample i of the padded in[batch, channel].
inline std::uint64_t padded_sample(const TensorView& in, std::int64_t batch, std::int64_t channel,
                                   const PadSpec& spec, std::int64_t i, DType type) {
  const std::int64_t sample = source_sample(spec, i, in.extent(2));
  if (sample >= 0) return convert_bits(load_bits(in, {batch, channel, sample}), in.dtype(), type);
  const double value = spec.mode == PadMode::constant ? spec.value : 0.0;
  if (is_floating(type)) return encode(type, value);
  if (type == DType::bool_) return value != 0.0 ? 1 : 0;
  // Integers: the value is one of the type's, and two's complement with fewer bits is the low end of one with
  // more.
  return value < 0 ? static_cast<std::uint64_t>(static_cast<std::int64_t>(value))
                   : static_cast<std::uint64_t>(value);
}

/// in [batch, channels, length] -> out [batch, channels, length + left + right].
inline void pad(const TensorView& in, const PadSpec& spec, const TensorView& out) {
  for_each_index(out.shape(), [&](const Dims& index) {
    store_bits(out, index, padded_sample(in, index[0], index[1], spec, index[2] - spec.left, out.dtype()));
  });
}

}  // namespace relayout::reference
