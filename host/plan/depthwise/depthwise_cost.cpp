// Time = launch + (the longer of memory and instructions + a share of the shorter one, stretched where the
// threads do not fill the device) x a factor of the kernel. Instructions are counted by hand from the
// kernels' loops, per output; the factors and the launches are fitted to all kernels' times of 260 random
// problems on an H100 (docs/notes/conv1d.md).
#include "host/plan/depthwise/depthwise_cost.hpp"

#include <algorithm>
#include <cmath>
#include <cstdlib>

#include "core/integer_math.hpp"
#include "host/plan/device_rates.hpp"

namespace relayout::plan {
namespace {

/// What one output costs, and what the device is filled with.
struct Work {
  double instructions = 0;  // of a lane
  double bytes = 0;
  double threads = 0;
  double factor = 1;    // measured time by the time of the above
  double launch = 2.3;  // microseconds before the first and after the last output
  double alone = 0;     // instructions of a thread, where it may have more than the device has threads for
};

/// Aligned packs of channels have few threads at a time, which wait for the special functions of SiLU.
constexpr double kSilu = 7, kSiluOfFewThreads = 17, kSector = 32;
/// Instructions that move a word of 16 bytes between the memories, or an element.
constexpr double kMoveWord = 16, kMoveElement = 24;
/// Shifts of packs, which wait for shared memory; barriers between a tile's phases, its weights and its
/// borders; loads of single elements that wait for each other.
constexpr double kShiftFactor = 1.1, kTileFactor = 1.33, kScalarFactor = 3.8;
/// The factors of rows along time, of channels, and of aligned packs of channels. Many taps have none.
constexpr double kTimeFactor = 0.86, kChannelFactor = 0.86, kPacksFactor = 0.96;
/// Warps of matrix units wait for their samples.
constexpr double kMatrixFactor = 1.25;
/// A tile waits for its weights and its samples, one after the other.
constexpr double kTileLaunch = 4.7;
constexpr double kTileMatrixFactor = 1.12, kTileMatrixLaunch = 3.2;
constexpr double kTurnFactor = 1.15, kTurnLaunch = 3.5;

/// Bytes that move for one element of a row of `run` elements, `stride` apart, which begins anywhere: sectors
/// are moved whole.
double moved_bytes(double element, double run, double stride) {
  return std::min((run * stride * element + 0.5 * kSector) / run, kSector);
}

Work time_work(const DepthwiseParams& p, double element) {
  const double count = 16 / element, taps = static_cast<double>(p.taps),
               length = static_cast<double>(p.length);
  // Packs of a thread's run, which of many taps lie side by side.
  const bool many = p.kernel == DepthwiseKernel::time_many, alike = !many && has_alike_rows(p);
  const double own = many ? kManyTapsPacks : 1;
  const double slack = time_slack(p);
  const double packs = std::ceil((length + slack) / count), each = static_cast<double>(p.lanes) * p.run * own;
  const double taken = std::ceil(packs / each) * each, window = (count + taps - 1) * element / 4;
  Work work;
  work.instructions = many ? (0.9 + 0.3 * element) * taps + 8 : taps + 2.5;
  // Weights and addresses of a thread; the first and the last pack of a row, element by element.
  if (many) {
    // Few lanes of a row meet few of its bytes at a time.
    work.instructions = (work.instructions + (4 * taps / p.lanes + 120) / (kManyTapsPacks * count * p.run)) *
                        taken / packs * (1 + 1.0 / p.lanes);
  } else {
    work.instructions += ((alike ? 2 : 4) * window + 20) / count;
    work.instructions += (4 * taps + 120) / (p.run * count) * taken / packs + 12 * count / length;
  }
  work.bytes = alike ? 2 * element : 2 * moved_bytes(element, length, 1);
  work.threads = static_cast<double>(p.batch * p.channels) * taken / (p.run * own);
  if (!many) work.factor = alike ? kTimeFactor : kShiftFactor * kTimeFactor;
  return work;
}

Work matrix_work(const DepthwiseParams& p, double element) {
  const double length = static_cast<double>(p.length), steps = matrix_steps(p.taps), warp = p.warp_size;
  const double tiles = std::ceil((length + time_slack(p)) / kMatrixTile), rows = p.lanes / warp * p.run;
  const double taken = std::ceil(tiles / rows) * rows;  // those past a row's end are left out
  // A warp's instructions: for a tile, before the first one, and for the samples of one at an end of a row.
  constexpr double kBefore = 350;
  const double tile = 70 + 16 * steps, end = 24 * matrix_samples(matrix_steps(p.taps) * kMatrixDepth) / warp;
  Work work;
  work.instructions = warp * (tiles * tile + taken / p.run * kBefore + std::min(tiles, 2.0) * end) / length;
  work.bytes = 2 * moved_bytes(element, length, 1);
  work.threads = static_cast<double>(p.batch * p.channels) * taken / p.run * warp;
  work.factor = kMatrixFactor;
  return work;
}

Work channel_work(const DepthwiseParams& p, double element) {
  const double taps = static_cast<double>(p.taps), channels = static_cast<double>(p.channels);
  Work work;
  double run = p.run, width = p.width;
  if (p.kernel == DepthwiseKernel::channel) {
    work.instructions = 6 / width + taps + 3 + (8 * taps + 24 / width) / run;
    // An access of a warp meets as many runs as it has rows of channels, each a transaction of its own.
    work.instructions += 14 * std::max(0.0, 32 * width / channels - 1) / width;
    // The samples before a run come from the caches, most of them. Narrow accesses cost some of the rate.
    work.bytes = 2 * moved_bytes(element, channels, 1) * (width * element < 4 ? 1.15 : 1.05);
    work.factor = kChannelFactor;
  } else if (p.kernel == DepthwiseKernel::channel_aligned) {
    width = 16 / element;
    work.instructions = 1.5 * taps + 4;
    work.bytes = 2 * element;
    work.factor = kPacksFactor;
  } else {
    width = kManyTapsChannels;
    run *= many_taps_times(p.width);
    // Lanes without channels, and the tiles at a signal's ends, which ask of each sample whether it exists.
    const double couples = channels / kManyTapsChannels;
    const double idle = std::ceil(couples / p.lanes) * p.lanes / couples;
    const double times = many_taps_times(p.width), length = static_cast<double>(p.length);
    const double outside = std::min(length, std::ceil((taps + 4) / times + 1) * times) / length;
    work.instructions = ((p.width == 1 ? 1.64 : 1.4) * taps + 8) * idle * std::ceil(length / times) * times /
                        length * (1 + 2 * outside);
    work.alone = run * width * (1.4 * taps + 8);
    // Few lanes of a row access many rows at a time.
    work.instructions *= 1 + (p.width == 1 ? 5.0 : 2.5) / p.lanes;
    work.bytes = 2 * element;
  }
  work.bytes += 0.3 * element * (taps - 1) / run;
  work.threads =
      static_cast<double>(p.batch) * channels / width * std::ceil(static_cast<double>(p.length) / run);
  return work;
}

/// Adds the instructions and bytes that an element takes on one side of a tile.
void add_side(const DepthwiseTileSide& side, double channels, double times, double channel_stride,
              double time_stride, double element, Work& work) {
  if (side.rows == DepthwiseRows::none) {
    const double stride = std::max(1.0, std::min(std::abs(channel_stride), std::abs(time_stride)));
    work.instructions += kMoveElement;
    work.bytes += moved_bytes(element, side.lanes_along_time ? times : channels, stride);
    return;
  }
  const double count = 16 / element;
  const double run = side.rows == DepthwiseRows::time ? times : side.is_one_row ? channels * times : channels;
  const double words = side.by_words.value;
  const double gap = side.is_one_row ? side.time_pitch / channels : 1;
  work.instructions += (kMoveWord * words + 3 * count) / run;
  work.bytes += moved_bytes(element, run, gap);
}

Work tile_work(const DepthwiseParams& p, double element) {
  const double taps = static_cast<double>(p.taps), channels = p.tile_channels;
  const double times = std::min<double>(p.tile_times, static_cast<double>(p.length));
  const double run = std::min<double>(p.run, times), units = channels * std::ceil(times / run);
  const double tiles = static_cast<double>(divide_up(p.channels, p.tile_channels)) *
                       static_cast<double>(divide_up(p.length, p.tile_times)) * static_cast<double>(p.batch);
  Work work;
  add_side(p.in_side, channels, times + taps - 1, static_cast<double>(p.in_channel),
           static_cast<double>(p.in_time), element, work);
  work.instructions *= 1 + (taps - 1) / times;
  work.bytes += 0.3 * element * (taps - 1) / times;
  add_side(p.out_side, channels, times, static_cast<double>(p.out_channel), static_cast<double>(p.out_time),
           element, work);
  const double idle = std::ceil(units / kDepthwiseThreads) * kDepthwiseThreads / units;
  const double sums = p.taps > kUnrolledTaps ? 1.5 * taps : taps + 2 * (taps - 1) / run;
  work.instructions += (sums + 7 + (taps + 30) / run) * (0.5 + 0.5 * idle) + 10 * (taps + 1) / times;
  // Samples and channels that the last tiles do not have.
  const double taken = tiles * channels * p.tile_times / static_cast<double>(p.batch * p.channels * p.length);
  work.instructions *= 1.2 * (0.7 + 0.3 * taken);
  work.threads = tiles * kDepthwiseThreads / idle;
  work.factor = kTileFactor;
  work.launch = kTileLaunch;
  return work;
}

/// A lane's instructions for an element that it moves, fitted as the factors are.
double pair_cost(const DepthwiseTileSide& side) {
  constexpr double kAccess = 27, kTimes = 22, kElement = 20;
  return ((side.lanes_along_time ? kTimes : kAccess / side.width) + kElement) / 2;
}

Work tile_matrix_work(const DepthwiseParams& p, double element) {
  // A lane's instructions for a block, and a warp's for a tile, for each step of one, and for a step's
  // weights.
  constexpr double kBlock = 200, kTile = 5, kStep = 14, kWeights = 24;
  const double steps = matrix_tile_steps(p.taps), channels = p.tile_channels, warp = p.warp_size;
  const double times = std::min<double>(kMatrixTimes, static_cast<double>(p.length));
  const double whole = std::ceil(times / kMatrixTile) * kMatrixTile,
               samples = matrix_samples(static_cast<int>(steps) * kMatrixDepth, static_cast<int>(whole));
  const double tiles = static_cast<double>(divide_up(p.channels, p.tile_channels)) *
                       static_cast<double>(divide_up(p.length, kMatrixTimes)) * static_cast<double>(p.batch);
  // Warps without a channel wait for the others.
  const double warps = kDepthwiseThreads / warp, idle = std::ceil(channels / warps) * warps / channels;
  Work work;
  work.instructions = pair_cost(p.in_side) * samples / times + pair_cost(p.out_side);
  work.instructions +=
      idle * warp * (whole / kMatrixTile * (kTile + kStep * steps) + kWeights * steps) / times;
  work.instructions += kBlock * kDepthwiseThreads / (channels * times);
  work.instructions *= tiles * channels * times / static_cast<double>(p.batch * p.channels * p.length);
  const auto add_bytes = [&](const DepthwiseTileSide& side, double channel_stride, double time_stride) {
    const double stride = std::max(1.0, std::min(std::abs(channel_stride), std::abs(time_stride)));
    work.bytes += moved_bytes(element, side.lanes_along_time ? times : channels, stride);
  };
  add_bytes(p.in_side, static_cast<double>(p.in_channel), static_cast<double>(p.in_time));
  add_bytes(p.out_side, static_cast<double>(p.out_channel), static_cast<double>(p.out_time));
  work.bytes += 0.3 * element * static_cast<double>(p.taps - 1) / times;
  work.threads = tiles * kDepthwiseThreads;
  work.factor = kTileMatrixFactor;
  work.launch = kTileMatrixLaunch;
  return work;
}

Work turn_work(const DepthwiseParams& p, double element) {
  const double taps = static_cast<double>(p.taps), width = 4 / element, channels = p.tile_channels;
  const double times = std::min<double>(p.tile_times, static_cast<double>(p.length));
  const double run = std::min<double>(p.run, times);
  const double tiles = static_cast<double>(divide_up(p.channels, p.tile_channels)) *
                       static_cast<double>(divide_up(p.length, p.tile_times)) * static_cast<double>(p.batch);
  const double used = channels / width * p.tile_times / p.run;
  Work work;
  work.instructions = taps + 5 + (8 * taps + 150 / width) / run;
  add_side(p.out_side, channels, times, static_cast<double>(p.out_channel), 1, element, work);
  work.bytes += moved_bytes(element, channels, 1) + 0.3 * element * (taps - 1) / run;
  // Lanes without a word, and samples and channels that the last tiles do not have.
  work.instructions *= 0.5 + 0.5 * kDepthwiseThreads / used;
  work.instructions *= tiles * channels * p.tile_times / static_cast<double>(p.batch * p.channels * p.length);
  work.threads = tiles * used;
  work.factor = kTurnFactor;
  work.launch = kTurnLaunch;
  return work;
}

Work scalar_work(const DepthwiseParams& p, double element) {
  Work work;
  const auto step = static_cast<double>(std::abs(p.lanes_along_time ? p.in_time : p.in_channel));
  work.instructions = 30 + 12 * static_cast<double>(p.taps) * std::max(1.0, std::min(step, 8.0));
  work.bytes = 2 * std::min(element * std::max(step, 1.0), kSector);
  work.threads = static_cast<double>(p.batch * p.channels * p.length) / p.run;
  work.factor = kScalarFactor;
  return work;
}

Work work_of(const DepthwiseParams& p, double element) {
  switch (p.kernel) {
    case DepthwiseKernel::time:
    case DepthwiseKernel::time_many:
      return time_work(p, element);
    case DepthwiseKernel::time_matrix:
      return matrix_work(p, element);
    case DepthwiseKernel::channel:
    case DepthwiseKernel::channel_aligned:
    case DepthwiseKernel::channel_many:
      return channel_work(p, element);
    case DepthwiseKernel::turn:
      return turn_work(p, element);
    case DepthwiseKernel::tile:
      return tile_work(p, element);
    case DepthwiseKernel::tile_matrix:
      return tile_matrix_work(p, element);
    default:
      return scalar_work(p, element);
  }
}

}  // namespace

double depthwise_microseconds(const DeviceProperties& device, const DepthwiseParams& p) {
  constexpr double kShare = 0.225, kThreadsToFill = 450, kLeastFill = 0.03, kCyclesAlone = 4;
  constexpr double kOfBytes = 0.95, kOfInstructions = 0.8;  // what these kernels reach of the device's rates
  const DeviceRates rates = device_rates(device);
  const double outputs = static_cast<double>(p.batch * p.channels) * static_cast<double>(p.length);
  const Work work = work_of(p, static_cast<double>(size_of(p.type)));
  const double silu = p.kernel == DepthwiseKernel::channel_aligned ? kSiluOfFewThreads : kSilu;
  const double fill = std::min(1.0, work.threads / (kThreadsToFill * device.multiprocessors));
  const double memory = outputs * work.bytes / (kOfBytes * rates.bytes_per_microsecond);
  const double issue =
      outputs * (work.instructions + (p.silu ? silu : 0)) /
      (kOfInstructions * rates.instructions_per_microsecond * device.warp_size * device.multiprocessors);
  const double work_time = std::max(memory, issue) + kShare * std::min(memory, issue);
  // A thread waits this long for each of its instructions where no other one is there.
  const double alone = work.alone * kCyclesAlone / rates.cycles_per_microsecond;
  return work.launch + std::max(work.factor * work_time / (kLeastFill + (1 - kLeastFill) * fill), alone);
}

}  // namespace relayout::plan
