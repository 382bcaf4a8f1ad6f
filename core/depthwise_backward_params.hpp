// What the kernels of the depthwise convolution's backward pass are told. Plain data: the planner fills it,
// the kernels and the native code read it. Strides count elements of the operand's own type.
#pragma once

#include <cstdint>

#include "core/depthwise_params.hpp"
#include "core/integer_math.hpp"

namespace relayout {

/// What runs a backward pass.
enum class DepthwiseBackwardKernel : std::int32_t {
  nothing,   // there is nothing to write
  native,    // the processor's own code
  channels,  // words along channels in all signals, up to kBackwardWalkTaps taps, no sequence ids
  time,      // 16 bytes along time in all signals, likewise
  tile,      // through shared memory, up to kUnrolledTaps taps (with sequence ids kSequenceTaps)
  general,   // any taps: the gradients of the sums go through the workspace
};

/// The most taps for which `tile` knows sequence ids.
constexpr std::int64_t kSequenceTaps = 4;
/// The most taps of `channels` and `time`.
constexpr std::int64_t kBackwardWalkTaps = 4;
/// The threads of their blocks: small, since their registers leave room for 640 or 768 threads.
constexpr int kBackwardWalkThreads = 128;
/// channels: the samples of a step, of which its runs are multiples.
constexpr int kBackwardStep = 8;
/// time: so many lanes, a half of larger warps, take vectors of one row that lie side by side.
constexpr int kBackwardGroup = 32;
/// time: the boundary in bytes, a sector of the memory's, where a row's first vector begins.
constexpr std::int64_t kBackwardBoundary = 32;
/// time: so many samples behind its steps a group takes one by one, a lane each; the lanes that are left have
/// the zeros behind them.
constexpr int kBackwardTail = kBackwardGroup - static_cast<int>(kBackwardWalkTaps - 1);
/// `tile`: at most so many channels. Its threads, kDepthwiseThreads, take a run of a channel each.
constexpr std::int64_t kBackwardChannels = 32;

/// g[b, c, t] = d_out[b, c, t] * act'(s[b, c, t]), where s is the sum (with the bias) that the forward pass
/// gave to its activation; 0 where the sequence id is negative. The samples x[b, c, t] begin at
/// t = -(taps-1), and those before 0 are the initial state. The gradients are
///
///     d_x[b, c, t] = sum over d of weights[c, taps-1-d] * g[b, c, t + d]
///     d_weights[c, taps-1-d] = sum over b, t of g[b, c, t] * x[b, c, t - d]
///     d_bias[c] = sum over b, t of g[b, c, t]
///
/// and d_final is added to d_x of the last taps-1 samples.
struct DepthwiseBackwardParams {
  DepthwiseParams forward;  // without out and state
  const void* d_out = nullptr;
  const void* d_final = nullptr;  // null: zeros
  void* d_in = nullptr;
  void *d_initial = nullptr, *d_weights = nullptr, *d_bias = nullptr;  // null: not wanted
  DType d_weights_type = DType::f32, d_bias_type = DType::f32;         // the others have forward.type
  bool has_ids = false, wants_initial = false, wants_sums = false;     // pointers may come later
  std::int64_t d_out_batch = 0, d_out_channel = 0, d_out_time = 0;
  std::int64_t d_final_batch = 0, d_final_channel = 0, d_final_time = 0;
  std::int64_t d_in_batch = 0, d_in_channel = 0, d_in_time = 0;
  std::int64_t d_initial_batch = 0, d_initial_channel = 0, d_initial_time = 0;
  std::int64_t d_weight_channel = 0, d_weight_tap = 0, d_bias_channel = 0;

  /// The workspace: f32 [batch, time_blocks(), taps + 1, channels], the sums of each block. Row d is
  /// that of the weights of distance d, row taps that of the bias. Null where neither is wanted, and where
  /// stores_gradients().
  float* sums = nullptr;
  /// general: behind them f32 g, with these strides.
  float* g = nullptr;
  std::int64_t g_batch = 0, g_channel = 0, g_time = 0;

  // The plan's. The blocks of time, and with them the order of every sum, depend on nothing but the shapes,
  // the strides, the types and whether native code runs.
  DepthwiseBackwardKernel kernel = DepthwiseBackwardKernel::nothing;
  std::int64_t tile_times = 1;
  std::int32_t tile_channels = 1;  // tile: channels of a block
  std::int32_t run = 1;            // tile, channels: samples of a thread; time: steps of a group of lanes
  std::int32_t slack = 0;          // time: samples by which a row's first vector may begin before it
  std::int32_t tail = 0;           // time: samples behind its steps that a row's last block may have
  std::int32_t items_shift = 0;    // time: of items()
  std::int32_t warp_size = 32;     // the device's; the order of sums does not depend on it
  std::int64_t shared_bytes = 0;
  DepthwiseTileSide in_side, d_out_side, d_in_side;  // tile

  /// time: items of the batch whose rows one block has, for each of its channels.
  constexpr std::int32_t items() const { return 1 << items_shift; }
  std::int64_t time_blocks() const { return divide_up(forward.length + slack - tail, tile_times); }
  /// Blocks that add products of the same weights.
  std::int64_t sum_blocks() const { return forward.batch * time_blocks(); }
  /// Whether one block has all samples of a channel, and stores the gradients of its weights itself.
  bool stores_gradients() const {
    return kernel == DepthwiseBackwardKernel::time && time_blocks() == 1 && items() == forward.batch;
  }
};

}  // namespace relayout
