#include "host/plan/depthwise/depthwise_plan.hpp"

#include <algorithm>
#include <cstdlib>
#include <initializer_list>

namespace relayout::plan {
namespace {

constexpr std::int64_t kPackBytes = 16;
/// Up to kUnrolledTaps. Along time: packs in flight per thread. Along channels: samples walked per thread,
/// where taps-1 more are read again (from the caches).
constexpr int kMaxPacks = 4, kMaxSamples = 16, kFewestSamples = 8;
/// More taps: tiles that a thread takes one after another, so that its weights are fetched once.
constexpr int kMaxTimeTiles = 16, kMaxChannelTiles = 8;
constexpr std::int64_t kTilePacks = 2, kTileTimes = 20, kTileChannels = 2;
/// Shared memory that holds the weights of a block's channels.
constexpr std::int64_t kWeightBytes = 48 * 1024;
/// Threads a multiprocessor should see, about eight times what it holds at once: the last ones to finish
/// leave it idle for a small part of the time.
constexpr std::int64_t kThreadsPerMultiprocessor = 5120;
/// 256 bytes of channels side by side, of couples of channels 128; fewer lanes only for short rows.
constexpr int kMaxChannelLanes = 16, kMaxCoupleLanes = 32, kMaxTimeLanes = 256;
constexpr int kScalarRun = 4;

std::int64_t divided_up(std::int64_t value, std::int64_t by) { return (value + by - 1) / by; }

/// The smallest power of two that covers `count`, up to `most`.
int covering(std::int64_t count, int most) {
  int lanes = 1;
  while (lanes < most && lanes < count) lanes *= 2;
  return lanes;
}

/// Strides of axes with one index do not matter.
struct Axis {
  std::int64_t extent, stride;
};
bool rows_aligned(std::uintptr_t base, std::int64_t pack, std::initializer_list<Axis> axes) {
  return base % kPackBytes == 0 && std::all_of(axes.begin(), axes.end(), [pack](const Axis& axis) {
           return axis.extent <= 1 || axis.stride % pack == 0;
         });
}

bool packs_along_time(const DepthwiseAccess& a, std::int64_t pack) {
  return a.in_time == 1 && a.out_time == 1 && a.length >= pack &&
         rows_aligned(a.in, pack, {{a.batch, a.in_batch}, {a.channels, a.in_channel}}) &&
         rows_aligned(a.out, pack, {{a.batch, a.out_batch}, {a.channels, a.out_channel}});
}
bool packs_along_channels(const DepthwiseAccess& a, std::int64_t pack) {
  return a.in_channel == 1 && a.out_channel == 1 && a.channels >= pack &&
         rows_aligned(a.in, pack, {{a.batch, a.in_batch}, {a.length, a.in_time}}) &&
         rows_aligned(a.out, pack, {{a.batch, a.out_batch}, {a.length, a.out_time}});
}

DepthwisePlan plan_time(const DepthwiseAccess& a, std::int64_t pack, const DeviceProperties& device) {
  const bool unrolled = a.taps <= kUnrolledTaps;
  const std::int64_t units = divided_up(a.length, unrolled ? pack : kTilePacks * pack);
  DepthwisePlan plan;
  plan.axis = DepthwiseAxis::time;
  plan.run = unrolled ? kMaxPacks : kMaxTimeTiles;
  const auto threads = [&] { return a.batch * a.channels * divided_up(units, plan.run); };
  while (plan.run > 1 && threads() < kThreadsPerMultiprocessor * device.multiprocessors / 2) plan.run /= 2;
  // A thread's first pack alone may meet an initial state: two packs of f32 lie side by side, not in one run.
  plan.lanes = std::max(covering(divided_up(units, plan.run), kMaxTimeLanes), covering(units, 8));
  // One row of weights for each of the block's channels.
  while (!unrolled && kDepthwiseThreads / plan.lanes * (a.taps + 8) * 4 > kWeightBytes) plan.lanes *= 2;
  return plan;
}

DepthwisePlan plan_channels(const DepthwiseAccess& a, std::int64_t pack, const DeviceProperties& device) {
  const bool unrolled = a.taps <= kUnrolledTaps;
  const std::int64_t own = unrolled ? pack : kTileChannels, groups = divided_up(a.channels, own);
  const std::int64_t times = unrolled ? 1 : kTileTimes;
  DepthwisePlan plan;
  plan.axis = DepthwiseAxis::channel;
  plan.lanes = covering(groups, unrolled ? kMaxChannelLanes : kMaxCoupleLanes);
  while (plan.lanes > 1 && plan.lanes * own * (a.taps + 1) * 4 > kWeightBytes) plan.lanes /= 2;
  plan.run = unrolled ? kMaxSamples : kMaxChannelTiles;
  const int fewest = unrolled ? kFewestSamples : 1;
  const auto threads = [&] { return a.batch * groups * divided_up(a.length, plan.run * times); };
  while (plan.run > fewest && threads() < kThreadsPerMultiprocessor * device.multiprocessors / 2)
    plan.run /= 2;
  return plan;
}

}  // namespace

DepthwisePlan plan_depthwise(const DepthwiseAccess& a, bool ids, const DeviceProperties& device) {
  const std::int64_t pack = kPackBytes / a.element_bytes;
  if (!ids && a.taps <= kMaxVectorTaps) {
    if (packs_along_time(a, pack)) return plan_time(a, pack, device);
    if (packs_along_channels(a, pack)) return plan_channels(a, pack, device);
  }
  DepthwisePlan plan;
  // Strides of axes with one index do not matter.
  plan.along_time = a.channels <= 1 || (a.length > 1 && std::abs(a.out_time) <= std::abs(a.out_channel));
  plan.run = kScalarRun;
  plan.lanes = plan.along_time ? covering(divided_up(a.length, kScalarRun), kDepthwiseThreads)
                               : covering(a.channels, kDepthwiseThreads);
  return plan;
}

}  // namespace relayout::plan
