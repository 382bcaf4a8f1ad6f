// The nest of a copy between two shapes, against brute force: a nest stands for its set of address pairs.
#include "host/plan/copy/copy_nest.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <utility>
#include <vector>

#include "host/reference/scalar.hpp"

namespace relayout::plan {
namespace {

using Pairs = std::vector<std::pair<std::int64_t, std::int64_t>>;

TensorView view_of(const Dims& shape, const Dims& strides) {
  return TensorView(nullptr, DType::u8, shape, strides);
}

std::int64_t offset_of(const Dims& index, const Dims& strides) {
  std::int64_t offset = 0;
  for (std::size_t k = 0; k < index.size(); ++k) offset += index[k] * strides[k];
  return offset;
}

/// (output, input) offsets of every element, by flat index.
Pairs expected(const TensorView& out, const TensorView& in) {
  Pairs pairs;
  Dims from(in.shape().size(), 0);
  reference::for_each_index(out.shape(), [&](const Dims& to) {
    pairs.emplace_back(offset_of(to, out.strides()), offset_of(from, in.strides()));
    reference::next_index(in.shape(), from);
  });
  std::sort(pairs.begin(), pairs.end());
  return pairs;
}

Pairs pairs_of(const LoopNest& nest) {
  Pairs pairs;
  reference::for_each_index(nest.extents, [&](const Dims& index) {
    pairs.emplace_back(nest.offsets[0] + offset_of(index, nest.strides[0]),
                       nest.offsets[1] + offset_of(index, nest.strides[1]));
  });
  std::sort(pairs.begin(), pairs.end());
  return pairs;
}

TEST(CopyNest, AxesBetweenTheBoundariesOfBothShapes) {
  const TensorView out = view_of({2, 12}, {20, 1}), in = view_of({4, 6}, {10, 1});
  const LoopNest nest = common_nest(out, in);
  ASSERT_EQ(nest.operands(), 2);
  EXPECT_EQ(nest.extents, (Dims{2, 2, 6}));
  EXPECT_EQ(nest.strides[0], (Dims{20, 6, 1}));
  EXPECT_EQ(nest.strides[1], (Dims{20, 10, 1}));
}

TEST(CopyNest, MergesAViewsAxesFirst) {
  // [4, 6] without gaps is one axis of 24, whatever the other's shape.
  EXPECT_EQ(common_nest(view_of({6, 4}, {5, 1}), view_of({4, 6}, {6, 1})).extents, (Dims{6, 4}));
  EXPECT_EQ(common_nest(view_of({6, 4}, {4, 1}), view_of({4, 6}, {6, 1})).extents, (Dims{24}));
}

TEST(CopyNest, NoneWhereBoundariesCross) {
  EXPECT_EQ(common_nest(view_of({6, 4}, {5, 1}), view_of({4, 6}, {7, 1})).operands(), 0);
  EXPECT_EQ(common_nest(view_of({2, 15}, {16, 1}), view_of({5, 6}, {7, 1})).operands(), 0);
}

TEST(CopyNest, NoneBeyondTheMostAxes) {
  // 2^33 elements: [2, 4, 4, ...] and [4, 4, ..., 2], all with gaps, meet in 33 axes of 2.
  Dims out(17, 4), in(17, 4);
  out.front() = in.back() = 2;
  const auto gapped = [](const Dims& shape) {
    Dims strides(shape.size());
    std::int64_t step = 1;
    for (std::size_t k = shape.size(); k-- > 0; step = step * shape[k] + 1) strides[k] = step;
    return strides;
  };
  ASSERT_EQ(view_of(out, gapped(out)).elements(), std::int64_t{1} << 33);
  EXPECT_EQ(common_nest(view_of(out, gapped(out)), view_of(in, gapped(in))).operands(), 0);
  EXPECT_EQ(common_nest(view_of(out, gapped(out)), view_of(out, gapped(out))).rank(), 17);
}

TEST(CopyNest, EqualShapesAlwaysHaveOne) {
  const Dims shape{3, 4, 1, 5, 2};
  for (const Dims& strides : {Dims{40, 10, 7, 2, 1}, Dims{1, 3, 0, 12, 60}, Dims{0, 10, 0, -2, 1}}) {
    const TensorView out = view_of(shape, {60, 12, 99, 2, 1}), in = view_of(shape, strides);
    const LoopNest nest = common_nest(out, in);
    ASSERT_EQ(nest.operands(), 2) << to_string(strides);
    EXPECT_EQ(pairs_of(nest), expected(out, in));
  }
}

TEST(CopyNest, MeansTheSameElements) {
  const std::vector<TensorView> views{view_of({24}, {1}),
                                      view_of({24}, {-3}),
                                      view_of({4, 6}, {6, 1}),
                                      view_of({4, 6}, {7, 1}),
                                      view_of({6, 4}, {1, 6}),
                                      view_of({2, 3, 4}, {50, 1, 7}),
                                      view_of({2, 12}, {20, -1}),
                                      view_of({2, 2, 6}, {6, 24, 1}),
                                      view_of({1, 8, 1, 3}, {9, 3, 9, 1}),
                                      view_of({3, 1, 8}, {8, 5, 1}),
                                      view_of({12, 2}, {2, 1}),
                                      view_of({2, 2, 2, 3}, {90, 40, 15, 4})};
  int common = 0;
  for (const TensorView& out : views) {
    for (const TensorView& in : views) {
      const LoopNest nest = common_nest(out, in);
      if (nest.operands() == 0) continue;
      ++common;
      EXPECT_EQ(pairs_of(nest), expected(out, in)) << out.to_string() << " from " << in.to_string();
    }
  }
  EXPECT_GT(common, 100);
}

TEST(CopyNest, OneElementAndNone) {
  EXPECT_EQ(common_nest(view_of({}, {}), view_of({1, 1}, {3, 4})).rank(), 0);
  EXPECT_EQ(common_nest(view_of({0, 3}, {3, 1}), view_of({5, 0}, {1, 1})).extents, (Dims{0}));
}

TEST(CopyNest, OwnNestKeepsTheOrderOfAxes) {
  const LoopNest nest = own_nest(view_of({2, 1, 3, 4}, {1, 9, 8, 2}));
  EXPECT_EQ(nest.extents, (Dims{2, 12}));
  EXPECT_EQ(nest.strides[0], (Dims{1, 2}));
}

TEST(CopyNest, TheInputsFastestAxis) {
  const auto axis_of = [](const Dims& shape, const std::vector<int>& axes) {
    const TensorView in = TensorView(nullptr, DType::f32, shape).permuted(axes);
    return fastest_input_axis(common_nest(TensorView(nullptr, DType::f32, in.shape()), in));
  };
  EXPECT_EQ(axis_of({100, 200}, {1, 0}), 0);
  // out [d, b, c, a]: the input's fastest axis d is the output's slowest.
  EXPECT_EQ(axis_of({16, 17, 18, 19}, {3, 1, 2, 0}), 0);
  // in[i, j] does not depend on i: an axis of stride 0 is never the one to run along.
  EXPECT_EQ(fastest_input_axis(common_nest(view_of({64, 64}, {64, 1}), view_of({64, 64}, {0, 1}))), 1);
  EXPECT_EQ(fastest_input_axis(common_nest(view_of({64, 64}, {64, 1}), view_of({64, 64}, {1, 0}))), 0);
}

}  // namespace
}  // namespace relayout::plan
