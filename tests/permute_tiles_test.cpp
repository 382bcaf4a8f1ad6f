// The tile kernel at the ends of tiles: extents on both sides of the tiles that the plan really has, and
// every permutation of extents that no tile divides.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <vector>

#include "tests/cases/permute_shorthand.hpp"
#include "tests/support/checks.hpp"
#include "tests/support/devices.hpp"

namespace relayout::test {
namespace {

using cases::identity;
using cases::kOneTypePerSize;
using cases::move_of;
using cases::PermuteCase;

/// Extents along one axis of the case at a time: 0, 1, and those around the edges of the tile.
class PermuteEdgesTest : public DeviceTest {
 protected:
  /// `axis` of the input, which alone is the axis `nest_axis` of the normalised nest.
  void check_axis(PermuteCase c, std::size_t axis, std::size_t nest_axis) {
    const std::int64_t tile = tile_along(c, axis, nest_axis);
    for (const std::int64_t extent :
         {std::int64_t{0}, std::int64_t{1}, tile - 1, tile, tile + 1, 2 * tile + 1, next_prime(2 * tile)}) {
      c.shape[axis] = extent;
      check(stream(), c);
      if (extent > tile && tile_of(c)[nest_axis] < extent) ++cut_;
    }
  }
  /// Extents that took more than one tile.
  int cut() const { return cut_; }

 private:
  /// The extents of the tiles that a GPU like the device takes, along the axes of the loop nest.
  Dims tile_of(const PermuteCase& c) { return cases::plan_of(c, device().properties()).tile; }
  /// The tile that the plan keeps to for an extent of two tiles and one, if there is one; the plan depends on
  /// the extents.
  std::int64_t tile_along(PermuteCase c, std::size_t axis, std::size_t nest_axis) {
    std::int64_t tile = 0;
    for (int attempt = 0; attempt < 5; ++attempt) {
      tile = std::min(tile_of(c)[nest_axis], kLargestTile);
      if (c.shape[axis] == 2 * tile + 1) break;
      c.shape[axis] = 2 * tile + 1;
    }
    return tile;
  }
  static constexpr std::int64_t kLargestTile = 150;

  static std::int64_t next_prime(std::int64_t above) {
    for (;; ++above) {
      std::int64_t factor = 2;
      while (factor * factor <= above && above % factor != 0) ++factor;
      if (above > 1 && factor * factor > above) return above;
    }
  }
  int cut_ = 0;
};
INSTANTIATE_TEST_SUITE_P(Devices, PermuteEdgesTest, ::testing::ValuesIn(test_devices()), device_test_name);

/// Aligned by whole vectors, odd, and odd with misaligned bases.
std::vector<PermuteCase> variants(DType type, const Dims& aligned, const Dims& odd,
                                  const std::vector<int>& axes) {
  PermuteCase misaligned = move_of(type, odd, axes);
  misaligned.in_misaligned = 1;
  misaligned.out_misaligned = 3;
  return {move_of(type, aligned, axes), move_of(type, odd, axes), misaligned};
}

TEST_P(PermuteEdgesTest, Transposes) {
  for (const DType type : kOneTypePerSize)
    for (const PermuteCase& c : variants(type, {96, 160}, {97, 161}, {1, 0})) {
      check_axis(c, 1, 0);  // the nest's order is the output's
      check_axis(c, 0, 1);
    }
  EXPECT_GT(cut(), 12);
}

TEST_P(PermuteEdgesTest, AKeptFastestAxis) {
  for (const DType type : kOneTypePerSize)
    for (const PermuteCase& c : variants(type, {2, 40, 48}, {3, 41, 47}, {1, 0, 2})) {
      check_axis(c, 1, 0);
      check_axis(c, 2, 2);
    }
  EXPECT_GT(cut(), 6);
}

TEST_P(PermuteEdgesTest, MergedAxes) {
  for (const DType type : kOneTypePerSize)
    for (const PermuteCase& c : variants(type, {16, 2, 3, 16}, {17, 3, 2, 15}, {3, 1, 2, 0})) {
      check_axis(c, 3, 0);
      check_axis(c, 0, 2);  // the two in the middle are one
    }
  EXPECT_GT(cut(), 6);
}

class PermuteAllTest : public DeviceTest {
 protected:
  void check_all(DType type, const Dims& shape) {
    std::vector<int> axes = identity(static_cast<int>(shape.size()));
    do check(stream(), move_of(type, shape, axes));
    while (std::next_permutation(axes.begin(), axes.end()));
  }
};
INSTANTIATE_TEST_SUITE_P(Devices, PermuteAllTest, ::testing::ValuesIn(test_devices()), device_test_name);

/// Several tiles along most axes, none of which divides the extents.
TEST_P(PermuteAllTest, RanksTwoToFourWithExtentsThatDoNotDivide) {
  for (const DType type : kOneTypePerSize)
    for (const Dims& shape : {Dims{131, 67}, Dims{37, 13, 19}, Dims{13, 5, 9, 11}}) check_all(type, shape);
}

TEST_P(PermuteAllTest, RankFiveWithExtentsThatDoNotDivide) {
  check_all(DType::u8, {5, 4, 9, 6, 11});
  check_all(DType::f32, {5, 4, 7, 3, 9});
}

}  // namespace
}  // namespace relayout::test
