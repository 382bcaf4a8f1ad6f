// Which input sample a padded index reads. constexpr, hence the same function on the host and in device code.
#pragma once

#include <cstdint>

#include <relayout/pad.hpp>

namespace relayout {

/// The sample in [0, length) that index i of the padded signal reads (i = 0 is the signal's first sample), or
/// -1 for the constant. reflect_length is the length that the reflect modes mirror at: `length` itself for
/// reflect, the zero-extended length for reflect_zero_extended, whose extension reads as -1; the other modes
/// ignore it.
constexpr std::int64_t pad_index(PadMode mode, std::int64_t i, std::int64_t length,
                                 std::int64_t reflect_length) {
  if (i >= 0 && i < length) return i;
  if (mode == PadMode::constant || length <= 0) return -1;
  if (mode == PadMode::replicate) return i < 0 ? 0 : length - 1;
  const bool reflects = mode == PadMode::reflect || mode == PadMode::reflect_zero_extended;
  const std::int64_t period =
      mode == PadMode::circular ? length : (reflects ? 2 * (reflect_length - 1) : 2 * length);
  if (period <= 0) return 0;  // reflect of a single sample
  // One period to either side needs no division, which costs a GPU about a hundred instructions.
  std::int64_t phase = i < 0 ? i + period : i >= period ? i - period : i;
  if (phase < 0 || phase >= period) {
    phase = i % period;
    if (phase < 0) phase += period;
  }
  if (mode == PadMode::circular) return phase;
  if (mode == PadMode::symmetric) return phase < length ? phase : period - 1 - phase;
  const std::int64_t mirrored = phase < reflect_length ? phase : period - phase;
  return mirrored < length ? mirrored : -1;
}

}  // namespace relayout
