// The estimate by which plans for tiles are compared. Its constants were fitted to the times of 1630 plans
// for the benchmark's permutations on an H200 (docs/permute.md).
#include <algorithm>
#include <cstdlib>
#include <numeric>

#include "host/plan/tile_builder.hpp"
#include "host/plan/tile_rules.hpp"

namespace relayout::plan {
namespace {

/// Bytes lost per run.
constexpr double kLostPerRead = 23, kLostPerWrite = 13;
/// More of them where output runs start anywhere; in proportion, where they start on some boundary.
constexpr double kLostPerCutLine = 14;
constexpr std::int64_t kLineBytes = 64;
/// The share that is left when a tile uses few of its threads.
constexpr double kLeastFull = 0.825;
/// Fewer blocks at a time hide less of each other's waits.
constexpr double kLargeBlocks = 0.99;
/// More instructions an element, and stores of single elements.
constexpr double kUnaligned = 0.79, kMixed = 0.93, kMixedByElement = 0.7;
/// The speed of a device of which nearly no multiprocessor has work.
constexpr double kIdle = 0.2;

std::int64_t divide_up(std::int64_t value, std::int64_t by) { return (value + by - 1) / by; }

/// The largest power of two, up to a line, that divides the addresses of all output runs of all tiles, in
/// bytes from a boundary.
std::int64_t run_alignment(const LoopNest& nest, const TileTarget& target, const TilePlan& plan) {
  std::int64_t alignment = std::gcd(kLineBytes, std::int64_t{target.out_offset}), run = 1;
  for (int k = 0; k < plan.write.count; ++k) {
    const int axis = plan.write.axes[k];
    const std::int64_t stride = std::abs(nest.strides[0][axis]) * target.out_bytes;
    const bool follows = run < plan.write.gapless_elements;
    if (!follows) alignment = std::gcd(alignment, stride);
    run *= plan.extent[axis];
  }
  for (int axis = 0; axis < nest.rank(); ++axis) {
    if (plan.step[axis] < nest.extents[axis])
      alignment = std::gcd(alignment, std::abs(nest.strides[0][axis]) * target.out_bytes * plan.step[axis]);
  }
  return alignment;
}

}  // namespace

double tile_score(const LoopNest& nest, const TileTarget& target, const TilePlan& plan) {
  double whole = 1, tiles = 1;
  for (int axis = 0; axis < nest.rank(); ++axis) {
    const std::int64_t count = divide_up(nest.extents[axis], plan.step[axis]);
    whole *= static_cast<double>(nest.extents[axis]) / static_cast<double>(count * plan.step[axis]);
    tiles *= static_cast<double>(count);
  }
  const auto rate = [](std::int64_t bytes, double lost) {
    return static_cast<double>(bytes) / (static_cast<double>(bytes) + lost);
  };
  const std::int64_t alignment = run_alignment(nest, target, plan);
  const double cut = 1.0 - static_cast<double>(alignment) / kLineBytes;
  const double full = static_cast<double>(elements_of(plan.extent, nest.rank()) *
                                          std::max(target.in_bytes, target.out_bytes)) /
                      (plan.threads * kTileBytesPerThread);
  const double busy = std::min(1.0, tiles / static_cast<double>(2 * target.multiprocessors));
  double work = plan.unaligned ? kUnaligned : 1.0;
  if (plan.assembly == TileWrite::mixed) work *= alignment < 16 ? kMixedByElement : kMixed;
  if (plan.threads > 256) work *= kLargeBlocks;
  return whole * work * (kLeastFull + (1 - kLeastFull) * full) * (kIdle + (1 - kIdle) * busy) *
         rate(plan.read.gapless_elements * target.in_bytes, kLostPerRead) *
         rate(plan.write.gapless_elements * target.out_bytes, kLostPerWrite + kLostPerCutLine * cut);
}

}  // namespace relayout::plan
