#include "host/plan/depthwise/depthwise_backward_plan.hpp"

#include <algorithm>
#include <cstdlib>

#include "core/bytes.hpp"
#include "core/integer_math.hpp"
#include "host/plan/depthwise/depthwise_tile_plan.hpp"
#include "host/plan/plan_words.hpp"

namespace relayout::plan {
namespace {

/// Samples whose products are one partial sum: of native code and of the general kernels.
constexpr std::int64_t kNativeTimes = 1024, kGeneralTimes = 256;
/// What a thread of a tile walks at a time.
constexpr std::int64_t kStepBytes = 16;
/// One block of so much lies in the shared memory of any device.
constexpr std::int64_t kSharedBytes = 48 * 1024;
/// Steps that a thread of a tile walks, and one of a problem that would have too few threads.
constexpr int kSteps = 2, kFewSteps = 1;
constexpr std::int64_t kManyThreads = std::int64_t{1} << 16;

std::int64_t numbers_of_g(const DepthwiseBackwardParams& p) {
  return p.kernel == DepthwiseBackwardKernel::general
             ? p.forward.batch * p.forward.channels * p.forward.length
             : 0;
}

/// The most shared memory that a side of `channels` x `times` takes, whatever its layout.
std::int64_t most_bytes(std::int64_t channels, std::int64_t times, std::int64_t bytes) {
  const std::int64_t count = kStepBytes / bytes;
  const std::int64_t gap = channels >= count ? 3 * count : 0;  // of rows along channels, which are not one
  return std::max((times + 1) * (channels + gap) + 3 * count, channels * (times + 3 * count) + count) * bytes;
}

/// The tile's channels and times, of the shape alone, so that the order of the sums is.
void set_tile(DepthwiseBackwardParams& p) {
  DepthwiseParams& f = p.forward;
  const std::int64_t bytes = bytes_of(f.type);
  const std::int64_t step = kStepBytes / bytes, older = f.taps - 1;
  const std::int64_t most = divide_up(f.channels, divide_up(f.channels, kBackwardChannels));
  p.tile_channels = static_cast<std::int32_t>(most);
  const bool many = f.batch * f.channels * divide_up(f.length, kSteps * step) >= kManyThreads;
  p.run = static_cast<std::int32_t>((many ? kSteps : kFewSteps) * step);
  std::int64_t runs = std::clamp<std::int64_t>(divide_up(f.length, p.run), 1, kDepthwiseThreads / most);
  const auto shared = [&](std::int64_t times) {
    return most_bytes(most, times + 2 * older, bytes) + most_bytes(most, times + older, bytes) +
           most_bytes(most, times, bytes) + (f.taps + 1) * most * 4;
  };
  while (runs > 1 && shared(runs * p.run) > kSharedBytes) --runs;
  p.tile_times = runs * p.run;
  // A single sample has stride 0, which rows along time would not know.
  if (f.length == 1) f.in_time = p.d_out_time = p.d_in_time = 1;
  const std::int64_t times = p.tile_times;
  p.in_side = depthwise_tile_side({f.in_channel, f.in_time}, most, times + 2 * older, f.channels, f.length,
                                  false, bytes);
  p.d_out_side = depthwise_tile_side({p.d_out_channel, p.d_out_time}, most, times + older, f.channels,
                                     f.length, false, bytes);
  p.d_in_side =
      depthwise_tile_side({p.d_in_channel, p.d_in_time}, most, times, f.channels, f.length, false, bytes);
  f.lanes_along_time = p.d_in_side.rows == DepthwiseRows::time ||
                       (p.d_in_side.rows == DepthwiseRows::none && p.d_in_side.lanes_along_time);
  // The sums of the threads' runs lie where both inputs were.
  const std::int64_t inputs = (p.in_side.elements + p.d_out_side.elements) * bytes;
  const std::int64_t sums = most * runs * f.taps * 4 + most * runs * 4;
  if (inputs < sums) p.d_out_side.elements += static_cast<std::int32_t>(round_up(sums - inputs, 16) / bytes);
  p.shared_bytes =
      (p.in_side.elements + p.d_out_side.elements + p.d_in_side.elements) * bytes + (f.taps + 1) * most * 4;
}

/// Lanes that lie along channels, the fewest channels of `channels`, and the samples of its threads: as many
/// as leave enough of them.
constexpr int kChannelLanes = 32;
constexpr std::int64_t kFewestChannels = 16, kMaxRun = 128, kLeastRun = 16;
constexpr std::int64_t kEnoughThreads = std::int64_t{1} << 16;
/// It multiplies pitches in 32 bits: those of a step and a few samples more.
constexpr std::int64_t kMaxPitch = std::int64_t{1} << 26;

/// Whether the shape is one for `channels`, and whether the strides are.
bool suits_channels(const DepthwiseBackwardParams& p) {
  return !p.has_ids && p.forward.taps <= kBackwardWalkTaps && p.forward.channels >= kFewestChannels;
}
bool lies_along_channels(const DepthwiseBackwardParams& p) {
  const auto near = [](std::int64_t pitch) { return std::abs(pitch) <= kMaxPitch; };
  return p.forward.in_channel == 1 && p.d_out_channel == 1 && p.d_in_channel == 1 &&
         near(p.forward.in_time) && near(p.d_out_time) && near(p.d_in_time);
}

/// The lanes and runs, of the shape alone, so that the order of the sums is.
void set_channels(DepthwiseBackwardParams& p) {
  DepthwiseParams& f = p.forward;
  const std::int64_t words = divide_up(f.channels * bytes_of(f.type), 4);
  f.lanes = 1;
  while (f.lanes < kChannelLanes && f.lanes < words) f.lanes *= 2;
  std::int64_t run = size_of(f.type) == 2 ? kMaxRun : kMaxRun / 2;
  while (run > kLeastRun && f.batch * words * divide_up(f.length, run) < kEnoughThreads) run /= 2;
  p.run = static_cast<std::int32_t>(run);
  p.tile_times = run * (kBackwardWalkThreads / f.lanes);
  f.lanes_along_time = false;
}

/// The fewest bytes of a row of `time`, which leave half of a group's lanes idle, and the steps of its
/// groups: as many as leave enough of them.
constexpr std::int64_t kFewestBytes = 256, kMaxRunSteps = 32, kLeastSteps = 4;
constexpr std::int64_t kEnoughGroups = std::int64_t{1} << 12;
/// The most items of the batch that one block takes, so that it has all samples of its channels: its groups.
constexpr std::int32_t kMaxItems = kBackwardWalkThreads / kBackwardGroup;

/// The same for `time`.
bool suits_time(const DepthwiseBackwardParams& p) {
  const DepthwiseParams& f = p.forward;
  return !p.has_ids && f.taps <= kBackwardWalkTaps && f.length * bytes_of(f.type) >= kFewestBytes;
}
bool lies_along_time(const DepthwiseBackwardParams& p) {
  return p.forward.in_time == 1 && p.d_out_time == 1 && p.d_in_time == 1;
}

/// The steps of a group, of the shape, and the begin of its rows, of the strides.
void set_time(DepthwiseBackwardParams& p) {
  DepthwiseParams& f = p.forward;
  const std::int64_t count = kStepBytes / bytes_of(f.type);
  const std::int64_t step = kBackwardGroup * count;
  std::int64_t steps = kMaxRunSteps;
  const auto groups = [&] { return f.batch * f.channels * divide_up(f.length, steps * step); };
  while (steps > kLeastSteps && groups() < kEnoughGroups) steps /= 2;
  p.run = static_cast<std::int32_t>(steps);
  p.tile_times = steps * step;
  p.tail = kBackwardTail;
  const std::int64_t boundary = kBackwardBoundary / bytes_of(f.type);
  if (p.d_in_batch % boundary != 0 || p.d_in_channel % boundary != 0)
    p.slack = static_cast<std::int32_t>(boundary - 1);
  if (p.wants_sums && p.time_blocks() == 1) {
    for (int shift = 0; 1 << shift <= kMaxItems; ++shift)
      if (f.batch == 1 << shift) p.items_shift = shift;
  }
  f.lanes_along_time = true;
}

/// Lanes of the general kernels lie along the fast axis of what they write.
void set_general(DepthwiseBackwardParams& p) {
  DepthwiseParams& f = p.forward;
  f.lanes_along_time = f.channels <= 1 || (f.length > 1 && std::abs(p.d_in_time) <= std::abs(p.d_in_channel));
  p.tile_times = kGeneralTimes;
  p.g_batch = f.channels * f.length;
  p.g_channel = f.lanes_along_time ? f.length : 1;
  p.g_time = f.lanes_along_time ? 1 : f.channels;
}

/// Blocks of time for which the workspace has room: the most of all kernels that take the shape, since it
/// is the same for all strides.
std::int64_t most_time_blocks(const DepthwiseBackwardParams& p) {
  std::int64_t most = p.time_blocks();
  const auto consider = [&](void (*set)(DepthwiseBackwardParams&)) {
    DepthwiseBackwardParams other = p;
    other.slack = other.tail = 0;
    other.d_in_channel = 1;  // rows that begin anywhere
    set(other);
    most = std::max(most, other.time_blocks());
  };
  if (p.kernel != DepthwiseBackwardKernel::channels && p.kernel != DepthwiseBackwardKernel::time &&
      p.kernel != DepthwiseBackwardKernel::tile)
    return most;
  consider(set_tile);
  if (suits_channels(p)) consider(set_channels);
  if (suits_time(p)) consider(set_time);
  return most;
}

std::int64_t sums_of(const DepthwiseBackwardParams& p) {
  return p.wants_sums ? p.forward.batch * most_time_blocks(p) * (p.forward.taps + 1) * p.forward.channels : 0;
}

}  // namespace

void plan_depthwise_backward(bool native, DepthwiseBackwardParams& p) {
  const DepthwiseParams& f = p.forward;
  const bool has_samples = f.batch > 0 && f.channels > 0 && f.length > 0;
  const bool has_states = p.wants_initial && f.batch > 0 && f.channels > 0 && f.taps > 1;
  p.tile_times = native ? kNativeTimes : kGeneralTimes;
  if (!has_samples && !has_states && (!p.wants_sums || f.channels == 0)) {
    p.kernel = DepthwiseBackwardKernel::nothing;
  } else if (native) {
    p.kernel = DepthwiseBackwardKernel::native;
  } else if (has_samples && suits_channels(p) && lies_along_channels(p)) {
    p.kernel = DepthwiseBackwardKernel::channels;
    set_channels(p);
  } else if (has_samples && suits_time(p) && lies_along_time(p)) {
    p.kernel = DepthwiseBackwardKernel::time;
    set_time(p);
  } else if (has_samples && f.taps <= (p.has_ids ? kSequenceTaps : kUnrolledTaps)) {
    p.kernel = DepthwiseBackwardKernel::tile;
    set_tile(p);
  } else {
    p.kernel = DepthwiseBackwardKernel::general;
    set_general(p);
  }
}

std::int64_t depthwise_backward_workspace(const DepthwiseBackwardParams& p) {
  if (p.kernel == DepthwiseBackwardKernel::nothing) return 0;
  const DepthwiseParams& f = p.forward;
  const double most = static_cast<double>(std::int64_t{1} << 57), rows = static_cast<double>(f.taps + 1);
  const double blocks = static_cast<double>(f.batch) * static_cast<double>(most_time_blocks(p));
  if (p.wants_sums && blocks * rows * static_cast<double>(f.channels) > most) return -1;
  return (sums_of(p) + numbers_of_g(p)) * static_cast<std::int64_t>(sizeof(float));
}

void set_depthwise_backward_workspace(void* workspace, DepthwiseBackwardParams& p) {
  auto* const numbers = static_cast<float*>(workspace);
  p.sums = sums_of(p) > 0 && !p.stores_gradients() ? numbers : nullptr;
  p.g = numbers_of_g(p) > 0 ? numbers + sums_of(p) : nullptr;
}

std::string explain_depthwise_backward(const DepthwiseBackwardParams& p) {
  SentenceStream text;
  switch (p.kernel) {
    case DepthwiseBackwardKernel::nothing:
      return "Kernel nothing: there is nothing to write.\n";
    case DepthwiseBackwardKernel::native:
      text << "Kernel native: the processor's own code, in blocks of " << plural(p.tile_times, "sample")
           << ".\n";
      break;
    case DepthwiseBackwardKernel::channels:
      text << "Kernel depthwise_backward_channels: channels are the fast axis of the input and of both "
              "gradients.\nBlock: "
           << plural(p.forward.lanes, "word") << " or elements along channels x "
           << plural(p.tile_times, "sample") << "; a thread takes " << plural(p.run, "sample") << ".\n";
      break;
    case DepthwiseBackwardKernel::time:
      text << "Kernel depthwise_backward_time: time is the fast axis of the input and of both gradients.\n"
              "Block: "
           << plural(kMaxItems / p.items(), "channel");
      if (p.items() > 1) text << " x " << plural(p.items(), "item") << " of the batch";
      text << " x " << plural(p.tile_times, "sample") << "; " << kBackwardGroup
           << " lanes take a channel, 16 bytes each at a time.\n";
      break;
    case DepthwiseBackwardKernel::tile:
      text << "Kernel depthwise_backward_tile: up to " << kUnrolledTaps << " taps, with sequence ids up to "
           << kSequenceTaps << ", are unrolled.\nTile: " << plural(p.tile_channels, "channel") << " x "
           << plural(p.tile_times, "sample") << "; a thread takes " << plural(p.run, "sample")
           << " of a channel; " << plural(p.shared_bytes, "byte") << " of shared memory.\n";
      for (const auto& [name, side] : {std::pair<const char*, const DepthwiseTileSide&>{"Input", p.in_side},
                                       {"Gradient of the output", p.d_out_side},
                                       {"Gradient of the input", p.d_in_side}}) {
        text << name << ": "
             << (side.rows == DepthwiseRows::time      ? "rows along time, 16 bytes an access"
                 : side.rows == DepthwiseRows::channel ? "rows along channels, 16 bytes an access"
                                                       : "element by element")
             << ".\n";
      }
      break;
    case DepthwiseBackwardKernel::general:
      text << "Kernel depthwise_backward: it takes any number of taps, and the gradients of the sums go "
              "through the workspace.\n";
      break;
  }
  if (p.wants_initial || p.d_final != nullptr)
    text << "States: the gradients that meet them are computed by a launch of their own.\n";
  if (p.wants_sums) {
    text << "Weights and bias: ";
    if (p.stores_gradients()) {
      text << "one block has all samples of a channel, and stores their sums.\n";
    } else {
      text << plural(p.sum_blocks(), "block") << " of up to " << plural(p.tile_times, "sample")
           << ", whose sums are then added in the blocks' order.\n";
    }
  }
  text << "Workspace: " << plural(depthwise_backward_workspace(p), "byte") << ".\n";
  return text.str();
}

}  // namespace relayout::plan
