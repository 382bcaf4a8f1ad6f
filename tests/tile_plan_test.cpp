// Plans for tiles: their axes, how the output is assembled, and that they keep to the limits of a device.
#include "host/plan/copy/tile_plan.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <numeric>
#include <set>
#include <utility>
#include <vector>

#include "core/tile_layout.hpp"
#include "tests/support/devices.hpp"
#include "tests/support/random.hpp"

namespace relayout::plan {
namespace {

char memory;  // only addresses are computed

/// A contiguous [shape] permuted by `axes` into a contiguous output.
LoopNest nest_of(const Dims& shape, const std::vector<int>& axes) {
  const TensorView in = TensorView(&memory, DType::u8, shape).permuted(axes);
  return normalise(make_nest(TensorView(&memory, DType::u8, in.shape()), {in}));
}

TileTarget target_of(int bytes, std::int64_t shared_bytes = 48 * 1024) {
  TileTarget target;
  target.in_bytes = target.out_bytes = bytes;
  target.shared_bytes = shared_bytes;
  target.multiprocessors = 132;
  return target;
}

TilePlan plan_of(const Dims& shape, const std::vector<int>& axes, int bytes) {
  return choose_tile(nest_of(shape, axes), target_of(bytes));
}

TEST(TilePlan, AlignedTransposePutsElementsTogether) {
  const TilePlan plan = plan_of({8192, 8192}, {1, 0}, 4);
  ASSERT_TRUE(plan.valid);
  EXPECT_EQ(plan.assembly, Assembly::elements);
  EXPECT_FALSE(plan.unaligned);
  EXPECT_GE(plan.read.run_elements * 4, 256);
  EXPECT_GE(plan.write.run_elements * 4, 128);
}

TEST(TilePlan, ShortElementsGoInWords) {
  for (const int bytes : {1, 2}) {
    const TilePlan plan = plan_of({8192, 8192}, {1, 0}, bytes);
    ASSERT_TRUE(plan.valid);
    EXPECT_EQ(plan.assembly, Assembly::words);
    EXPECT_EQ(plan.grouped, 4 / bytes);
  }
}

TEST(TilePlan, AKeptFastestAxisMovesVectors) {
  const TilePlan plan = plan_of({64, 384, 2144}, {1, 0, 2}, 4);
  ASSERT_TRUE(plan.valid);
  EXPECT_EQ(plan.assembly, Assembly::vectors);
}

TEST(TilePlan, OddPitchesAreSkewed) {
  const TilePlan plan = plan_of({12345, 6789}, {1, 0}, 4);
  ASSERT_TRUE(plan.valid);
  EXPECT_EQ(plan.assembly, Assembly::unaligned_rows);
  EXPECT_TRUE(plan.unaligned);
  ASSERT_EQ(plan.unaligned_axis, 1);  // the output's fastest
  EXPECT_GE(plan.extent[1], plan.step[1] + 8) << "a sector of 32 bytes more than the step";
  EXPECT_EQ(plan.step[1] % 8, 0);
}

TEST(TilePlan, UnalignedRunsOfShortElementsAreWordsOfSeveralRows) {
  for (const int bytes : {1, 2}) {
    const TilePlan plan = plan_of({12345, 6789}, {1, 0}, bytes);
    ASSERT_TRUE(plan.valid);
    EXPECT_EQ(plan.assembly, Assembly::unaligned_groups);
    EXPECT_EQ(plan.row_group, 4 / bytes);
  }
}

TEST(TilePlan, ShortAxesAreMergedIntoRuns) {
  const TilePlan plan = plan_of({16, 20, 14, 18, 22, 24}, {3, 0, 5, 1, 4, 2}, 4);
  ASSERT_TRUE(plan.valid);
  EXPECT_GE(plan.read.gapless_elements * 4, 256);
  EXPECT_GE(plan.write.gapless_elements * 4, 256);
}

/// A small tile may have the fewest conflicts of banks, but its threads would wait for most of their time.
TEST(TilePlan, ThreadsHaveMoreToDoThanToWait) {
  for (const int in_bytes : {1, 2, 4}) {
    for (const int out_bytes : {1, 2, 4}) {
      const TileTarget target = tile_target(DeviceProperties::h200(), in_bytes, out_bytes);
      for (const std::int64_t rows : {4, 5, 8, 12, 16, 32}) {
        const TilePlan plan = choose_tile(nest_of({1572864, rows}, {1, 0}), target);
        ASSERT_TRUE(plan.valid);
        EXPECT_GE(plan.elements * (in_bytes + out_bytes), 32 * plan.threads) << rows << " rows";
      }
    }
  }
}

TEST(TilePlan, NoRunNoPlan) {
  const TensorView out(&memory, DType::f32, {64, 64});
  const TensorView strided(&memory, DType::f32, {64, 64}, {3, 192});
  EXPECT_FALSE(choose_tile(normalise(make_nest(out, {strided})), target_of(4)).valid);
  EXPECT_FALSE(choose_tile(normalise(make_nest(TensorView(&memory, DType::f32, {}),
                                               {TensorView(&memory, DType::f32, {})})),
                           target_of(4))
                   .valid);
}

TEST(TilePlan, FarRowsDoNotOverflow) {
  // A row of the tile lies 2^30 elements from the next: few of them fit 32-bit offsets.
  const TensorView in(&memory, DType::u8, {512, 64}, {1, std::int64_t{1} << 30});
  const TensorView out(&memory, DType::u8, {512, 64});
  const TilePlan plan = choose_tile(normalise(make_nest(out, {in})), target_of(1));
  if (plan.valid) {
    EXPECT_LT(plan.extent[1], 2);
  }
}

/// Checks the things that the kernel relies on, for every plan, whatever the nest.
void expect_sound(const LoopNest& nest, const TileTarget& target, const TilePlan& plan) {
  const std::int64_t capacity =
      plan.threads * kTileBytesPerThread / std::max(target.in_bytes, target.out_bytes);
  std::int64_t elements = 1;
  int cuts = 0;
  for (int axis = 0; axis < nest.rank(); ++axis) {
    ASSERT_GE(plan.step[axis], 1);
    ASSERT_LE(plan.extent[axis], nest.extents[axis]);
    ASSERT_TRUE(plan.extent[axis] == plan.step[axis] || axis == plan.unaligned_axis);
    elements *= plan.extent[axis];
    const bool cut = nest.extents[axis] % plan.step[axis] != 0 || axis == plan.unaligned_axis;
    ASSERT_EQ(cut, axis == plan.tail_axes[0] || axis == plan.tail_axes[1]) << "axis " << axis;
    cuts += cut ? 1 : 0;
  }
  ASSERT_LE(cuts, 2);
  ASSERT_LE(elements, capacity);
  ASSERT_EQ(plan.rows * plan.read.run_elements, elements);
  for (const auto& [order, strides] : {std::pair<const TileOrder&, const Dims&>{plan.read, nest.strides[1]},
                                       {plan.write, nest.strides[0]}}) {
    std::int64_t run = 1, all = 1;
    for (int k = 0; k < order.count; ++k) {
      const int axis = order.axes[k];
      if (k < order.run) {
        ASSERT_EQ(strides[axis], run) << "a run has no gaps";
        run *= plan.extent[axis];
      }
      all *= plan.extent[axis];
    }
    ASSERT_EQ(run, order.run_elements);
    ASSERT_EQ(all, elements) << "both orders hold all axes of the tile";
  }
  const std::int64_t vector = 16 / target.out_bytes;
  if (plan.assembly == Assembly::words || plan.assembly == Assembly::vectors ||
      plan.assembly == Assembly::elements) {
    ASSERT_EQ(target.out_offset % 16, 0);
    ASSERT_EQ(plan.write.run_elements % vector, 0) << "whole vectors of the output";
  }
  if (!plan.unaligned) {
    ASSERT_EQ(plan.read.run_elements % (16 / target.in_bytes), 0);
    ASSERT_EQ(target.in_offset % 16, 0);
  }
}

TEST(TilePlan, DeviceClassesHaveNumbersOfTheirOwn) {
  EXPECT_EQ(tile_target(DeviceProperties::h200(), 4, 2).tuning, &kTuningOf32Lanes);
  EXPECT_EQ(tile_target(DeviceProperties::mi300x(), 4, 2).tuning, &kTuningOf64Lanes);
  if (test::has_emulated_devices()) {
    EXPECT_EQ(&tile_tuning(Device::emulated(32).properties()), &kTuningOf32Lanes);
    EXPECT_EQ(&tile_tuning(Device::emulated(64).properties()), &kTuningOf64Lanes);
  }
  // Output runs every 192 bytes start on lines of 64 bytes, and on every second line of 128.
  const auto score = [](const DeviceProperties& device, std::int64_t pitch) {
    TensorView in(&memory, DType::f32, {4096, 32}, {1, 4096}),
        out(&memory, DType::f32, {4096, 32}, {pitch, 1});
    TileTarget target = tile_target(device, 4, 4);
    target.multiprocessors = 132;
    return choose_tile(normalise(make_nest(out, {in})), target).score;
  };
  EXPECT_EQ(score(DeviceProperties::h200(), 48), score(DeviceProperties::h200(), 64));
  EXPECT_LT(score(DeviceProperties::mi300x(), 48), score(DeviceProperties::mi300x(), 64));
}

/// The search follows the numbers of its target.
TEST(TilePlan, TuningIsData) {
  TileTuning small = kTuningOf32Lanes, large = kTuningOf32Lanes;
  small.most_threads = small.usual_threads;
  small.longest_run = 128;
  small.bytes_while_waiting = 1;  // nothing but the shares below bounds the estimate
  large.large_blocks = 1;
  TileTarget target = target_of(4);
  const LoopNest nest = nest_of({8192, 8192}, {1, 0});
  EXPECT_EQ(choose_tile(nest, target).threads, 256);
  target.tuning = &large;
  EXPECT_EQ(choose_tile(nest, target).threads, 512);
  target.tuning = &small;
  for (const TilePlan& plan : tile_candidates(nest, target)) {
    EXPECT_EQ(plan.threads, 256);
    EXPECT_LE(plan.read.run_elements * 4, 128);
    EXPECT_LE(plan.write.run_elements * 4, 128);
  }
  const LoopNest odd = nest_of({12345, 6789}, {1, 0});
  for (double& share : small.scattered) share = 0.01;
  EXPECT_NE(choose_tile(odd, target).assembly, Assembly::scattered);
  small.unaligned_words = 0.5;
  const double half = choose_tile(odd, target).score;
  small.unaligned_words = 1;
  const double whole = choose_tile(odd, target).score;  // shared memory takes the same time as before
  EXPECT_GT(whole, 1.9 * half);
  EXPECT_LT(whole, 2 * half);
}

/// What was left to the gather kernel once: runs of odd lengths that start anywhere.
TEST(TilePlan, RunsOnBothSidesAlwaysHaveTiles) {
  using test::Random;
  for (const std::uint64_t seed : test::random_seeds(400)) {
    SCOPED_TRACE(test::reproduce(seed));
    Random random(seed);
    const auto rank = static_cast<std::size_t>(random.integer(2, 8));
    Dims shape;
    for (std::size_t k = 0; k < rank; ++k) shape.push_back(random.integer(2, rank > 4 ? 10 : 60));
    if (rank < 6) shape[rank / 2] = random.integer(2, 3000);
    std::vector<int> axes(rank);
    std::iota(axes.begin(), axes.end(), 0);
    random.shuffle(axes);
    TileTarget target = target_of(1 << random.integer(0, 3));
    target.in_offset = random.chance(0.5) ? target.in_bytes : 0;
    target.out_offset = random.chance(0.5) ? target.out_bytes : 0;
    EXPECT_TRUE(choose_tile(nest_of(shape, axes), target).valid) << to_string(shape);
  }
}

/// A box of whole planes whose next axis would make its runs too long for a table of places.
TEST(TilePlan, SmallPlanesOfBytesHaveTiles) {
  for (const std::int64_t offset : {0, 1}) {
    TileTarget target = target_of(1);
    target.in_offset = target.out_offset = offset;
    const TilePlan plan = choose_tile(nest_of({1000, 35, 53}, {0, 2, 1}), target);
    ASSERT_TRUE(plan.valid);
    EXPECT_EQ(plan.extent[0], 1);
  }
}

TEST(TilePlan, RandomNestsHaveSoundPlans) {
  using test::Random;
  int planned = 0;
  for (const std::uint64_t seed : test::random_seeds(400)) {
    SCOPED_TRACE(test::reproduce(seed));
    Random random(seed);
    Dims shape;
    const int rank = static_cast<int>(random.integer(1, 7));
    for (int k = 0; k < rank; ++k) shape.push_back(random.integer(1, random.chance(0.2) ? 3000 : 60));
    if (rank > 5) std::fill(shape.begin(), shape.begin() + 2, random.integer(1, 9));
    std::vector<int> axes(shape.size());
    std::iota(axes.begin(), axes.end(), 0);
    for (int i = rank; i > 1; --i)
      std::swap(axes[static_cast<std::size_t>(i - 1)],
                axes[static_cast<std::size_t>(random.integer(0, i - 1))]);
    TileTarget target = target_of(1 << random.integer(0, 3), random.chance(0.5) ? 48 * 1024 : 64 * 1024);
    target.in_bytes = random.chance(0.3) ? 4 : target.out_bytes;
    target.in_offset = random.chance(0.2) ? target.in_bytes : 0;
    target.out_offset = random.chance(0.2) ? target.out_bytes : 0;
    target.multiprocessors = random.integer(1, 300);
    const LoopNest nest = nest_of(shape, axes);
    const TilePlan plan = choose_tile(nest, target);
    if (!plan.valid) continue;
    ++planned;
    const std::vector<TilePlan> candidates = tile_candidates(nest, target);
    ASSERT_EQ(candidates[0].extent, plan.extent);
    ASSERT_EQ(candidates[0].threads, plan.threads);
    std::set<std::pair<TileExtents, int>> names;  // what a cache of measured plans knows them by
    for (const TilePlan& candidate : candidates) {
      ASSERT_TRUE(names.emplace(candidate.extent, candidate.threads).second);
      ASSERT_LE(candidate.score, plan.score);
      ASSERT_NO_FATAL_FAILURE(expect_sound(nest, target, candidate));
    }
  }
  EXPECT_GT(planned, 300);
}

}  // namespace
}  // namespace relayout::plan
