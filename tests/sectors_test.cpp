// Sectors that a tile meets, by hand.
#include "host/plan/copy/sectors.hpp"

#include <gtest/gtest.h>

namespace relayout::plan {
namespace {

TEST(Sectors, AlignedRowsTouchWhatTheyNeed) {
  const BoxTraffic traffic = traffic_of({16, 64}, {8192, 1}, 4, 256);
  EXPECT_EQ(traffic.run_elements, 64);
  EXPECT_EQ(traffic.elements, 1024);
  EXPECT_EQ(traffic.needed, 128);
  EXPECT_EQ(traffic.touched, 128);
}

TEST(Sectors, ShortRunsWasteTheRestOfTheirSectors) {
  // Single f32 elements 400 bytes apart: a sector each.
  EXPECT_EQ(traffic_of({10, 10}, {1000, 100}, 4, 0).touched, 100);
  // Runs of 6 f16 elements, 32 bytes apart, the first 16 bytes behind a boundary; then one that crosses.
  EXPECT_EQ(traffic_of({8, 6}, {16, 1}, 2, 16).touched, 8);
  EXPECT_EQ(traffic_of({8, 6}, {16, 1}, 2, 22).touched, 9);
}

TEST(Sectors, NeighbouringRunsShareThem) {
  // Runs of 4 bytes, 8 bytes apart: four to a sector.
  const BoxTraffic traffic = traffic_of({16, 1}, {2, 1}, 4, 0);
  EXPECT_EQ(traffic.run_elements, 1);
  EXPECT_EQ(traffic.needed, 2);
  EXPECT_EQ(traffic.touched, 4);
}

TEST(Sectors, SeveralAxesAreOneRun) {
  EXPECT_EQ(traffic_of({3, 5, 7}, {1, 21, 3}, 4, 0).run_elements, 105);
  EXPECT_EQ(traffic_of({3, 5, 7}, {1, 22, 3}, 4, 0).run_elements, 21);
}

TEST(Sectors, RepeatedAxesCountOnce) {
  const BoxTraffic traffic = traffic_of({100, 8}, {0, 1}, 4, 0);
  EXPECT_EQ(traffic.elements, 8);
  EXPECT_EQ(traffic.touched, 1);
}

TEST(Sectors, BackwardsAndAcrossZero) {
  // The first element is the first of its sector, the others lie before it.
  EXPECT_EQ(traffic_of({8}, {-1}, 4, 64).touched, 2);
  EXPECT_EQ(traffic_of({16}, {-1}, 4, 64 + 28).touched, 2);
}

TEST(Sectors, AnElementAtAnOddAddressMayLieInTwo) { EXPECT_EQ(traffic_of({1}, {1}, 4, 30).touched, 2); }

}  // namespace
}  // namespace relayout::plan
