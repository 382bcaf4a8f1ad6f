#include "host/plan/depthwise_plan.hpp"

#include <algorithm>
#include <cstdlib>
#include <initializer_list>

namespace relayout::plan {
namespace {

constexpr std::int64_t kPackBytes = 16;
/// Packs in flight per thread along time; samples walked per thread along channels, where taps-1 more are
/// read again (from the caches).
constexpr int kMostPacks = 4, kMostSamples = 32, kFewestSamples = 8;
/// Shared memory that holds the weights of a block's channels.
constexpr std::int64_t kWeightBytes = 48 * 1024;
/// Threads a multiprocessor should see, about eight times what it holds at once: the last ones to finish
/// leave it idle for a small part of the time.
constexpr std::int64_t kThreadsPerMultiprocessor = 5120;
/// Warps that share one row of time or channels write 512 bytes; fewer lanes only for short rows.
constexpr int kMostChannelLanes = 32, kMostTimeLanes = 256;
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
  const std::int64_t units = divided_up(a.length, unrolled ? pack : 2 * pack);
  DepthwisePlan plan;
  plan.axis = DepthwiseAxis::time;
  plan.run = kMostPacks;
  const auto threads = [&] { return a.batch * a.channels * divided_up(units, plan.run); };
  while (plan.run > 1 && threads() < kThreadsPerMultiprocessor * device.multiprocessors / 2) plan.run /= 2;
  if (!unrolled) plan.run = 1;
  plan.lanes = std::max(covering(divided_up(units, plan.run), kMostTimeLanes), covering(units, 8));
  // One row of weights for each of the block's channels.
  while (!unrolled && kDepthwiseThreads / plan.lanes * (a.taps + 8) * 4 > kWeightBytes) plan.lanes *= 2;
  return plan;
}

DepthwisePlan plan_channels(const DepthwiseAccess& a, std::int64_t pack, const DeviceProperties& device) {
  const std::int64_t packs = divided_up(a.channels, pack);
  DepthwisePlan plan;
  plan.axis = DepthwiseAxis::channel;
  plan.lanes = covering(packs, kMostChannelLanes);
  while (plan.lanes > 1 && plan.lanes * pack * (a.taps + 1) * 4 > kWeightBytes) plan.lanes /= 2;
  plan.run = kMostSamples;
  const auto threads = [&] { return a.batch * packs * divided_up(a.length, plan.run); };
  while (plan.run > kFewestSamples && threads() < kThreadsPerMultiprocessor * device.multiprocessors) {
    plan.run /= 2;
  }
  return plan;
}

}  // namespace

DepthwisePlan plan_depthwise(const DepthwiseAccess& a, bool ids, const DeviceProperties& device) {
  const std::int64_t pack = kPackBytes / a.element_bytes;
  if (!ids && a.taps <= kMostVectorTaps) {
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
