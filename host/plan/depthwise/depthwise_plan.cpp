#include "host/plan/depthwise/depthwise_plan.hpp"

#include <algorithm>
#include <array>
#include <cstdlib>
#include <utility>

#include "core/bytes.hpp"
#include "core/integer_math.hpp"
#include "core/sector.hpp"
#include "host/plan/depthwise/depthwise_cost.hpp"
#include "host/plan/depthwise/depthwise_shape.hpp"
#include "host/plan/depthwise/depthwise_tile_plan.hpp"
#include "host/plan/depthwise/depthwise_time_plan.hpp"

namespace relayout::plan {
namespace {

/// Along channels: samples walked per thread, where taps-1 more are read again (from the caches). With as
/// many bytes for each type in the kernel of words.
constexpr int kMaxSamples = 24, kMaxSampleBytes = 64, kMaxAlignedSamples = 16;
constexpr std::int64_t kShortRunBytes = 128;
/// More taps: tiles that a thread takes one after another, so that its weights are fetched once.
constexpr int kMaxChannelTiles = 8;
/// Threads of the kernels of aligned packs that a multiprocessor should see, about eight times what it holds
/// at once: the last ones to finish leave it idle for a small part of the time.
constexpr std::int64_t kThreadsPerMultiprocessor = 5120;
/// Packs and couples of channels side by side; fewer lanes only for short rows.
constexpr int kMaxCoupleLanes = 32, kMaxPackLanes = 16;
constexpr int kScalarRun = 4;
/// What the walk along channels counts and multiplies in 32 bits.
constexpr std::int64_t kMaxUnits = std::int64_t{1} << 30, kMaxPitch = std::int64_t{1} << 26;

/// The longest run of a thread, `most` halved down to `least`, with which enough threads share `units` of
/// work in each of `rows`.
int longest_run(const DeviceProperties& device, std::int64_t rows, std::int64_t units, int most,
                int least = 1) {
  int run = most;
  while (run > least && rows * divide_up(units, run) < kThreadsPerMultiprocessor * device.multiprocessors / 2)
    run /= 2;
  return run;
}

bool channel_rows_aligned(const DepthwiseParams& p, std::int64_t boundary) {
  const std::int64_t bytes = bytes_of(p.type);
  return rows_aligned(p.in, boundary, bytes, {p.in_batch, p.in_time}) &&
         rows_aligned(p.out, boundary, bytes, {p.out_batch, p.out_time});
}

constexpr const char* kNotChannels = "channels are not the fast axis of both sides";
constexpr const char* kUnalignedChannels = "rows along channels do not lie on 16-byte boundaries";
constexpr const char* kFewChannels = "there are fewer channels than a 16-byte pack holds";

const char* plan_channel(const DeviceProperties& device, DepthwiseParams& p) {
  const std::int64_t bytes = bytes_of(p.type);
  if (p.ids != nullptr) return kIds;
  if (p.channels > 1 && (p.in_channel != 1 || p.out_channel != 1)) return kNotChannels;
  if (p.taps > kUnrolledTaps) return kUnrolls;
  if (std::abs(p.in_time) > kMaxPitch || std::abs(p.out_time) > kMaxPitch)
    return "its samples lie too far from each other for offsets of 32 bits";
  if (divide_up(p.length, kDepthwiseStep) * p.channels >= kMaxUnits)
    return "a batch has more threads than 32 bits count";
  p.kernel = DepthwiseKernel::channel;
  p.shared_bytes = 0;
  const std::int64_t per_word = kWordBytes / bytes;
  p.width = static_cast<std::int32_t>(
      p.channels % per_word == 0 && channel_rows_aligned(p, kWordBytes) ? per_word : 1);
  Cheapest cheapest(device);
  int most = p.width == per_word ? static_cast<int>(kMaxSampleBytes / bytes) : kMaxSamples;
  // Where lanes copy 16 bytes.
  if (p.taps <= kShortRunTaps && p.width == per_word && p.channels * bytes % kShortRunBytes == 0 &&
      rows_aligned(p.in, kVectorBytes, bytes, {p.in_batch, p.in_time}) &&
      (!has_lead(p) || channel_rows_aligned(p, kVectorBytes)))
    most = kMaxShortRun;
  for (p.run = kDepthwiseStep; p.run <= most; p.run += kDepthwiseStep) cheapest.offer(p);
  p = *cheapest.best();
  return nullptr;
}

const char* plan_channel_aligned(const DeviceProperties& device, DepthwiseParams& p) {
  const std::int64_t pack = pack_of(p);
  if (p.ids != nullptr) return kIds;
  if (p.in_channel != 1 || p.out_channel != 1) return kNotChannels;
  if (p.taps > kUnrolledTaps) return kUnrolls;
  if (p.channels < pack) return kFewChannels;
  if (!channel_rows_aligned(p, kVectorBytes)) return kUnalignedChannels;
  p.kernel = DepthwiseKernel::channel_aligned;
  const std::int64_t groups = divide_up(p.channels, pack);
  p.lanes = covering(groups, kMaxPackLanes);
  p.run = longest_run(device, p.batch * groups, p.length, kMaxAlignedSamples, kDepthwiseStep);
  p.shared_bytes = p.lanes * pack * (p.taps + 1) * kWeightBytesEach;
  return nullptr;
}

/// Lanes along channels: few that idle, in rows as long as may be.
int couple_lanes(std::int64_t groups) {
  const int most = covering(groups, kMaxCoupleLanes);
  int best = most;
  double least = 0;
  for (int lanes = most; lanes >= std::min(most, 8); lanes /= 2) {
    const double taken = static_cast<double>(round_up(groups, lanes)) * (1 + 0.6 / lanes);
    if (least != 0 && taken >= least) continue;
    least = taken;
    best = lanes;
  }
  return best;
}

const char* plan_channel_many(const DeviceProperties& device, DepthwiseParams& p) {
  const std::int64_t bytes = bytes_of(p.type);
  if (p.ids != nullptr) return kIds;
  if (p.in_channel != 1 || p.out_channel != 1) return kNotChannels;
  if (p.taps <= kUnrolledTaps) return kManyTaps;
  if (p.taps > kMaxVectorTaps) return kTooManyTaps;
  p.kernel = DepthwiseKernel::channel_many;
  constexpr std::int64_t kOwn = kManyTapsChannels;
  p.width = p.channels % kOwn == 0 && channel_rows_aligned(p, kOwn * bytes) ? kManyTapsChannels : 1;
  const std::int64_t groups = divide_up(p.channels, kOwn);
  p.lanes = couple_lanes(groups);
  const auto weight_bytes = [&] { return (p.lanes * kOwn + kManyTapsPad) * (p.taps + 1) * kWeightBytesEach; };
  while (p.lanes > 1 && weight_bytes() > kWeightBytes) p.lanes /= 2;
  p.run =
      longest_run(device, p.batch * groups, divide_up(p.length, many_taps_times(p.width)), kMaxChannelTiles);
  p.shared_bytes = weight_bytes();
  return nullptr;
}

const char* plan_scalar(const DeviceProperties&, DepthwiseParams& p) {
  p.kernel = DepthwiseKernel::scalar;
  p.lanes_along_time = p.channels <= 1 || (p.length > 1 && std::abs(p.out_time) <= std::abs(p.out_channel));
  p.run = kScalarRun;
  p.lanes = p.lanes_along_time ? covering(divide_up(p.length, kScalarRun), kDepthwiseThreads)
                               : covering(p.channels, kDepthwiseThreads);
  p.shared_bytes = 0;
  return nullptr;
}

/// Fills the plan's part with a kernel's best shape; returns what is in the way of the kernel.
using Planner = const char* (*)(const DeviceProperties&, DepthwiseParams&);
constexpr std::array<std::pair<DepthwiseKernel, Planner>, 10> kPlanners{
    {{DepthwiseKernel::time, plan_depthwise_time},
     {DepthwiseKernel::time_many, plan_depthwise_time_many},
     {DepthwiseKernel::time_matrix, plan_depthwise_time_matrix},
     {DepthwiseKernel::channel, plan_channel},
     {DepthwiseKernel::channel_aligned, plan_channel_aligned},
     {DepthwiseKernel::channel_many, plan_channel_many},
     {DepthwiseKernel::turn, plan_depthwise_turn},
     {DepthwiseKernel::tile, plan_depthwise_tile},
     {DepthwiseKernel::tile_matrix, plan_depthwise_tile_matrix},
     {DepthwiseKernel::scalar, plan_scalar}}};

/// Whether update_words takes an update: whole words of channels, of a state that is a row of memory for each
/// channel, one behind the other, or for each column.
bool is_update_of_words(const DepthwiseParams& p) {
  if (p.state_length < 1 || p.state_length > kMaxStateColumns) return false;
  const std::int64_t bytes = bytes_of(p.type);
  if (bytes == kWordBytes) return true;
  if (p.channels % 2 != 0) return false;
  if (p.state_time == 1)
    return p.state_channel == p.state_length && rows_aligned(p.state, kWordBytes, bytes, {p.state_batch});
  return p.state_channel == 1 && rows_aligned(p.state, kWordBytes, bytes, {p.state_batch, p.state_time});
}

}  // namespace

std::vector<DepthwiseCandidate> depthwise_candidates(const DeviceProperties& device,
                                                     const DepthwiseParams& problem) {
  std::vector<DepthwiseCandidate> candidates;
  for (const auto& [kernel, planner] : kPlanners) {
    DepthwiseCandidate candidate{problem};
    candidate.refused = planner(device, candidate.params);
    candidate.params.kernel = kernel;
    if (candidate.refused == nullptr)
      candidate.microseconds = depthwise_microseconds(device, candidate.params);
    candidates.push_back(candidate);
  }
  return candidates;
}

void plan_depthwise(const DeviceProperties& device, bool native, DepthwiseParams& params) {
  const bool has_outputs = params.batch > 0 && params.channels > 0 && params.length > 0;
  if (!has_outputs && (params.update || params.state == nullptr)) {
    params.kernel = DepthwiseKernel::nothing;
  } else if (native) {
    params.kernel = DepthwiseKernel::native;
  } else if (params.update) {
    params.kernel = is_update_of_words(params) ? DepthwiseKernel::update_words : DepthwiseKernel::update;
  } else if (!has_outputs) {
    plan_scalar(device, params);  // the final state alone
  } else {
    Cheapest cheapest(device);
    for (const auto& [kernel, planner] : kPlanners) {
      DepthwiseParams candidate = params;
      if (planner(device, candidate) == nullptr) cheapest.offer(candidate);
    }
    params = *cheapest.best();
  }
}

DepthwiseAlignment depthwise_alignment(const DepthwiseParams& params) {
  const std::int64_t own = params.width * bytes_of(params.type);
  switch (params.kernel) {
    case DepthwiseKernel::channel_aligned:
      return {kVectorBytes, kVectorBytes};
    case DepthwiseKernel::channel:
    case DepthwiseKernel::channel_many:
      return {own, own};
    case DepthwiseKernel::turn:
      return {kWordBytes, 1};
    case DepthwiseKernel::tile_matrix:
      return {params.in_side.width * bytes_of(params.type), params.out_side.width * bytes_of(params.type)};
    default:
      return {};
  }
}

}  // namespace relayout::plan
