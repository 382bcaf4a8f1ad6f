// Tiles of strided views: the arithmetic, as constant expressions and against its definition.
#include <gtest/gtest.h>

#include <cstdint>
#include <limits>
#include <vector>

#include "host/reference/scalar.hpp"
#include "tests/support/expect_error.hpp"

#include <relayout/tile_space.hpp>
#include <relayout/tile_transfer.hpp>

namespace relayout::test {
namespace {

// 7 rows 40 elements apart of 30 elements, in tiles of 3 x 8: 3 x 4 of them.
constexpr TileSpace<2> kRows{{7, 30}, {40, 1}, {3, 8}};
static_assert(kRows.tiles() == PerAxis<2>{3, 4});
static_assert(kRows.tile_count() == 12 && kRows.tile_elements() == 24);
static_assert(kRows.tile_at(0) == PerAxis<2>{0, 0} && kRows.tile_at(6) == PerAxis<2>{1, 2});
static_assert(kRows.number_of({1, 2}) == 6 && kRows.number_of({2, 3}) == 11);
static_assert(kRows.origin({2, 3}) == PerAxis<2>{6, 24});
static_assert(kRows.clipped({0, 0}) == PerAxis<2>{3, 8});
static_assert(kRows.clipped({2, 0}) == PerAxis<2>{1, 8}, "7 rows in tiles of 3: one is left");
static_assert(kRows.clipped({2, 3}) == PerAxis<2>{1, 6}, "30 in tiles of 8: six are left");
static_assert(kRows.overlaps({2, 3}) && !kRows.overlaps({3, 0}) && !kRows.overlaps({0, -1}));
static_assert(kRows.clipped({3, 0}) == PerAxis<2>{0, 8} && kRows.clipped({-1, 4}) == PerAxis<2>{0, 0});
static_assert(kRows.offset({2, 3}, {0, 5}) == 6 * 40 + 29);
static_assert(kRows.tile_of({6, 29}) == PerAxis<2>{2, 3} && kRows.place_of({6, 29}) == PerAxis<2>{0, 5});
static_assert(kRows.tile_of({-1, -8}) == PerAxis<2>{-1, -1} && kRows.place_of({-1, -8}) == PerAxis<2>{2, 0});
// Numbers outside: tiles outside.
static_assert(kRows.tile_at(12) == PerAxis<2>{3, 0} && kRows.tile_at(-1) == PerAxis<2>{-1, 3});
static_assert(kRows.number_of(kRows.tile_at(-5)) == -5 && kRows.number_of(kRows.tile_at(99)) == 99);

// One element without axes is one tile.
constexpr TileSpace<0> kScalar{{}, {}, {}};
static_assert(kScalar.tile_count() == 1 && kScalar.tile_elements() == 1 && kScalar.overlaps({}));
static_assert(kScalar.offset({}, {}) == 0 && kScalar.number_of(kScalar.tile_at(0)) == 0);

// No elements, no tiles; the other extents' product need not fit.
constexpr std::int64_t kHuge = std::numeric_limits<std::int64_t>::max();
constexpr TileSpace<3> kNone{{kHuge, kHuge, 0}, {0, 0, 1}, {1, 1, 4}};
static_assert(kNone.tile_count() == 0 && !kNone.overlaps({0, 0, 0}));

// Extents, offsets and indices beyond 32 bits, up to the largest.
constexpr TileSpace<2> kLarge{{std::int64_t{3} << 40, 5}, {-(std::int64_t{1} << 21), 7}, {1 << 20, 2}};
static_assert(kLarge.tile_count() == (std::int64_t{3} << 20) * 3);
static_assert(kLarge.offset({(3 << 20) - 1, 2}, {(1 << 20) - 1, 0}) ==
              ((std::int64_t{3} << 40) - 1) * -(std::int64_t{1} << 21) + 28);
static_assert(kLarge.number_of(kLarge.tile_at(kLarge.tile_count() - 1)) == kLarge.tile_count() - 1);
constexpr TileSpace<1> kLongest{{kHuge}, {1}, {64}};
static_assert(kLongest.tile_count() == kHuge / 64 + 1 && kLongest.clipped({kHuge / 64}) == PerAxis<1>{63});
static_assert(kLongest.clipped({kHuge}) == PerAxis<1>{0} && kLongest.clipped({-kHuge - 1}) == PerAxis<1>{0});
static_assert(kLongest.tile_of({-kHuge - 1}) == PerAxis<1>{-(kHuge / 64) - 1});

constexpr std::int64_t places_of(const TileSpace<2>& space, int thread, int threads) {
  std::int64_t sum = 0;
  for (TileWalk<2> walk(space, thread, threads); walk.more(); walk.next()) {
    sum += walk.place()[0] * space.tile()[1] + walk.place()[1] == walk.number() ? 1 : 1000;
  }
  return sum;
}
static_assert(places_of(kRows, 0, 1) == 24 && places_of(kRows, 3, 7) == 3 && places_of(kRows, 31, 32) == 0);

/// Compares every tile of the view, and one more on each side, with the definition, element by element.
template <int kRank>
void check_against_definition(const Dims& shape, const Dims& tile) {
  SCOPED_TRACE(to_string(shape) + " in tiles of " + to_string(tile));
  const TensorView view(nullptr, DType::u8, shape);
  const TileSpace<kRank> space = tile_space<kRank>(view, tile);
  Dims around(shape.size()), tiles(shape.size());
  for (int axis = 0; axis < kRank; ++axis) {
    tiles[static_cast<std::size_t>(axis)] = space.tiles()[axis];
    around[static_cast<std::size_t>(axis)] = space.tiles()[axis] + 2;
  }
  std::int64_t inside_elements = 0, overlapping = 0, number = 0;
  reference::for_each_index(around, [&](const Dims& shifted) {
    PerAxis<kRank> index{};
    for (int axis = 0; axis < kRank; ++axis) index[axis] = shifted[static_cast<std::size_t>(axis)] - 1;
    std::int64_t count = 0, box = 1;
    for (TileWalk<kRank> walk(space, 0, 1); walk.more(); walk.next()) {
      PerAxis<kRank> element{};
      bool inside = true;
      for (int axis = 0; axis < kRank; ++axis) {
        element[axis] = space.origin(index)[axis] + walk.place()[axis];
        inside = inside && element[axis] >= 0 && element[axis] < space.extents()[axis];
      }
      ASSERT_EQ(walk.within(space.clipped(index)), inside);
      ASSERT_TRUE(space.tile_of(element) == index && space.place_of(element) == walk.place());
      if (inside) {
        std::int64_t offset = 0;
        for (int axis = 0; axis < kRank; ++axis) offset += element[axis] * view.stride(axis);
        ASSERT_EQ(space.offset(index, walk.place()), offset);
        ++count;
      }
    }
    for (int axis = 0; axis < kRank; ++axis) box *= space.clipped(index)[axis];
    ASSERT_EQ(count, box);
    ASSERT_EQ(space.overlaps(index), count > 0);
    inside_elements += count;
    overlapping += count > 0 ? 1 : 0;
  });
  EXPECT_EQ(inside_elements, view.elements());
  EXPECT_EQ(overlapping, space.tile_count());
  reference::for_each_index(tiles, [&](const Dims& index) {
    for (int axis = 0; axis < kRank; ++axis) {
      ASSERT_EQ(space.tile_at(number)[axis], index[static_cast<std::size_t>(axis)]);
    }
    ASSERT_EQ(space.number_of(space.tile_at(number)), number);
    ++number;
  });
}

TEST(TileSpaceTest, AgainstTheDefinition) {
  check_against_definition<1>({13}, {4});
  check_against_definition<1>({16}, {4});  // meets exactly
  check_against_definition<1>({1}, {5});
  check_against_definition<1>({3}, {1});
  check_against_definition<2>({7, 11}, {3, 5});
  check_against_definition<2>({6, 8}, {6, 4});
  check_against_definition<2>({5, 0}, {2, 3});
  check_against_definition<3>({5, 7, 3}, {2, 7, 4});
  check_against_definition<4>({3, 2, 5, 3}, {2, 2, 3, 1});
  check_against_definition<5>({2, 3, 1, 5, 2}, {2, 2, 2, 3, 1});
}

/// The threads of a group share the places: each place is visited once, in C order.
TEST(TileSpaceTest, ThreadsShareTheTile) {
  const TileSpace<3> space{{100, 100, 100}, {10000, 100, 1}, {3, 5, 7}};
  for (const int threads : {1, 2, 7, 32, 35, 64, 104, 105, 106, 1000}) {
    std::vector<int> visits(105, 0);
    for (int thread = 0; thread < threads; ++thread) {
      for (TileWalk<3> walk(space, thread, threads); walk.more(); walk.next()) {
        const PerAxis<3>& place = walk.place();
        ASSERT_EQ((place[0] * 5 + place[1]) * 7 + place[2], walk.number());
        ASSERT_EQ(walk.number() % threads, thread);
        ++visits[static_cast<std::size_t>(walk.number())];
      }
    }
    EXPECT_EQ(visits, std::vector<int>(105, 1)) << threads << " threads";
  }
}

TEST(TileSpaceTest, Errors) {
  const TensorView view(nullptr, DType::f32, {4, 6});
  expect_error(ErrorCode::rank, {"3 axes", "[4, 6]"}, [&] { tile_space<3>(view, {1, 2, 3}); });
  expect_error(ErrorCode::rank, {"[2]"}, [&] { tile_space<2>(view, {2}); });
  expect_error(ErrorCode::invalid_argument, {"[2, 0]"}, [&] { tile_space<2>(view, {2, 0}); });
  expect_error(ErrorCode::invalid_argument, {"[-1, 2]"}, [&] { tile_space<2>(view, {-1, 2}); });
  expect_error(ErrorCode::invalid_shape, {"63 bits"}, [&] { tile_space<2>(view, {kHuge, 2}); });
}

}  // namespace
}  // namespace relayout::test
