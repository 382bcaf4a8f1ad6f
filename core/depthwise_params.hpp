// What the depthwise kernels are told. Plain data: the planner fills it, the kernels and the native code read
// it. Strides count elements of the operand's own type; all sizes are 64-bit.
#pragma once

#include <cstdint>

#include <relayout/dtype.hpp>

#include "core/bytes.hpp"
#include "core/divisor.hpp"
#include "core/sector.hpp"

namespace relayout {

constexpr int kDepthwiseThreads = 256;
/// Up to here the taps are unrolled; beyond, weights lie in shared memory.
constexpr std::int64_t kUnrolledTaps = 8;
/// The most taps of the kernels with vectors: the weights of a block's channels fit into 48 KiB.
constexpr std::int64_t kMaxVectorTaps = 128;

/// With more taps a thread takes tiles: packs along time, or samples of neighbouring channels.
constexpr int kManyTapsPacks = 2, kManyTapsChannels = 2;
/// Samples of such a tile of channels, which a thread accesses `width` at a time: single ones take registers.
constexpr int many_taps_times(int width) { return width == 1 ? 16 : 20; }
/// Numbers behind a row of weights of channel_many, so that a channel's lie in different banks.
constexpr int kManyTapsPad = 2;

/// What runs a depthwise convolution or its update.
enum class DepthwiseKernel : std::int32_t {
  nothing,          // no outputs, no state
  native,           // the processor's own code
  time,             // packs of 16 bytes along time, up to kUnrolledTaps taps
  time_many,        // packs of 16 bytes along time, up to kMaxVectorTaps taps
  time_matrix,      // tiles along time by matrix units, up to kMaxMatrixTaps taps
  channel,          // words or elements along channels, up to kUnrolledTaps taps
  channel_aligned,  // aligned packs of 16 bytes along channels, up to kUnrolledTaps taps
  channel_many,     // two channels a lane, up to kMaxVectorTaps taps
  turn,             // from rows along channels to rows along time, up to kUnrolledTaps taps
  tile,             // through shared memory, up to kMaxVectorTaps taps
  tile_matrix,      // the same by matrix units, up to kMaxMatrixTaps taps
  scalar,           // single elements
  update,           // a few new samples, a channel a thread, and the state moves on
  update_words,     // the same for a word of channels, the state in registers
};

/// The most packs of a thread of `time`, and the packs that its blocks load before a run.
constexpr int kMaxTimePacks = 5, kTimeEdge = 2;
/// Outputs that a thread of `channel` and `tile` computes at a time; their runs are multiples of it.
constexpr int kDepthwiseStep = 8;
/// Few taps of `channel` on rows of whole 128 bytes take shorter runs, all of which are under way from the
/// start: of more blocks, the last ones leave the device idle for a smaller part of the time. An H200 takes
/// 0.96 to 0.98 of the time of 32 samples in 16 bits.
constexpr int kMaxShortRun = 16;
constexpr std::int64_t kShortRunTaps = 4;
/// Threads of a block of `channel` and of the kernels along time: of small ones the last to finish leave less
/// of the device idle.
constexpr int kDepthwiseWalkThreads = 128;
constexpr int threads_of(DepthwiseKernel kernel) {
  return kernel == DepthwiseKernel::channel || kernel == DepthwiseKernel::time ||
                 kernel == DepthwiseKernel::time_many || kernel == DepthwiseKernel::time_matrix
             ? kDepthwiseWalkThreads
             : kDepthwiseThreads;
}
/// time_matrix, tile_matrix: outputs of a tile, and numbers that the matrix units multiply and add up in a
/// step.
constexpr int kMatrixTile = 256, kMatrixDepth = 32, kMaxMatrixSteps = 3;
/// A row of weights has so many zeros: in front of its taps 15 for the outputs of a row of the tile, and for
/// time_matrix 7 for samples that begin anywhere between two boundaries of 16 bytes.
constexpr int kMatrixRowZeros = 15, kMatrixZeros = kMatrixRowZeros + 7;
constexpr std::int64_t kMaxMatrixTaps = kMaxMatrixSteps * kMatrixDepth - kMatrixZeros;
constexpr int matrix_steps(std::int64_t taps, int zeros = kMatrixZeros) {
  return static_cast<int>((taps + zeros + kMatrixDepth - 1) / kMatrixDepth);
}
constexpr int matrix_tile_steps(std::int64_t taps) { return matrix_steps(taps, kMatrixRowZeros); }
/// The samples that neighbouring tiles read: 16 rows of `depth` each, every row 16 behind the one before.
constexpr int matrix_samples(int depth, int outputs = kMatrixTile) { return outputs - 16 + depth; }
/// A channel's weights with their zeros in shared memory, a multiple of 16 bytes. Each channel has two such
/// lines.
constexpr int matrix_line(int depth) { return depth + kMatrixZeros + 2; }
/// The shared memory of a block of time_matrix with `lanes` along time: samples and results of its warps, and
/// weights of its rows.
constexpr std::int64_t matrix_shared_bytes(std::int64_t taps, int lanes, int warp_size) {
  constexpr int kThreads = kDepthwiseWalkThreads, kBytes = 2;
  const int depth = matrix_steps(taps) * kMatrixDepth;
  return kBytes * (kThreads / lanes * 2 * matrix_line(depth) +
                   kThreads / warp_size * (kMatrixTile + matrix_samples(depth)));
}
/// tile_matrix: times of a block. In shared memory a channel has a row of them, with the older samples that
/// their outputs meet. A row's pitch is 8 times an odd number, and those of kMatrixPack channels have some
/// elements more behind them: words of one time of 8 channels, and of every eighth of 32, lie in different
/// banks.
constexpr int kMatrixTimes = 2 * kMatrixTile, kMatrixPack = 8;
constexpr int matrix_pitch(int depth) { return (matrix_samples(depth, kMatrixTimes) + 7) / 16 * 16 + 8; }
constexpr int matrix_row(int channel, int depth) {
  return channel * matrix_pitch(depth) + channel / kMatrixPack * 16;
}
/// Elements of the rows of so many channels, and the shared memory of a block of tile_matrix: rows, weights
/// and biases.
constexpr int matrix_rows(int channels, int depth) {
  return matrix_row((channels + kMatrixPack - 1) / kMatrixPack * kMatrixPack, depth);
}
constexpr std::int64_t matrix_tile_bytes(std::int64_t taps, int channels) {
  constexpr int kBytes = 2, kBiasBytes = 4;
  const int depth = matrix_tile_steps(taps) * kMatrixDepth;
  return kBytes * (matrix_rows(channels, depth) + channels * 2 * matrix_line(depth)) + kBiasBytes * channels;
}

/// The most columns of the state of update_words.
constexpr std::int64_t kMaxStateColumns = 8;

/// Which rows of a tile's side are moved as vectors: rows along time, along channels, or none, where elements
/// are moved one by one.
enum class DepthwiseRows : std::int32_t { time, channel, none };

/// One side of the tile of DepthwiseKernel::tile (kernels/depthwise/depthwise_tile.hpp) or tile_matrix.
/// Pitches count elements of shared memory.
struct DepthwiseTileSide {
  DepthwiseRows rows = DepthwiseRows::none;
  /// rows along channels: both memories hold them without a gap that is not in the other, so that they are
  /// one row.
  bool is_one_row = false;
  bool lanes_along_time = true;  // of single elements
  /// Single elements are moved by so many of a block's threads along a row; 1 << lanes_shift.
  std::int32_t lanes = 8, lanes_shift = 3;
  /// The words of 16 bytes of the longest row; tile_matrix: threads along the axis that is fast in memory.
  Divisor by_words;
  /// tile_matrix: neighbouring channels of an access.
  std::int32_t width = 1;
  std::int32_t channel_pitch = 0, time_pitch = 0;
  std::int32_t elements = 0;  // of shared memory, a multiple of 16 bytes
};

/// out[b, c, t] = act(bias[c] + sum_k weights[c, k] * in[b, c, t - (taps-1-k)]).
struct DepthwiseParams {
  const void* in = nullptr;
  const void* weights = nullptr;
  const void* bias = nullptr;           // null: none
  const void* initial_state = nullptr;  // null: zeros; column s is the sample of time s - (taps-1)
  const std::int32_t* ids = nullptr;    // null: one sequence
  void* out = nullptr;
  /// null: none. depthwise: receives the last taps-1 samples. depthwise_update: the whole state, of
  /// state_length columns, whose last taps-1 are initial_state.
  void* state = nullptr;
  DType type = DType::f16;  // in, out and the states
  DType weight_type = DType::f32, bias_type = DType::f32;
  std::int64_t batch = 0, channels = 0, length = 0, taps = 1, state_length = 0;
  std::int64_t in_batch = 0, in_channel = 0, in_time = 0;
  std::int64_t out_batch = 0, out_channel = 0, out_time = 0;
  std::int64_t weight_channel = 0, weight_tap = 0, bias_channel = 0;
  std::int64_t initial_batch = 0, initial_channel = 0, initial_time = 0;
  std::int64_t state_batch = 0, state_channel = 0, state_time = 0;
  std::int64_t id_batch = 0, id_time = 0;
  bool silu = false;
  bool update = false;  // depthwise_update

