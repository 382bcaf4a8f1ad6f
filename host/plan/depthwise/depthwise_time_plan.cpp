#include "host/plan/depthwise/depthwise_time_plan.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include "core/integer_math.hpp"
#include "core/sector.hpp"
#include "host/plan/depthwise/depthwise_shape.hpp"
#include "host/plan/device_rates.hpp"

namespace relayout::plan {
namespace {

/// More than 8 taps: tiles that a thread takes one after another, so that its weights are fetched once.
constexpr int kMaxTimeTiles = 16, kMaxMatrixTiles = 64;
/// Many taps: tiles inside rows have code of their own where a multiprocessor has so many tiles, in 16 bits
/// of rows of so many samples. Elsewhere that takes longer than it saves: warps at the ends of rows wait for
/// code that the warps beside them do not run.
constexpr std::int64_t kTilesApart = 1024, kSamplesApart = 8192;
constexpr const char* kNotTime = "time is not the fast axis of both sides";

/// Packs of a row, cut from a sector of the output in memory on.
std::int64_t packs_of(const DepthwiseParams& p) {
  const std::int64_t pack = pack_of(p);
  return divide_up(p.length + time_slack(p), pack);
}

/// What a thread along time does once takes as long as one of its packs, before matrix units begin as long as
/// three of their tiles.
constexpr double kTimeStart = 1, kMatrixStart = 3;
/// So many blocks of kDepthwiseThreads keep a multiprocessor busy. Of more than kManyBlocks it does not
/// matter which one has the last.
constexpr double kTimeBlocks = 2, kManyBlocks = 32;
/// Rows of few lanes: their accesses meet few neighbouring bytes of many rows.
constexpr double kFewTimeLanes = 0.8, kFewManyTapsLanes = 0.3;

/// How long blocks along time take, `lanes` of whose threads share a row and take `run` of its `units` each:
/// the time of a block, times the blocks of the multiprocessor that has most. Few of them do not keep it
/// busy, and take as long as some more would.
double shape_cost(const DeviceProperties& device, const DepthwiseParams& p, std::int64_t units, int run,
                  int lanes, double few_lanes, double start = kTimeStart) {
  const int threads = threads_of(p.kernel);
  const std::int64_t blocks =
      p.batch * divide_up(p.channels, threads / lanes) * divide_up(units, std::int64_t{lanes} * run);
  const double each = static_cast<double>(blocks) / device.multiprocessors,
               size = static_cast<double>(threads) / kDepthwiseThreads;
  const double most = each * size > kManyBlocks ? each + 0.5 : std::ceil(each);
  return (run + start) * (1 + few_lanes / lanes) * std::hypot(most * size, kTimeBlocks);
}

/// Gives the plan the lanes and the run of least cost among those that are offered.
class LeastCost {
 public:
  explicit LeastCost(DepthwiseParams& params) : params_(params) {}

  void offer(int lanes, int run, double cost) {
    if (cost >= least_) return;
    least_ = cost;
    params_.lanes = lanes;
    params_.run = run;
  }

 private:
  DepthwiseParams& params_;
  double least_ = std::numeric_limits<double>::infinity();
};

}  // namespace

const char* plan_depthwise_time(const DeviceProperties& device, DepthwiseParams& p) {
  if (p.ids != nullptr) return kIds;
  if (p.in_time != 1 || p.out_time != 1) return kNotTime;
  if (p.taps > kUnrolledTaps) return kUnrolls;
  p.kernel = DepthwiseKernel::time;
  const std::int64_t packs = packs_of(p);
  LeastCost least(p);
  for (int run = kMaxTimePacks; run > 0; --run) {
    const int most =
        std::max({covering(divide_up(packs, run), kDepthwiseWalkThreads), covering(packs, 8), kTimeEdge});
    for (int lanes = most; lanes >= std::max(most / 8, std::min(most, 8)); lanes /= 2) {
      // Packs before a run are loaded twice.
      const double loads = 1 + static_cast<double>(kTimeEdge) / (lanes * run);
      least.offer(lanes, run, loads * shape_cost(device, p, packs, run, lanes, kFewTimeLanes));
    }
  }
  const std::int64_t shared_packs =
      kDepthwiseWalkThreads * p.run + kDepthwiseWalkThreads / p.lanes * (kTimeEdge + 1);
  p.shared_bytes = shared_packs * kVectorBytes;
  return nullptr;
}

const char* plan_depthwise_time_many(const DeviceProperties& device, DepthwiseParams& p) {
  if (p.ids != nullptr) return kIds;
  if (p.in_time != 1 || p.out_time != 1) return kNotTime;
  if (p.taps <= kUnrolledTaps) return kManyTaps;
  if (p.taps > kMaxVectorTaps) return kTooManyTaps;
  p.kernel = DepthwiseKernel::time_many;
  const std::int64_t units = divide_up(packs_of(p), std::int64_t{kManyTapsPacks});
  LeastCost least(p);
  for (int run = kMaxTimeTiles; run > 0; run /= 2) {
    int lanes = covering(divide_up(units, run), kDepthwiseWalkThreads);
    // One row of weights for each of the block's channels.
    while (kDepthwiseWalkThreads / lanes * (p.taps + 8) * kWeightBytesEach > kWeightBytes) lanes *= 2;
    least.offer(lanes, run, shape_cost(device, p, units, run, lanes, kFewManyTapsLanes));
  }
  p.inside_apart = p.batch * p.channels * units >= kTilesApart * device.multiprocessors &&
                   (bytes_of(p.type) > 2 || p.length >= kSamplesApart);
  p.shared_bytes = kDepthwiseWalkThreads / p.lanes * round_up(p.taps, pack_of(p)) * kWeightBytesEach;
  return nullptr;
}

const char* plan_depthwise_time_matrix(const DeviceProperties& device, DepthwiseParams& p) {
  if (p.in_time != 1 || p.out_time != 1) return kNotTime;
  if (const char* const refusal = refusal_of_matrix_units(device, p)) return refusal;
  p.kernel = DepthwiseKernel::time_matrix;
  p.warp_size = device.warp_size;
  // A lane takes so many outputs of a tile.
  const std::int64_t units = divide_up(p.length + time_slack(p), kMatrixTile / p.warp_size);
  LeastCost least(p);
  for (int run = kMaxMatrixTiles; run > 0; run /= 2) {
    const int lanes = std::max(p.warp_size, covering(divide_up(units, run), kDepthwiseWalkThreads));
    least.offer(lanes, run, shape_cost(device, p, units, run, lanes, 0, kMatrixStart));
  }
  p.shared_bytes = matrix_shared_bytes(p.taps, p.lanes, p.warp_size);
  return nullptr;
}

}  // namespace relayout::plan
