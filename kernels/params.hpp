// What a kernel is told: plain data, filled by host/api, read by the kernels and by their native twins in
// host/native. All strides count elements of the operand's own type; all sizes are 64-bit.
#pragma once

#include <cstdint>

#include "kernels/operands.hpp"

#include <relayout/dtype.hpp>
#include <relayout/img2col.hpp>
#include <relayout/pad.hpp>
#include <relayout/tensor_view.hpp>

namespace relayout {

/// Where a launch goes. `stream` is the back end's native stream.
struct LaunchContext {
  int device = 0;
  void* stream = nullptr;
};

/// The gather kernel's blocks.
constexpr int kGatherThreads = 256, kGatherElementsPerThread = 4;

/// The stream kernel's blocks; bytes of the larger type.
constexpr int kStreamThreads = 256, kStreamBytesPerThread = 64;

/// out[i] = cast(in[i]) for i < elements, both from a 16-byte boundary on.
struct StreamParams : CopyOperands {
  std::int64_t elements = 0;
  bool streaming = false;  // the output is too large for the caches to be of use to a reader: past them
};

/// out[i] = cast(in[i]) over a normalised loop nest (host/plan): axis rank-1 is the fastest of the output.
/// Where the two views have no nest in common, the input has axes of its own, and element number i of one
/// goes to element number i of the other, both in C order.
struct CopyParams : CopyOperands {
  int rank = 0;
  std::int64_t elements = 0;
  std::int64_t extents[kMaxRank] = {};
  std::int64_t in_strides[kMaxRank] = {};
  std::int64_t out_strides[kMaxRank] = {};
  /// Axes of the input's own, with in_strides; 0: it has the extents of the nest.
  int in_rank = 0;
  std::int64_t in_extents[kMaxRank] = {};
  /// The axis along which the input is fastest. Native code walks along it and rank-1.
  int in_axis = 0;
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
  /// The tile of one block (host/plan/window_tile.hpp): tile_samples rows of tile_pitch elements in shared
  /// memory; 0 samples: no tile, every output reads the input itself. Native code ignores it.
  std::int32_t tile_positions = 0, tile_channels = 0, tile_samples = 0, tile_pitch = 0;
  std::int64_t shared_bytes = 0;
  /// window_vector: whether its 16-byte loads run along time (in_time is 1) or along channels.
  bool along_time = false;
  /// window_vector: whether the output is too large for a reader to find it in the L2.
  bool streaming = false;
};

/// y[g, m, n] = round(bias[g, n] + sum_k a[g, m, k] * bt[g, n, k]); a, bt of in_type (f16, bf16), fp32 sums.
struct GemmParams {
  const void* a = nullptr;
  const void* bt = nullptr;
  const float* bias = nullptr;  // null: none
  void* y = nullptr;
  float* workspace = nullptr;  // null, or room for y in f32
  DType in_type = DType::f16, out_type = DType::f16;
  std::int64_t groups = 1, m = 0, n = 0, k = 0;
  std::int64_t lda = 0, ldb = 0, ldc = 0;                              // row pitches
  std::int64_t a_group = 0, b_group = 0, y_group = 0, bias_group = 0;  // strides between groups
};

}  // namespace relayout
