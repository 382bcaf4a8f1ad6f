// Which kernel copies which nest.
#include "host/plan/copy_plan.hpp"

#include <gtest/gtest.h>

namespace relayout::plan {
namespace {

/// A contiguous [shape] permuted by `axes` into a contiguous output.
CopyPlan plan_of(const Dims& shape, const std::vector<int>& axes) {
  static char memory;  // only addresses are computed
  const TensorView in = TensorView(&memory, DType::f32, shape).permuted(axes);
  const TensorView out(&memory, DType::f32, in.shape());
  return choose_copy(normalise(make_nest(out, {in})));
}

TEST(CopyPlan, ContiguousCopyGathers) {
  EXPECT_EQ(plan_of({64, 64, 64}, {0, 1, 2}).kernel, CopyKernel::gather);
}

TEST(CopyPlan, TransposeTiles) {
  const CopyPlan plan = plan_of({100, 200}, {1, 0});
  EXPECT_EQ(plan.kernel, CopyKernel::tile);
  EXPECT_EQ(plan.in_axis, 0);
}

TEST(CopyPlan, TileSpansTheInputsFastestAxis) {
  // out [d, b, c, a]: the input's fastest axis d is the output's slowest.
  const CopyPlan plan = plan_of({16, 17, 18, 19}, {3, 1, 2, 0});
  EXPECT_EQ(plan.kernel, CopyKernel::tile);
  EXPECT_EQ(plan.in_axis, 0);
}

TEST(CopyPlan, KeptFastestAxisGathers) {
  EXPECT_EQ(plan_of({16, 17, 18}, {1, 0, 2}).kernel, CopyKernel::gather);
}

TEST(CopyPlan, ShortAxesGather) {
  EXPECT_EQ(plan_of({1000, 7}, {1, 0}).kernel, CopyKernel::gather);
  EXPECT_EQ(plan_of({7, 1000}, {1, 0}).kernel, CopyKernel::gather);
  EXPECT_EQ(plan_of({8, 1000}, {1, 0}).kernel, CopyKernel::tile);
}

TEST(CopyPlan, RepeatedAxisIsNeverTheTilesReadSide) {
  static char memory;
  // in[i, j] does not depend on i: stride 0 along the output's slower axis.
  const TensorView in(&memory, DType::f32, {64, 64}, {0, 1});
  const TensorView out(&memory, DType::f32, {64, 64});
  EXPECT_EQ(choose_copy(normalise(make_nest(out, {in}))).kernel, CopyKernel::gather);
}

TEST(CopyPlan, ScalarHasAPlan) { EXPECT_EQ(plan_of({}, {}).kernel, CopyKernel::gather); }

}  // namespace
}  // namespace relayout::plan
