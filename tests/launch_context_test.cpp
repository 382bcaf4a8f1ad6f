// The grids of numbered blocks: whatever their count, no grid is larger than its GPU takes.
#include <gtest/gtest.h>

#include <algorithm>
#include <vector>

#include "core/launch_context.hpp"

namespace relayout {
namespace {

/// Blocks that HIP takes along x: fewer than 2^32 threads.
std::int64_t most_of_hip(int threads) { return std::min(kMaxBlocks, std::int64_t{0xffffffff} / threads); }

/// Counts around each power of 2, and around what HIP takes of so many threads.
std::vector<std::int64_t> counts_for(int threads) {
  std::vector<std::int64_t> counts;
  const auto add_around = [&](std::int64_t count) {
    for (const std::int64_t near : {count - 1, count, count + 1})
      if (near >= 1 && near <= kMaxBlocks) counts.push_back(near);
  };
  for (int shift = 0; shift <= 31; ++shift) add_around(std::int64_t{1} << shift);
  for (int times = 1; times <= 5; ++times) add_around(times * most_of_hip(threads));
  return counts;
}

TEST(LaunchContext, NoGridIsLargerThanHipTakes) {
  for (const int threads : {1, 32, 64, 96, 128, 192, 256, 320, 512, 768, 1024}) {
    const std::int64_t most = most_of_hip(threads);
    for (const std::int64_t count : counts_for(threads)) {
      const LaunchShape shape = grid_of(numbered_blocks(count, threads, 48), most, kLongGridRow);
      EXPECT_LT(shape.blocks_x * threads, std::int64_t{1} << 32) << count << " blocks of " << threads;
      EXPECT_LE(shape.blocks_x, kMaxBlocks) << count << " blocks of " << threads;
      EXPECT_LE(shape.blocks_y, 65535) << count << " blocks of " << threads;
      EXPECT_EQ(shape.blocks_z, 1);
      EXPECT_EQ(shape.threads_x, threads);
      EXPECT_EQ(shape.shared_bytes, 48u);
      // Every block is there, and only the last row has spare ones. Their numbers have 31 bits, too.
      const std::int64_t all = shape.blocks_x * shape.blocks_y;
      EXPECT_GE(all, count);
      EXPECT_LT(all - count, shape.blocks_y > 1 ? shape.blocks_x : 1);
      EXPECT_LE(all - 1, kMaxBlocks);
    }
  }
}

/// What fits along x lies along x: a grid of an ordinary size is as it would be without rows.
TEST(LaunchContext, GridsThatFitAreNotFolded) {
  for (const int threads : {64, 256, 1024}) {
    const std::int64_t most = most_of_hip(threads);
    for (const std::int64_t count : {std::int64_t{1}, std::int64_t{2500000}, most - 1, most}) {
      const LaunchShape shape = grid_of(numbered_blocks(count, threads), most, kLongGridRow);
      EXPECT_EQ(shape.blocks_x, count);
      EXPECT_EQ(shape.blocks_y, 1);
    }
    EXPECT_EQ(grid_of(numbered_blocks(most + 1, threads), most, kLongGridRow).blocks_x, kLongGridRow);
  }
  const LaunchShape of_cuda = grid_of(numbered_blocks(kMaxBlocks, 1024), kMaxBlocks, kMaxBlocks);
  EXPECT_EQ(of_cuda.blocks_x, kMaxBlocks);
  EXPECT_EQ(of_cuda.blocks_y, 1);
}

/// More blocks than numbers of 31 bits remain along x, where the launch refuses them.
TEST(LaunchContext, MoreBlocksThanNumbersAreLeftToTheLaunch) {
  const std::int64_t count = kMaxBlocks + 1;
  const LaunchShape shape = grid_of(numbered_blocks(count, 64), most_of_hip(64), kLongGridRow);
  EXPECT_EQ(shape.blocks_x, count);
  EXPECT_EQ(shape.blocks_y, 1);
}

TEST(LaunchContext, OneThreadForEachThing) {
  EXPECT_EQ(one_thread_each(1, 256).count, 1);
  EXPECT_EQ(one_thread_each(256, 256).count, 1);
  EXPECT_EQ(one_thread_each(257, 256).count, 2);
  EXPECT_EQ(one_thread_each(std::int64_t{1} << 38, 256).count, std::int64_t{1} << 30);
}

}  // namespace
}  // namespace relayout
