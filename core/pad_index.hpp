// Which input sample a padded index reads. constexpr, hence the same function on the host and in device code.
#pragma once

#include <cstdint>

#include <relayout/pad.hpp>

namespace relayout {

/// What repeats in a signal padded by reflection, by symmetry or in a circle: so many samples; 0 for the
/// reflection of a single one. Unsigned, because twice a length may not fit in 63 bits.
constexpr std::uint64_t pad_period(PadMode mode, std::uint64_t samples, std::uint64_t mirror) {
  const bool reflects = mode == PadMode::reflect || mode == PadMode::reflect_zero_extended;
  return mode == PadMode::circular ? samples : (reflects ? 2 * (mirror - 1) : 2 * samples);
}

/// How far index i lies after sample 0, or before sample -1.
constexpr std::uint64_t pad_distance(std::int64_t i) {
  return i < 0 ? ~static_cast<std::uint64_t>(i) : static_cast<std::uint64_t>(i);
}

/// The same less whole periods. Up to two of them need no division, which costs a GPU about a hundred
/// instructions.
constexpr std::uint64_t pad_distance(std::int64_t i, std::uint64_t period) {
  std::uint64_t distance = pad_distance(i);
  if (distance >= period) distance -= period;
  return distance >= period ? distance % period : distance;
}

/// The place in the period of an index whose distance, less whole periods, is this.
constexpr std::uint64_t pad_phase(std::int64_t i, std::uint64_t period, std::uint64_t distance) {
  return i < 0 ? period - 1 - distance : distance;
}

/// The sample in [0, length) that index i of the padded signal reads (i = 0 is the signal's first sample), or
/// -1 for the constant. reflect_length is the length that the reflect modes mirror at: `length` itself for
/// reflect, the zero-extended length for reflect_zero_extended, whose extension reads as -1; the other modes
/// ignore it.
constexpr std::int64_t pad_index(PadMode mode, std::int64_t i, std::int64_t length,
                                 std::int64_t reflect_length) {
  if (i >= 0 && i < length) return i;
  if (mode == PadMode::constant || length <= 0) return -1;
  if (mode == PadMode::replicate) return i < 0 ? 0 : length - 1;
  const std::uint64_t samples = static_cast<std::uint64_t>(length);
  const std::uint64_t mirror = static_cast<std::uint64_t>(reflect_length);
  const std::uint64_t period = pad_period(mode, samples, mirror);
  if (period == 0) return 0;
  const std::uint64_t phase = pad_phase(i, period, pad_distance(i, period));
  if (mode == PadMode::circular) return static_cast<std::int64_t>(phase);
  if (mode == PadMode::symmetric)
    return static_cast<std::int64_t>(phase < samples ? phase : period - 1 - phase);
  const std::uint64_t mirrored = phase < mirror ? phase : period - phase;
  return mirrored < samples ? static_cast<std::int64_t>(mirrored) : -1;
}

/// Neighbouring indices whose samples lie `step` apart: index i + n reads source + n * step for n < count.
/// source is -1 for the constant.
struct PadRun {
  std::int64_t source, count;
  int step;
};

/// The run that begins at index i, at most `most` long: a kernel finds the sources of a whole tile by a few
/// of these, whatever the mode. The signal itself is one run.
constexpr PadRun pad_run(PadMode mode, std::int64_t i, std::int64_t length, std::int64_t reflect_length,
                         std::int64_t most) {
  const auto run = [&](std::uint64_t source, std::uint64_t count, int step) {
    const auto limit = static_cast<std::uint64_t>(most);
    return PadRun{static_cast<std::int64_t>(source), static_cast<std::int64_t>(count < limit ? count : limit),
                  step};
  };
  const auto constant = [&](std::uint64_t count) { return PadRun{-1, run(0, count, 0).count, 0}; };
  const std::uint64_t index = static_cast<std::uint64_t>(i), samples = static_cast<std::uint64_t>(length);
  if (i >= 0 && i < length) return run(index, samples - index, 1);
  const std::uint64_t outside = i < 0 ? 0 - index : static_cast<std::uint64_t>(most);
  if (mode == PadMode::constant || length <= 0) return constant(outside);
  if (mode == PadMode::replicate) return run(i < 0 ? 0 : samples - 1, outside, 0);
  const std::uint64_t mirror = static_cast<std::uint64_t>(reflect_length);
  const std::uint64_t period = pad_period(mode, samples, mirror);
  if (period == 0) return run(0, outside, 0);
  const std::uint64_t phase = pad_phase(i, period, pad_distance(i, period));
  // A repetition of the signal, whose last sample begins the way back.
  if (phase < samples) return run(phase, samples - phase, 1);
  if (mode == PadMode::symmetric) return run(period - 1 - phase, period - phase, -1);
  const std::uint64_t mirrored = period - phase;
  if (mirrored < samples) return run(mirrored, mirrored, -1);
  return constant(mirrored - samples + 1);  // the zeros behind the signal, there and back
}

}  // namespace relayout
