// The tile of the window kernel that moves 16 bytes at a time, and when it may run.
#pragma once

#include <cstdint>

#include "host/plan/window/window_tile.hpp"

namespace relayout::plan {

/// Byte strides and extents of a window's two sides; what alignment depends on.
struct WindowAccess {
  std::uintptr_t in = 0, out = 0;            // addresses
  std::int64_t in_bytes = 4, out_bytes = 2;  // of an element
  std::int64_t batch = 1, groups = 1, channels = 1, length = 1, positions = 1, taps = 1;
  std::int64_t in_batch = 0, in_channel = 0, in_time = 0;  // strides in elements
  std::int64_t out_batch = 0, out_group = 0, out_position = 0, out_tap = 0, out_channel = 0;
};

/// Which of the input's axes 16-byte loads run along; `none`: something is not aligned.
enum class VectorAxis { none, time, channel };

/// Needs: out elements of 2 or 4 bytes whose rows are contiguous along channels (tap outer) or channels and
/// taps (channel outer), whole packs of 16 bytes, every row on a 16-byte boundary; an input with unit stride
/// along time or channels, every row on a 16-byte boundary, of elements no smaller than the output's where
/// channels are the fast axis.
VectorAxis vector_axis(const WindowAccess& access);

/// As WindowTile, but `positions` is any number and `pitch` equals `channels`; positions = 0: no tile fits.
/// `pad_left` decides how far a tile's first sample lies behind a 16-byte boundary of the input.
WindowTile choose_vector_tile(const WindowShape& shape, const WindowAccess& access, VectorAxis axis,
                              std::int64_t pad_left, const DeviceProperties& device);

}  // namespace relayout::plan
