// LoopNest and its normalisation, against brute force: a nest stands for its set of address tuples.
#include "host/plan/loop_nest.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <limits>
#include <set>
#include <vector>

#include "tests/support/expect_error.hpp"
#include "tests/support/random.hpp"

namespace relayout::plan {
namespace {

using test::Random;

/// The (output, inputs...) addresses of every index, sorted; a multiset, as indices may repeat an address.
std::vector<Dims> tuples(const LoopNest& nest) {
  std::vector<Dims> result;
  const std::int64_t elements = nest.elements();
  for (std::int64_t linear = 0; linear < elements; ++linear) {
    Dims addresses = nest.offsets;
    std::int64_t rest = linear;
    for (std::size_t axis = nest.extents.size(); axis-- > 0;) {
      const std::int64_t index = rest % nest.extents[axis];
      rest /= nest.extents[axis];
      for (std::size_t p = 0; p < addresses.size(); ++p) addresses[p] += index * nest.strides[p][axis];
    }
    result.push_back(addresses);
  }
  std::sort(result.begin(), result.end());
  return result;
}

/// The promises of normalise besides the tuples.
void expect_normal_form(const LoopNest& nest) {
  ASSERT_FALSE(nest.strides.empty());
  const Dims& out = nest.strides.front();
  for (std::size_t axis = 0; axis < nest.extents.size(); ++axis) {
    EXPECT_GT(nest.extents[axis], 1);
    EXPECT_GE(out[axis], 0);
    if (axis == 0) continue;
    EXPECT_GE(out[axis - 1], out[axis]);
    bool mergeable = true;
    for (const Dims& strides : nest.strides) {
      mergeable = mergeable && strides[axis - 1] == strides[axis] * nest.extents[axis];
    }
    EXPECT_FALSE(mergeable) << "axes " << axis - 1 << " and " << axis;
  }
}

LoopNest nest_of(Dims extents, std::vector<Dims> strides) {
  LoopNest nest;
  nest.extents = std::move(extents);
  nest.offsets.assign(strides.size(), 0);
  nest.strides = std::move(strides);
  return nest;
}

TEST(MakeNest, TakesShapeAndStridesOutputFirst) {
  const TensorView out(nullptr, DType::f16, {2, 3}, {10, 1}), in(nullptr, DType::f32, {2, 3}, {1, 2});
  const LoopNest nest = make_nest(out, {in, in});
  EXPECT_EQ(nest.extents, (Dims{2, 3}));
  EXPECT_EQ(nest.strides, (std::vector<Dims>{{10, 1}, {1, 2}, {1, 2}}));
  EXPECT_EQ(nest.offsets, (Dims{0, 0, 0}));
  EXPECT_EQ(nest.elements(), 6);
  EXPECT_EQ(nest.operands(), 3);
}

TEST(MakeNest, RefusesDifferentShapes) {
  const TensorView out(nullptr, DType::f32, {2, 3}), in(nullptr, DType::f32, {3, 2});
  test::expect_error(ErrorCode::shape, {"[2, 3]", "[3, 2]"}, [&] { make_nest(out, {in}); });
}

TEST(Normalise, ContiguousBecomesOneAxis) {
  const LoopNest nest = normalise(nest_of({2, 3, 4}, {{12, 4, 1}, {12, 4, 1}}));
  EXPECT_EQ(nest.extents, Dims{24});
  EXPECT_EQ(nest.strides, (std::vector<Dims>{{1}, {1}}));
}

TEST(Normalise, ScalarHasNoAxes) {
  const LoopNest nest = normalise(nest_of({}, {{}, {}}));
  EXPECT_EQ(nest.rank(), 0);
  EXPECT_EQ(nest.elements(), 1);
}

TEST(Normalise, ExtentOneAxesGoWhateverTheirStride) {
  const std::int64_t odd = std::numeric_limits<std::int64_t>::min();
  const LoopNest nest = normalise(nest_of({1, 5, 1}, {{odd, 1, 77}, {0, 3, odd}}));
  EXPECT_EQ(nest.extents, Dims{5});
  EXPECT_EQ(nest.strides, (std::vector<Dims>{{1}, {3}}));
}

TEST(Normalise, EmptyNestBecomesOneEmptyAxis) {
  const std::int64_t huge = std::int64_t{1} << 62;
  const LoopNest nest = normalise(nest_of({huge, 0, huge}, {{huge, huge, huge}, {1, 1, 1}}));
  EXPECT_EQ(nest.extents, Dims{0});
  EXPECT_EQ(nest.elements(), 0);
  EXPECT_EQ(nest.strides, (std::vector<Dims>{{0}, {0}}));
}

TEST(Normalise, NegativeOutputStridesAreFlipped) {
  const LoopNest nest = normalise(nest_of({4, 3}, {{-3, 1}, {3, 1}}));
  EXPECT_EQ(nest.extents, (Dims{4, 3}));
  EXPECT_EQ(nest.strides, (std::vector<Dims>{{3, 1}, {-3, 1}}));
  EXPECT_EQ(nest.offsets, (Dims{-9, 9}));
  // Both run backwards: normalised, both run forwards, as one axis.
  const LoopNest both = normalise(nest_of({4, 3}, {{-3, -1}, {-3, -1}}));
  EXPECT_EQ(both.extents, Dims{12});
  EXPECT_EQ(both.strides, (std::vector<Dims>{{1}, {1}}));
  EXPECT_EQ(both.offsets, (Dims{-11, -11}));
}

TEST(Normalise, PermutedOutputIsSortedAndMerged) {
  // in [2, 3, 4] contiguous -> out [4, 2, 3]: the first two axes of the input stay neighbours.
  const LoopNest nest = normalise(nest_of({2, 3, 4}, {{3, 1, 6}, {12, 4, 1}}));
  EXPECT_EQ(nest.extents, (Dims{4, 6}));
  EXPECT_EQ(nest.strides, (std::vector<Dims>{{6, 1}, {1, 4}}));
}

TEST(Normalise, GapsKeepAxesApart) {
  const LoopNest nest = normalise(nest_of({2, 3}, {{4, 1}, {3, 1}}));
  EXPECT_EQ(nest.extents, (Dims{2, 3}));
}

TEST(Normalise, BroadcastAxesMerge) {
  const LoopNest nest = normalise(nest_of({2, 3, 4}, {{12, 4, 1}, {0, 0, 1}}));
  EXPECT_EQ(nest.extents, (Dims{6, 4}));
  EXPECT_EQ(nest.strides, (std::vector<Dims>{{4, 1}, {0, 1}}));
}

TEST(Normalise, TwentySixReversedAxes) {
  Dims extents(26, 2), forward(26), backward(26);
  for (int axis = 0; axis < 26; ++axis) {
    forward[static_cast<std::size_t>(axis)] = std::int64_t{1} << (25 - axis);
    backward[static_cast<std::size_t>(axis)] = std::int64_t{1} << axis;
  }
  const LoopNest nest = normalise(nest_of(extents, {forward, backward}));
  EXPECT_EQ(nest.extents, extents);
  EXPECT_EQ(nest.strides, (std::vector<Dims>{forward, backward}));
  EXPECT_EQ(normalise(nest_of(extents, {backward, backward})).extents, Dims{std::int64_t{1} << 26});
}

TEST(Normalise, ThirtyTwoAxesWithOnesBetween) {
  Dims extents(32), out(32), in(32);
  std::int64_t stride = 1;
  for (std::size_t axis = 32; axis-- > 0;) {
    extents[axis] = axis % 2 == 0 ? 2 : 1;
    out[axis] = axis % 2 == 0 ? stride : 12345;
    in[axis] = axis % 2 == 0 ? 3 * stride : -7;
    stride *= extents[axis];
  }
  const LoopNest nest = normalise(nest_of(extents, {out, in}));
  EXPECT_EQ(nest.extents, Dims{65536});
  EXPECT_EQ(nest.strides, (std::vector<Dims>{{1}, {3}}));
}

TEST(Normalise, OffsetsBeyond64BitsAreRefused) {
  const std::int64_t huge = std::int64_t{1} << 62;
  test::expect_error(ErrorCode::invalid_shape, {"63 bits"}, [&] { normalise(nest_of({4}, {{-1}, {huge}})); });
}

/// Random strides: layouts of permuted contiguous tensors with gaps, and broken ones with 0 and any other
/// stride.
Dims random_strides(Random& random, const Dims& extents) {
  std::vector<std::size_t> order(extents.size());
  for (std::size_t k = 0; k < order.size(); ++k) order[k] = k;
  for (std::size_t k = order.size(); k > 1; --k) {
    std::swap(order[k - 1],
              order[static_cast<std::size_t>(random.integer(0, static_cast<std::int64_t>(k) - 1))]);
  }
  Dims strides(extents.size());
  std::int64_t stride = random.integer(1, 2);
  for (const std::size_t axis : order) {
    strides[axis] = random.chance(0.2) ? -stride : stride;
    stride *= std::max<std::int64_t>(extents[axis], 1);
    if (random.chance(0.2)) stride += random.integer(0, 3);
  }
  for (std::int64_t& any : strides) {
    if (random.chance(0.1)) any = random.integer(-9, 9);
    if (random.chance(0.1)) any = 0;
  }
  return strides;
}

TEST(Normalise, RandomNestsKeepTheirTuples) {
  for (const std::uint64_t seed : test::random_seeds(3000)) {
    SCOPED_TRACE(test::reproduce(seed));
    Random random(seed);
    Dims extents(static_cast<std::size_t>(random.integer(0, 6)));
    for (std::int64_t& extent : extents) extent = random.chance(0.02) ? 0 : random.integer(1, 4);
    LoopNest nest;
    nest.extents = extents;
    for (std::int64_t p = random.integer(1, 3); p > 0; --p) {
      // Half of the operands share a layout, so that axes merge.
      const bool same = !nest.strides.empty() && random.chance(0.5);
      const Dims strides = same ? nest.strides.front() : random_strides(random, extents);
      nest.strides.push_back(strides);
      nest.offsets.push_back(random.integer(-5, 5));
    }
    const LoopNest normal = normalise(nest);
    ASSERT_EQ(normal.operands(), nest.operands());
    ASSERT_EQ(tuples(normal), tuples(nest));
    if (nest.elements() > 0) expect_normal_form(normal);
    const LoopNest again = normalise(normal);
    EXPECT_EQ(again.extents, normal.extents);
    EXPECT_EQ(again.strides, normal.strides);
    if (testing::Test::HasFailure()) return;
  }
}

bool overlaps_itself(const TensorView& view) {
  const LoopNest nest = make_nest(view, {});
  const std::vector<Dims> addresses = tuples(nest);
  return std::set<Dims>(addresses.begin(), addresses.end()).size() != addresses.size();
}

TEST(MaySelfOverlap, HandWritten) {
  const auto view = [](Dims shape, Dims strides) { return TensorView(nullptr, DType::f32, shape, strides); };
  EXPECT_FALSE(may_self_overlap(view({2, 3}, {3, 1})));
  EXPECT_FALSE(may_self_overlap(view({2, 3}, {1, 2})));
  EXPECT_FALSE(may_self_overlap(view({2, 3}, {-3, -1})));
  EXPECT_FALSE(may_self_overlap(view({2, 3}, {100, -7})));
  EXPECT_FALSE(may_self_overlap(view({1, 3}, {0, 1})));
  EXPECT_FALSE(may_self_overlap(view({0, 3}, {0, 0})));
  EXPECT_FALSE(may_self_overlap(view({}, {})));
  EXPECT_TRUE(may_self_overlap(view({2, 3}, {0, 1})));
  EXPECT_TRUE(may_self_overlap(view({2, 3}, {2, 1})));
  EXPECT_TRUE(may_self_overlap(view({2, 2}, {1, -1})));
  // Injective, but the axes interleave: documented as refused.
  EXPECT_TRUE(may_self_overlap(view({2, 3}, {3, 2})));
  EXPECT_FALSE(overlaps_itself(view({2, 3}, {3, 2})));
}

TEST(MaySelfOverlap, NeverMissesAnOverlapAndAcceptsNestedLayouts) {
  int overlapping = 0;
  for (const std::uint64_t seed : test::random_seeds(3000)) {
    SCOPED_TRACE(test::reproduce(seed));
    Random random(seed);
    Dims shape(static_cast<std::size_t>(random.integer(0, 4)));
    for (std::int64_t& extent : shape) extent = random.integer(0, 4);
    const TensorView view(nullptr, DType::u8, shape, random_strides(random, shape));
    if (overlaps_itself(view)) {
      ++overlapping;
      ASSERT_TRUE(may_self_overlap(view)) << view.to_string();
    }
    // Each axis beyond the reach of the ones inside it: never refused.
    Dims nested(shape.size());
    std::int64_t reach = 0;
    for (std::size_t axis = shape.size(); axis-- > 0;) {
      nested[axis] = reach + random.integer(1, 3);
      reach += nested[axis] * std::max<std::int64_t>(shape[axis] - 1, 0);
      if (random.chance(0.3)) nested[axis] = -nested[axis];
    }
    ASSERT_FALSE(may_self_overlap(TensorView(nullptr, DType::u8, shape, nested))) << to_string(nested);
  }
  if (test::random_seeds(2).size() > 1) {
    EXPECT_GT(overlapping, 100) << "the cases hardly test anything";
  }
}

}  // namespace
}  // namespace relayout::plan
