#include "host/plan/depthwise/depthwise_plan.hpp"

#include <algorithm>
#include <cstdlib>
#include <initializer_list>

#include "core/integer_math.hpp"

namespace relayout::plan {
namespace {

constexpr std::int64_t kPackBytes = 16;
/// Up to kUnrolledTaps. Along time: packs in flight per thread. Along channels: samples walked per thread,
/// where taps-1 more are read again (from the caches).
constexpr int kMaxPacks = 4, kMaxSamples = 16, kFewestSamples = 8;
/// More taps: tiles that a thread takes one after another, so that its weights are fetched once.
constexpr int kMaxTimeTiles = 16, kMaxChannelTiles = 8;
/// Shared memory that holds the weights of a block's channels.
constexpr std::int64_t kWeightBytes = 48 * 1024, kWeightBytesEach = 4;
/// Threads a multiprocessor should see, about eight times what it holds at once: the last ones to finish
/// leave it idle for a small part of the time.
constexpr std::int64_t kThreadsPerMultiprocessor = 5120;
/// 256 bytes of channels side by side, of couples of channels 128; fewer lanes only for short rows.
constexpr int kMaxChannelLanes = 16, kMaxCoupleLanes = 32, kMaxTimeLanes = 256;
constexpr int kScalarRun = 4;

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
bool rows_aligned(const void* base, std::int64_t pack, std::initializer_list<Axis> axes) {
  return reinterpret_cast<std::uintptr_t>(base) % kPackBytes == 0 &&
         std::all_of(axes.begin(), axes.end(),
                     [pack](const Axis& axis) { return axis.extent <= 1 || axis.stride % pack == 0; });
}

/// What is in the way of both kernels of packs.
const char* vector_obstacle(const DepthwiseParams& p) {
  if (p.ids != nullptr) return "it knows no sequence ids";
  return p.taps > kMaxVectorTaps ? "the weights of so many taps do not fit into its shared memory" : nullptr;
}

const char* time_obstacle(const DepthwiseParams& p, std::int64_t pack) {
  if (const char* obstacle = vector_obstacle(p)) return obstacle;
  if (p.in_time != 1 || p.out_time != 1) return "time is not the fast axis of both sides";
  if (p.length < pack) return "there are fewer samples than a 16-byte pack holds";
  const bool aligned = rows_aligned(p.in, pack, {{p.batch, p.in_batch}, {p.channels, p.in_channel}}) &&
                       rows_aligned(p.out, pack, {{p.batch, p.out_batch}, {p.channels, p.out_channel}});
  return aligned ? nullptr : "rows along time do not lie on 16-byte boundaries";
}

const char* channel_obstacle(const DepthwiseParams& p, std::int64_t pack) {
  if (const char* obstacle = vector_obstacle(p)) return obstacle;
  if (p.in_channel != 1 || p.out_channel != 1) return "channels are not the fast axis of both sides";
  if (p.channels < pack) return "there are fewer channels than a 16-byte pack holds";
  const bool aligned = rows_aligned(p.in, pack, {{p.batch, p.in_batch}, {p.length, p.in_time}}) &&
                       rows_aligned(p.out, pack, {{p.batch, p.out_batch}, {p.length, p.out_time}});
  return aligned ? nullptr : "rows along channels do not lie on 16-byte boundaries";
}

void walk_time(const DeviceProperties& device, std::int64_t pack, DepthwiseParams& p) {
  const bool unrolled = p.taps <= kUnrolledTaps;
  const std::int64_t units = divide_up(p.length, unrolled ? pack : kManyTapsPacks * pack);
  p.kernel = unrolled ? DepthwiseKernel::time : DepthwiseKernel::time_many;
  p.run = unrolled ? kMaxPacks : kMaxTimeTiles;
  const auto threads = [&] { return p.batch * p.channels * divide_up(units, p.run); };
  while (p.run > 1 && threads() < kThreadsPerMultiprocessor * device.multiprocessors / 2) p.run /= 2;
  // A thread's first pack alone may meet an initial state: two packs of f32 lie side by side, not in one run.
  p.lanes = std::max(covering(divide_up(units, p.run), kMaxTimeLanes), covering(units, 8));
  if (unrolled) return;
  // One row of weights for each of the block's channels.
  while (kDepthwiseThreads / p.lanes * (p.taps + 8) * 4 > kWeightBytes) p.lanes *= 2;
  p.shared_bytes = kDepthwiseThreads / p.lanes * divide_up(p.taps, pack) * pack * kWeightBytesEach;
}

void walk_channels(const DeviceProperties& device, std::int64_t pack, DepthwiseParams& p) {
  const bool unrolled = p.taps <= kUnrolledTaps;
  const std::int64_t own = unrolled ? pack : std::int64_t{kManyTapsChannels},
                     groups = divide_up(p.channels, own);
  const std::int64_t times = unrolled ? 1 : kManyTapsTimes;
  p.kernel = unrolled ? DepthwiseKernel::channel : DepthwiseKernel::channel_many;
  p.lanes = covering(groups, unrolled ? kMaxChannelLanes : kMaxCoupleLanes);
  const auto weight_bytes = [&] { return p.lanes * own * (p.taps + 1) * kWeightBytesEach; };
  while (p.lanes > 1 && weight_bytes() > kWeightBytes) p.lanes /= 2;
  p.run = unrolled ? kMaxSamples : kMaxChannelTiles;
  const int fewest = unrolled ? kFewestSamples : 1;
  const auto threads = [&] { return p.batch * groups * divide_up(p.length, p.run * times); };
  while (p.run > fewest && threads() < kThreadsPerMultiprocessor * device.multiprocessors / 2) p.run /= 2;
  p.shared_bytes = weight_bytes();
}

void walk_elements(DepthwiseParams& p) {
  p.kernel = DepthwiseKernel::scalar;
  // Strides of axes with one index do not matter.
  p.lanes_along_time = p.channels <= 1 || (p.length > 1 && std::abs(p.out_time) <= std::abs(p.out_channel));
  p.run = kScalarRun;
  p.lanes = p.lanes_along_time ? covering(divide_up(p.length, kScalarRun), kDepthwiseThreads)
                               : covering(p.channels, kDepthwiseThreads);
  p.shared_bytes = 0;
}

/// Makes the kernel of `axis` the convolution's; returns what is in the way of it.
const char* take(const DeviceProperties& device, DepthwiseAxis axis, DepthwiseParams& p) {
  const std::int64_t pack = kPackBytes / static_cast<std::int64_t>(size_of(p.type));
  if (axis == DepthwiseAxis::none) {
    walk_elements(p);
    return nullptr;
  }
  const bool time = axis == DepthwiseAxis::time;
  if (const char* obstacle = time ? time_obstacle(p, pack) : channel_obstacle(p, pack)) return obstacle;
  if (time) {
    walk_time(device, pack, p);
  } else {
    walk_channels(device, pack, p);
  }
  return nullptr;
}

}  // namespace

DepthwiseCandidate depthwise_candidate(const DeviceProperties& device, const DepthwiseParams& problem,
                                       DepthwiseAxis axis) {
  DepthwiseCandidate candidate{problem, nullptr};
  candidate.refused = take(device, axis, candidate.params);
  return candidate;
}

void plan_depthwise(const DeviceProperties& device, bool native, DepthwiseParams& params) {
  const bool has_outputs = params.batch > 0 && params.channels > 0 && params.length > 0;
  if (!has_outputs && (params.update || params.state == nullptr)) {
    params.kernel = DepthwiseKernel::nothing;
  } else if (native) {
    params.kernel = DepthwiseKernel::native;
  } else if (params.update) {
    params.kernel = DepthwiseKernel::update;
  } else {
    for (const DepthwiseAxis axis : {DepthwiseAxis::time, DepthwiseAxis::channel, DepthwiseAxis::none}) {
      if (take(device, axis, params) == nullptr) return;
    }
  }
}

std::int64_t depthwise_alignment(const DepthwiseParams& params) {
  switch (params.kernel) {
    case DepthwiseKernel::time:
    case DepthwiseKernel::time_many:
    case DepthwiseKernel::channel:
    case DepthwiseKernel::channel_many:
      return kPackBytes;
    default:
      return 1;
  }
}

}  // namespace relayout::plan
