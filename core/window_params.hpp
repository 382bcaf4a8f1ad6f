// What the window kernels are told, those behind pad and img2col. Plain data: the planner fills it, the
// kernels and the native code read it. Strides count elements of the operand's own type; all sizes are
// 64-bit.
#pragma once

#include <cstdint>

#include "core/divisor.hpp"

#include <relayout/dtype.hpp>
#include <relayout/img2col.hpp>
#include <relayout/pad.hpp>

namespace relayout {

/// What runs a window.
enum class WindowKernel : std::int32_t {
  nothing,  // no outputs
  native,   // the processor's own code
  rows,     // padding alone, time fastest on both sides, nothing converted: rows of any alignment
  vector,   // 16-byte accesses on both sides, through a tile in shared memory
  tile,     // any strides and alignments, 4-byte stores, through a tile in shared memory
  direct,   // any window at all: every output reads the input itself
};

/// The order in which the window kernel's lanes write: the axis of out's smallest stride comes first.
enum class WriteOrder : std::int32_t { channel, tap, position };

/// What `tile` takes to lie side by side in the output: a line. Lanes write its words of 4 bytes.
enum class WindowLines : std::int32_t {
  stream,     // whole rows of all columns, one behind the other without a gap
  rows,       // the tile's columns of one position
  taps,       // the tile's channels of one tap of one position
  positions,  // the positions of one tap and channel
  elements,   // nothing: single elements, also of lines so short that most of their words would be cut
};

/// How `tile` reads its samples.
enum class WindowFill : std::int32_t {
  flat,      // samples and channels as they lie in the memory, gaps of the rows included
  time,      // packs along time, one channel after the other
  channels,  // packs along channels, one sample after the other
  elements,  // single elements
};

/// The plan of `tile`. A block's tile is `units` units, which lie one behind the other along positions, or
/// along channels, which have the same positions then. All units are alike: their output lies equally far
/// from a boundary, and their samples equally far apart in shared memory, so that a thread finds the elements
/// of a word once and uses their places for every unit.
struct WindowTile {
  WindowLines lines = WindowLines::elements;
  WindowFill fill = WindowFill::elements;
  /// Positions before the tile's first whose elements may lie in its lines.
  std::int32_t positions_before = 0;
  std::int32_t unit_positions = 1, units = 1;
  std::int32_t unit_channels = 0;  // of units along channels
  /// Lines begin on multiples of so many elements, a power of two: of a word, or of a sector where that
  /// leaves the units alike. What lies before a line's own elements is not written.
  std::int32_t line_alignment = 1;
  /// Bytes on a multiple of which the output must lie: the lines have room for nothing before their elements.
  std::int32_t out_alignment = 1;
  std::int32_t unit_words = 1;                     // words of all lines of a unit
  std::int32_t parallel_units = 1;                 // units that the threads of a block write at a time
  std::int32_t time_pitch = 1, channel_pitch = 1;  // elements of shared memory
  /// From a unit to the next: elements of shared memory, and of the output.
  std::int32_t unit_samples = 1;
  std::int64_t unit_out = 1;
  /// Samples are read in rows, which run along time where the tile has its channels one behind the other,
  /// else along channels. From row to row and from element to element: bytes of the input, which must fit 31
  /// bits, and elements of the tile.
  std::int32_t row_step = 1, column_step = 1;
  std::int32_t tile_row_step = 1, tile_column_step = 1;
  Divisor by_unit_words, by_line_words;
  Divisor by_unit;     // positions of a unit, or its channels
  Divisor by_inner;    // lines of a position or of a channel
  Divisor by_row;      // elements of a position in a stream
  Divisor by_fastest;  // the extent of the output's fastest axis in the tile
};

/// out[b, g, t, k, c] = padded in[b, g * channels + c, t * stride + k * dilation - pad_left].
/// pad alone is taps = 1, stride = 1; a transposed output is only other strides.
struct WindowParams {
  const void* in = nullptr;
  void* out = nullptr;
  DType in_type = DType::f32, out_type = DType::f16;
  std::int64_t batch = 0, groups = 1, channels = 0;  // channels of one group
  std::int64_t length = 0;                           // input samples
  std::int64_t positions = 0;                        // output positions
  std::int64_t taps = 1, stride = 1, dilation = 1, pad_left = 0;
  PadMode mode = PadMode::constant;
  std::uint64_t pad_bits = 0;       // the pad value in out_type, in the low bytes
  std::int64_t reflect_length = 0;  // the length that PadMode::reflect* mirror at
  std::int64_t in_batch = 0, in_channel = 0, in_time = 0;
  std::int64_t out_batch = 0, out_group = 0, out_position = 0, out_tap = 0, out_channel = 0;
  WriteOrder order = WriteOrder::channel;

  // The rest is the plan's (host/plan/window/window_plan.hpp). Native code ignores it.
  /// The tile of one block: positions and channels, tile_samples samples in shared memory, rows of tile_pitch
  /// elements for `vector`. Not of `rows`.
  std::int32_t tile_positions = 0, tile_channels = 0, tile_samples = 0, tile_pitch = 0;
  std::int64_t shared_bytes = 0;
  /// `vector`: whether its 16-byte loads run along time (in_time is 1) or along channels.
  bool along_time = false;
  /// `vector` and `rows`: whether the output is too large for a reader to find it in the L2.
  bool streaming = false;
  /// `rows`: threads of a block for each of its rows; blocks for each row, of which the first copy
  /// block_packs 16-byte packs each, and the others make packs of long padding.
  std::int32_t row_threads = 0, row_blocks = 0, copy_blocks = 0;
  std::int64_t block_packs = 0;
  /// `direct` alone: positions from number gap_begin on lie `gap` positions further on, and those between are
  /// made by others.
  std::int64_t gap_begin = 0, gap = 0;
  WindowKernel kernel = WindowKernel::direct;
  WindowTile tile;
  /// Whether neighbouring channels were joined to the elements of a wider type.
  bool widened = false;

  /// Samples from a window's first tap to its last.
  constexpr std::int64_t span() const { return (taps - 1) * dilation + 1; }
};

}  // namespace relayout
