#include "host/plan/depthwise/depthwise_tile_plan.hpp"

#include <algorithm>
#include <cstdlib>

#include "core/bytes.hpp"
#include "core/integer_math.hpp"
#include "core/sector.hpp"
#include "host/plan/depthwise/depthwise_cost.hpp"
#include "host/plan/depthwise/depthwise_shape.hpp"

namespace relayout::plan {
namespace {

/// Four blocks of so much lie in the shared memory of an H100's multiprocessor, one in that of any device.
constexpr std::int64_t kSharedBytes = 48 * 1024;
/// A gap of a few elements between times is moved along with them.
constexpr std::int64_t kMaxGap = 4;
constexpr std::int64_t kMaxChannels = 128;
/// Samples that a thread of `turn` walks, and the pitch of samples that it multiplies in 32 bits.
constexpr std::int64_t kMaxTurnRun = 64, kMaxTurnPitch = std::int64_t{1} << 24;

/// Lanes: the smallest power of two that covers `count`, up to `most`.
void set_lanes(std::int64_t count, int most, DepthwiseTileSide& side) {
  side.lanes = 1;
  side.lanes_shift = 0;
  while (side.lanes < most && side.lanes < count) {
    side.lanes *= 2;
    ++side.lanes_shift;
  }
}

/// A row of `length` elements may begin behind a boundary.
void set_words(std::int64_t length, std::int64_t count, DepthwiseTileSide& side) {
  side.by_words = make_divisor(static_cast<std::uint32_t>((length + 2 * count - 2) / count));
}

}  // namespace

DepthwiseTileSide depthwise_tile_side(const DepthwiseSideStrides& strides, std::int64_t channels,
                                      std::int64_t times, std::int64_t all_channels, std::int64_t length,
                                      bool may_have_gaps, std::int64_t bytes) {
  DepthwiseTileSide side;
  const std::int64_t count = kVectorBytes / bytes;
  // Behind a row there is room for a shift on both sides, and its pitch is odd in words of 4 bytes.
  const std::int64_t row_words = divide_up(times + 2 * count - 2, count) * 4 + 1;
  side.channel_pitch = static_cast<std::int32_t>(row_words * 4 / bytes);
  side.time_pitch = 1;
  side.elements = static_cast<std::int32_t>(round_up(channels * side.channel_pitch, count));
  if (strides.time == 1 && !(length == 1 && strides.channel == 1)) {
    side.rows = DepthwiseRows::time;
    set_words(times, count, side);
    return side;
  }
  const std::int64_t gap = may_have_gaps ? kMaxGap : 1;
  const bool one_row = channels == all_channels && strides.time >= channels && strides.time <= gap * channels;
  if ((strides.channel == 1 || all_channels == 1) && (one_row || channels * bytes >= kVectorBytes)) {
    side.rows = DepthwiseRows::channel;
    side.is_one_row = one_row;
    side.channel_pitch = 1;
    const std::int64_t above = one_row ? strides.time : channels + 2 * count - 2;
    side.time_pitch = static_cast<std::int32_t>(above + ((strides.time - above) % count + count) % count);
    side.elements = static_cast<std::int32_t>(round_up((times + 1) * side.time_pitch + 2 * count, count));
    set_words(one_row ? (times - 1) * strides.time + channels : channels, count, side);
    return side;
  }
  side.rows = DepthwiseRows::none;
  side.lanes_along_time =
      all_channels == 1 || (length > 1 && std::abs(strides.time) <= std::abs(strides.channel));
  set_lanes(side.lanes_along_time ? times : channels, 32, side);
  return side;
}

namespace {

void set_tile(std::int64_t channels, std::int64_t runs, int run, DepthwiseParams& p) {
  const std::int64_t bytes = bytes_of(p.type);
  const std::int64_t times = runs * run;
  p.kernel = DepthwiseKernel::tile;
  p.run = run;
  p.tile_channels = static_cast<std::int32_t>(channels);
  p.tile_times = static_cast<std::int32_t>(times);
  p.in_side = depthwise_tile_side({p.in_channel, p.in_time}, channels, times + p.taps - 1, p.channels,
                                  p.length, true, bytes);
  p.out_side =
      depthwise_tile_side({p.out_channel, p.out_time}, channels, times, p.channels, p.length, false, bytes);
  p.lanes_along_time = p.out_side.rows == DepthwiseRows::time || p.out_side.lanes_along_time;
  p.shared_bytes = (p.in_side.elements + p.out_side.elements) * bytes + (p.taps + 1) * (channels + 1) * 4;
}

}  // namespace

const char* plan_depthwise_tile(const DeviceProperties& device, DepthwiseParams& p) {
  if (p.ids != nullptr) return kIds;
  if (p.taps > kMaxVectorTaps) return kTooManyTaps;
  // A single sample has stride 0, which rows along time would not know.
  if (p.length == 1) p.in_time = p.out_time = 1;
  Cheapest cheapest(device);
  const auto try_channels = [&](std::int64_t channels) {
    // Threads lie along channels first: runs of an odd number of steps bring few channels' runs to
    // different banks.
    for (const int run : {8, 24, 40}) {
      for (const std::int64_t threads : {128, 256, 512, 1024}) {
        const std::int64_t runs =
            std::min(std::max<std::int64_t>(threads / channels, 1), divide_up(p.length, run));
        DepthwiseParams candidate = p;
        set_tile(channels, runs, run, candidate);
        if (candidate.shared_bytes > kSharedBytes) break;
        cheapest.offer(candidate);
        if (runs == divide_up(p.length, run)) break;
      }
    }
  };
  if (p.channels <= kMaxChannels) try_channels(p.channels);
  for (const std::int64_t most : {64, 32}) {
    if (p.channels > most) try_channels(divide_up(p.channels, divide_up(p.channels, most)));
  }
  if (cheapest.best() == nullptr) return "no tile with so many taps fits into shared memory";
  p = *cheapest.best();
  return nullptr;
}

namespace {

/// A side of tile_matrix: threads along the axis that is fast in memory, which access two neighbouring times
/// of a pack or of two channels where all of them lie so.
DepthwiseTileSide matrix_side(const DepthwiseParams& p, const void* base, std::int64_t batch_stride,
                              const DepthwiseSideStrides& strides, std::int64_t channels) {
  constexpr std::int64_t kLanesAlongTime = 32;
  DepthwiseTileSide side;
  const std::int64_t bytes = bytes_of(p.type);
  side.lanes_along_time =
      p.channels == 1 || (p.length > 1 && std::abs(strides.time) <= std::abs(strides.channel));
  const auto lie_in = [&](std::int64_t width) {
    return rows_aligned(base, width * bytes, bytes, {p.channels, batch_stride, strides.time});
  };
  if (strides.channel == 1 && !side.lanes_along_time)
    side.width = lie_in(kMatrixPack) ? kMatrixPack : lie_in(2) ? 2 : 1;
  const std::int64_t lanes =
      side.lanes_along_time ? kLanesAlongTime : divide_up(channels, std::int64_t{side.width});
  side.by_words = make_divisor(static_cast<std::uint32_t>(lanes));
  return side;
}

}  // namespace

const char* plan_depthwise_tile_matrix(const DeviceProperties& device, DepthwiseParams& p) {
  if (const char* const refusal = refusal_of_matrix_units(device, p)) return refusal;
  p.kernel = DepthwiseKernel::tile_matrix;
  p.warp_size = device.warp_size;
  p.tile_times = kMatrixTimes;
  Cheapest cheapest(device);
  for (const std::int64_t most : {32, 24, 16, 8}) {
    const std::int64_t even = divide_up(p.channels, divide_up(p.channels, most)),
                       channels =
                           p.channels < kMatrixPack ? p.channels : round_up(even, std::int64_t{kMatrixPack});
    DepthwiseParams candidate = p;
    candidate.tile_channels = static_cast<std::int32_t>(channels);
    candidate.in_side = matrix_side(p, p.in, p.in_batch, {p.in_channel, p.in_time}, channels);
    candidate.out_side = matrix_side(p, p.out, p.out_batch, {p.out_channel, p.out_time}, channels);
    candidate.lanes_along_time = candidate.out_side.lanes_along_time;
    candidate.shared_bytes = matrix_tile_bytes(p.taps, candidate.tile_channels);
    if (candidate.shared_bytes <= kSharedBytes) cheapest.offer(candidate);
  }
  p = *cheapest.best();
  return nullptr;
}

const char* plan_depthwise_turn(const DeviceProperties& device, DepthwiseParams& p) {
  const std::int64_t bytes = bytes_of(p.type);
  const std::int64_t width = kWordBytes / bytes;
  if (p.ids != nullptr) return kIds;
  if (p.taps > kUnrolledTaps) return kUnrolls;
  if (p.in_channel != 1 || p.out_time != 1) return "it goes from rows along channels to rows along time";
  if (p.channels % width != 0 || reinterpret_cast<std::uintptr_t>(p.in) % kWordBytes != 0 ||
      (p.in_batch | p.in_time) * bytes % kWordBytes != 0)
    return "channels of the input do not lie in words of 4 bytes";
  if (p.in_time < 0 || p.in_time > kMaxTurnPitch) return "its samples lie too far from each other";
  p.kernel = DepthwiseKernel::turn;
  Cheapest cheapest(device);
  for (const std::int64_t most : {16, 32, 64}) {  // words
    const std::int64_t all = p.channels / width, words = divide_up(all, divide_up(all, most));
    const std::int64_t runs = kDepthwiseThreads / words;
    for (std::int64_t run = kDepthwiseStep; run <= kMaxTurnRun; run += kDepthwiseStep) {
      DepthwiseParams candidate = p;
      candidate.run = static_cast<std::int32_t>(run);
      candidate.tile_channels = static_cast<std::int32_t>(words * width);
      candidate.tile_times = static_cast<std::int32_t>(run * std::min(runs, divide_up(p.length, run)));
      candidate.out_side = depthwise_tile_side({p.out_channel, 1}, candidate.tile_channels,
                                               candidate.tile_times, p.channels, p.length, false, bytes);
      candidate.shared_bytes = candidate.out_side.elements * bytes;
      if (candidate.shared_bytes > kSharedBytes) break;
      cheapest.offer(candidate);
    }
  }
  if (cheapest.best() == nullptr) return "no tile fits into shared memory";
  p = *cheapest.best();
  return nullptr;
}

}  // namespace relayout::plan
