// The estimate by which plans for tiles are compared. Its numbers: tile_tuning.cpp.
#include <algorithm>
#include <cmath>

#include "core/integer_math.hpp"
#include "core/tile_layout.hpp"
#include "host/plan/copy/tile_builder.hpp"

namespace relayout::plan {
namespace {

/// The largest power of two, up to a line, that divides the addresses of all output runs of all tiles, in
/// bytes from a boundary.
std::int64_t run_alignment(const LoopNest& nest, const TileTarget& target, const TilePlan& plan) {
  // The lowest bit of all these together.
  std::int64_t addresses = target.tuning->line_bytes | target.out_offset, run = 1;
  for (int k = 0; k < plan.write.count; ++k) {
    const int axis = plan.write.axes[k];
    const bool follows = run < plan.write.gapless_elements;
    if (!follows) addresses |= nest.strides[0][axis] * target.out_bytes;
    run *= plan.extent[axis];
  }
  for (int axis = 0; axis < nest.rank(); ++axis) {
    if (plan.step[axis] < nest.extents[axis])
      addresses |= nest.strides[0][axis] * target.out_bytes * plan.step[axis];
  }
  return addresses & -addresses;
}

/// The share that a run of so many elements reaches.
double rate(std::int64_t elements, int element_bytes, double lost) {
  return run_share(static_cast<double>(elements * element_bytes), lost);
}

/// Which number of TileTuning::scattered is for elements of so many bytes.
int size_class(int bytes) { return bytes == 1 ? 0 : bytes == 2 ? 1 : bytes == 4 ? 2 : 3; }

/// What is left where rows of the input start anywhere.
double unaligned_share(const TileTarget& target) {
  const TileTuning& tuning = *target.tuning;
  const bool words = target.in_bytes == target.out_bytes && target.in_bytes >= 4;
  return words ? tuning.unaligned_words : target.in_bytes == 1 ? tuning.unaligned_bytes : tuning.unaligned;
}

/// What is left of a share that instructions leave on an H200.
double on_device(const TileTarget& target, double share) {
  return 1 / (1 + (1 / share - 1) * target.memory_ratio);
}

/// What is left where tiles store both ends of output runs in parts of vectors
/// (kernels/copy/tile_write_unaligned.hpp).
double ends_share(const LoopNest& nest, const TileTarget& target, const TilePlan& plan) {
  if (!is_unaligned(plan.assembly)) return 1;
  const TileTuning& tuning = *target.tuning;
  const double lost_behind = target.groups ? tuning.lost_behind : tuning.cast_lost_behind;
  double run = static_cast<double>(plan.write.run_elements);
  if (plan.unaligned_axis >= 0)
    run *= static_cast<double>(nest.extents[plan.unaligned_axis]) / plan.extent[plan.unaligned_axis];
  const int boundary = kTileRunAlignment / target.out_bytes, vector = 16 / target.out_bytes;
  const double front = std::min(run, (boundary - 1) / 2.0), behind = std::min(run, (vector - 1) / 2.0);
  return run / (run + tuning.lost_in_front * front + lost_behind * behind);
}

/// What is left with blocks of so many threads.
double block_share(const TileTarget& target, int threads) {
  return threads > target.tuning->usual_threads && !target.large ? target.tuning->large_blocks : 1;
}

/// What the kernel's instructions leave, beside those at the ends of runs.
double work_share(const TileTarget& target, const TilePlan& plan) {
  const TileTuning& tuning = *target.tuning;
  double share = plan.unaligned ? unaligned_share(target) : 1.0;
  if (plan.assembly == Assembly::scattered) {
    const double places = static_cast<double>(plan.period) / static_cast<double>(plan.elements);
    share *= tuning.scattered[size_class(target.out_bytes)] / (1 + tuning.lost_per_place * places);
    if (!target.groups) share *= tuning.scattered_casts;
  }
  if (plan.row_group == 4) share *= tuning.byte_groups;
  return share * block_share(target, plan.threads);
}

/// The most that blocks reach whose threads move so few bytes: loads, a barrier and stores come one after the
/// other, which takes the same time for few bytes.
double waiting_share(const TileTarget& target, const TilePlan& plan) {
  const std::int64_t bytes = plan.elements * (target.in_bytes + target.out_bytes);
  return static_cast<double>(bytes) / (plan.threads * target.tuning->bytes_while_waiting);
}

/// What is left when a block's threads move so few elements.
double fill(const TileTarget& target, std::int64_t elements, int threads) {
  const double full = static_cast<double>(elements * std::max(target.in_bytes, target.out_bytes)) /
                      (threads * kTileBytesPerThread);
  return target.tuning->least_full + (1 - target.tuning->least_full) * full;
}

}  // namespace

double tile_score(const LoopNest& nest, const TileTarget& target, const TilePlan& plan) {
  const TileTuning& tuning = *target.tuning;
  double whole = 1, tiles = 1;
  for (int axis = 0; axis < nest.rank(); ++axis) {
    const std::int64_t count = steps_along(nest.extents[axis], plan.step[axis]);
    const std::int64_t covered = count * plan.step[axis];
    if (covered != nest.extents[axis])
      whole *= static_cast<double>(nest.extents[axis]) / static_cast<double>(covered);
    tiles *= static_cast<double>(count);
  }
  const std::int64_t alignment = run_alignment(nest, target, plan);
  const double cut = 1.0 - static_cast<double>(alignment) / static_cast<double>(tuning.line_bytes);
  const double work = ends_share(nest, target, plan) * work_share(target, plan);
  const double score =
      whole * on_device(target, work) * fill(target, plan.elements, plan.threads) *
      busy_share(tuning.idle, static_cast<double>(tuning.busy_tiles * target.multiprocessors), tiles) *
      rate(plan.read.gapless_elements, target.in_bytes, tuning.lost_per_read) *
      rate(plan.write.gapless_elements, target.out_bytes,
           tuning.lost_per_write + tuning.lost_per_cut_line * cut);
  return std::min(score, waiting_share(target, plan));
}

/// The memory and the shared memory work at the same time, and wait for each other: the root of the sum of
/// the squares of what each would take alone.
double score_with_passes(const LoopNest& nest, const TileTarget& target, const TilePlan& plan) {
  double tiles = 1;
  for (int axis = 0; axis < nest.rank(); ++axis)
    tiles *= static_cast<double>(steps_along(nest.extents[axis], plan.step[axis]));
  const TilePasses read = tile_passes(nest, target, plan);
  const double bytes = static_cast<double>(nest.elements()) * (target.in_bytes + target.out_bytes),
               passes = tiles * read.passes * static_cast<double>(read.accesses),
               lost = passes * target.bytes_per_pass / bytes;
  return plan.score / std::sqrt(1 + plan.score * plan.score * lost * lost);
}

double score_limit(const TileTarget& target, std::int64_t elements, int threads, const TileRuns& runs) {
  const TileTuning& tuning = *target.tuning;
  constexpr double kRounded = 1 + 1e-9;  // the estimate's own roundings
  const double work = (runs.unaligned ? unaligned_share(target) : 1.0) * block_share(target, threads);
  return kRounded * on_device(target, work) * fill(target, elements, threads) *
         rate(runs.read, target.in_bytes, tuning.lost_per_read) *
         rate(runs.write, target.out_bytes, tuning.lost_per_write);
}

}  // namespace relayout::plan