  // The rest is the plan's (host/plan/depthwise/depthwise_plan.hpp). Native code ignores it.
  DepthwiseKernel kernel = DepthwiseKernel::scalar;
  /// `lanes` (a power of two) of a block's threads_of() lie along the fast axis, the others along the other
  /// one.
  std::int32_t lanes = 1;
  /// time: packs a thread takes, `lanes` apart; time_many: tiles of kManyTapsPacks; time_matrix: tiles of a
  /// warp. channels, tile, turn: neighbouring samples a thread walks, a multiple of kDepthwiseStep;
  /// channel_many: tiles of many_taps_times. scalar: outputs along time a thread takes.
  std::int32_t run = 1;
  std::int32_t width = 1;  // channel: channels of a thread; channel_many: of an access
  /// time_many: tiles that lie inside a row have code of their own, which asks for no ends.
  bool inside_apart = false;
  std::int32_t warp_size = 32;  // time_matrix, tile_matrix: the device's
  /// scalar: lanes lie along time, because out is faster along it than along channels. tile, tile_matrix: so
  /// do blocks.
  bool lanes_along_time = true;
  std::int64_t shared_bytes = 0;
  /// tile, tile_matrix, turn. tile_times is a multiple of `run`, or kMatrixTimes.
  std::int32_t tile_channels = 1, tile_times = 1;
  DepthwiseTileSide in_side, out_side;  // tile, tile_matrix; out_side of turn
};

/// Whether rows along time begin as far behind a boundary of 16 bytes in the input as in the output.
inline bool has_alike_rows(const DepthwiseParams& p) {
  const std::int64_t bytes = bytes_of(p.type);
  const auto distance = static_cast<std::int64_t>(reinterpret_cast<std::uintptr_t>(p.in)) -
                        static_cast<std::int64_t>(reinterpret_cast<std::uintptr_t>(p.out));
  return (distance | (p.in_batch - p.out_batch) * bytes | (p.in_channel - p.out_channel) * bytes) % 16 == 0;
}

/// Whether every row of the output along time begins on a boundary of so many bytes.
inline bool has_output_rows_on(const DepthwiseParams& p, std::int64_t boundary) {
  const std::int64_t bytes = bytes_of(p.type);
  return (static_cast<std::int64_t>(reinterpret_cast<std::uintptr_t>(p.out)) | p.out_batch * bytes |
          p.out_channel * bytes) %
             boundary ==
         0;
}
inline bool has_aligned_output_rows(const DepthwiseParams& p) { return has_output_rows_on(p, 16); }

/// channel: whether a row has threads before its first group of channels, so that warps begin where sectors
/// of the output do. A sector that two warps share is written in two parts, which takes a fifth more time.
/// Short rows would have too many idle lanes.
inline bool has_lead(const DepthwiseParams& p) {
  constexpr std::int64_t kLeastRow = 512;
  const std::int64_t bytes = bytes_of(p.type);
  return p.channels * bytes >= kLeastRow && (p.out_time | p.out_batch) * bytes % kSectorBytes == 0 &&
         reinterpret_cast<std::uintptr_t>(p.out) % kSectorBytes != 0;
}

/// Samples by which the first pack of a row may begin before it: kernels along time cut rows where
/// sectors of the output begin, unless `time` finds them on boundaries of 16 bytes on both sides.
inline int time_slack(const DepthwiseParams& p) {
  const bool as_they_are =
      p.kernel == DepthwiseKernel::time && has_aligned_output_rows(p) && has_alike_rows(p);
  return as_they_are || has_output_rows_on(p, kSectorBytes)
             ? 0
             : static_cast<int>(kSectorBytes) / static_cast<int>(size_of(p.type)) - 1;
}

}  // namespace relayout
