// What the window kernels are told, those behind pad and img2col. Plain data: the planner fills it, the
// kernels and the native code read it. Strides count elements of the operand's own type; all sizes are
// 64-bit.
#pragma once

#include <cstdint>

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
  general,  // everything else
};

/// The order in which the window kernel's lanes write: the axis of out's smallest stride comes first.
enum class WriteOrder : std::int32_t { channel, tap, position };

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
  /// The tile of one block (host/plan/window/window_tile.hpp): tile_samples rows of tile_pitch elements in
  /// shared memory; 0 samples: no tile, every output reads the input itself. Not of `rows`.
  std::int32_t tile_positions = 0, tile_channels = 0, tile_samples = 0, tile_pitch = 0;
  std::int64_t shared_bytes = 0;
  /// `vector`: whether its 16-byte loads run along time (in_time is 1) or along channels.
  bool along_time = false;
  /// `vector` and `rows`: whether the output is too large for a reader to find it in the L2.
  bool streaming = false;
  /// `rows`: threads of a block for each of its rows; blocks for each row, of block_packs 16-byte packs each.
  std::int32_t row_threads = 0, row_blocks = 0;
  std::int64_t block_packs = 0;
  WindowKernel kernel = WindowKernel::general;

  /// Samples from a window's first tap to its last.
  constexpr std::int64_t span() const { return (taps - 1) * dilation + 1; }
};

}  // namespace relayout
