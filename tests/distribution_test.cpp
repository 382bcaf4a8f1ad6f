// Distributions: blocks, boxes, and the moves from one distribution to another.
#include <gtest/gtest.h>

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "host/redistribute/box_moves.hpp"
#include "host/reference/scalar.hpp"
#include "tests/support/expect_error.hpp"
#include "tests/support/random_distribution.hpp"

#include <relayout/relayout.hpp>

namespace relayout::test {
namespace {

std::vector<std::string> boxes_of(const Distribution& distribution) {
  std::vector<std::string> boxes;
  for (int rank = 0; rank < distribution.ranks(); ++rank) boxes.push_back(distribution.box(rank).to_string());
  return boxes;
}

TEST(DistributionTest, SplitGivesBlocksOfEqualSizeAndTheRest) {
  using Boxes = std::vector<std::string>;
  EXPECT_EQ(boxes_of(Distribution::split({4, 6}, 1, 3)), (Boxes{"[0:4, 0:2]", "[0:4, 2:4]", "[0:4, 4:6]"}));
  EXPECT_EQ(boxes_of(Distribution::split({7}, 0, 3)), (Boxes{"[0:3]", "[3:6]", "[6:7]"}));
  EXPECT_EQ(boxes_of(Distribution::split({5}, 0, 4)), (Boxes{"[0:2]", "[2:4]", "[4:5]", "[5:5]"}));
  EXPECT_EQ(boxes_of(Distribution::split({0, 2}, 0, 2)), (Boxes{"[0:0, 0:2]", "[0:0, 0:2]"}));
  EXPECT_EQ(boxes_of(Distribution::replicated({2}, 2)), (Boxes{"[0:2]", "[0:2]"}));
  constexpr std::int64_t kLarge = std::int64_t{1} << 62;
  EXPECT_EQ(Distribution::split({kLarge}, 0, 3).box(2).end, Dims{kLarge});
}

TEST(DistributionTest, BoxesHaveShapesAndElements) {
  const Box box{{1, 2}, {4, 2}};
  EXPECT_EQ(box.shape(), (Dims{3, 0}));
  EXPECT_EQ(box.elements(), 0);
  EXPECT_EQ((Box{{1, 2}, {4, 9}}.elements()), 21);
  EXPECT_EQ(Box{}.elements(), 1);
  EXPECT_EQ(Box{}.to_string(), "[]");
  constexpr std::int64_t kLarge = std::int64_t{1} << 40;
  EXPECT_EQ((Box{{0, 0, 0}, {kLarge, kLarge, 0}}.elements()), 0);
}

TEST(DistributionTest, Errors) {
  const auto expect = [](ErrorCode code, const std::vector<std::string>& words, const Dims& shape,
                         const std::vector<Box>& boxes) {
    expect_error(code, words, [&] { Distribution(shape, boxes); });
  };
  expect(ErrorCode::invalid_argument, {"1 rank or more"}, {2}, {});
  expect(ErrorCode::rank, {"rank 1", "[2]"}, {2}, {{{0}, {2}}, {{0, 0}, {2, 2}}});
  expect(ErrorCode::rank, {"rank 0"}, {2}, {{{0}, {}}});
  expect(ErrorCode::invalid_argument, {"rank 0", "[0:3]", "axis 0"}, {2}, {{{0}, {3}}});
  expect(ErrorCode::invalid_argument, {"rank 0", "[-1:2]"}, {2}, {{{-1}, {2}}});
  expect(ErrorCode::invalid_argument, {"rank 1", "[2:1]"}, {2}, {{{0}, {2}}, {{2}, {1}}});
  expect(ErrorCode::shape, {"no rank holds", "[1:2, 0:3]"}, {2, 3}, {{{0, 0}, {1, 3}}, {{0, 0}, {0, 0}}});
  expect(ErrorCode::shape, {"[1:2, 1:2]"}, {3, 3},
         {{{0, 0}, {3, 1}}, {{0, 2}, {3, 3}}, {{0, 1}, {1, 2}}, {{2, 1}, {3, 2}}});
  expect(ErrorCode::invalid_argument, {}, {-1}, {{{0}, {0}}});
  for (const int axis : {-1, 1, 7})
    expect_error(ErrorCode::invalid_argument, {"no axis"}, [&] { Distribution::split({4}, axis, 2); });
  expect_error(ErrorCode::invalid_argument, {"not 0"}, [] { Distribution::split({4}, 0, 0); });
  expect_error(ErrorCode::invalid_argument, {"not -1"}, [] { Distribution::replicated({4}, -1); });
  const Distribution two = Distribution::split({4}, 0, 2);
  for (const int rank : {-1, 2})
    expect_error(ErrorCode::invalid_argument, {"no rank"}, [&] { two.box(rank); });
}

/// Every element of every output box is in one move, and its sender has it.
TEST(BoxMovesTest, EveryElementOnce) {
  for (const std::uint64_t seed : random_seeds(200)) {
    SCOPED_TRACE(reproduce(seed));
    Random random(seed);
    const int ranks = static_cast<int>(random.integer(1, 8));
    const cases::RedistributeCase c = random_redistribution(random, ranks, 4);
    std::vector<std::map<Dims, int>> times(static_cast<std::size_t>(ranks));
    for (const plan::BoxMove& move : plan::box_moves(c.in.distribution, c.axes, c.out.distribution)) {
      EXPECT_GT(move.box.elements(), 0);
      EXPECT_EQ(plan::intersection(move.box, c.in.distribution.box(move.from)).elements(),
                move.box.elements());
      for (const plan::BoxMove& piece : plan::pieces(move, c.axes, 3)) {
        EXPECT_GT(piece.box.elements(), 0);
        const Box out = plan::permuted(piece.box, c.axes);
        EXPECT_EQ(plan::intersection(out, c.out.distribution.box(move.to)).elements(), out.elements());
        reference::for_each_index(out.shape(), [&](Dims index) {
          for (std::size_t axis = 0; axis < index.size(); ++axis) index[axis] += out.begin[axis];
          ++times[static_cast<std::size_t>(move.to)][index];
        });
      }
    }
    for (int rank = 0; rank < ranks; ++rank) {
      const auto& seen = times[static_cast<std::size_t>(rank)];
      EXPECT_EQ(static_cast<std::int64_t>(seen.size()), c.out.distribution.box(rank).elements());
      for (const auto& element : seen) EXPECT_EQ(element.second, 1);
    }
  }
}

TEST(BoxMovesTest, ReplicasComeFromTheReceiverOrTheNextRank) {
  const Distribution all = Distribution::replicated({4}, 3), first({4}, {{{0}, {4}}, {{0}, {4}}, {{4}, {4}}});
  for (const plan::BoxMove& move : plan::box_moves(all, {0}, all)) EXPECT_EQ(move.from, move.to);
  const std::vector<plan::BoxMove> moves = plan::box_moves(first, {0}, all);
  ASSERT_EQ(moves.size(), 3u);
  EXPECT_EQ(moves[2].to, 2);
  EXPECT_EQ(moves[2].from, 0);
}

}  // namespace
}  // namespace relayout::test
