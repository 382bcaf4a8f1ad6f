// Which kernel copies which nest.
#include "host/plan/copy_plan.hpp"

#include <gtest/gtest.h>

namespace relayout::plan {
namespace {

char memory;  // only addresses are computed

/// A contiguous [shape] permuted by `axes` into a contiguous output.
LoopNest nest_of(const Dims& shape, const std::vector<int>& axes) {
  const TensorView in = TensorView(&memory, DType::f32, shape).permuted(axes);
  return normalise(make_nest(TensorView(&memory, DType::f32, in.shape()), {in}));
}

CopyKernel kernel_of(const LoopNest& nest) { return choose_copy(nest, TileTarget{}).kernel; }

TEST(CopyPlan, WhatHasRunsIsTiled) {
  EXPECT_EQ(kernel_of(nest_of({64, 64, 64}, {0, 1, 2})), CopyKernel::tile);  // contiguous
  EXPECT_EQ(kernel_of(nest_of({100, 200}, {1, 0})), CopyKernel::tile);
  EXPECT_EQ(kernel_of(nest_of({16, 17, 18, 19}, {3, 1, 2, 0})), CopyKernel::tile);
  EXPECT_EQ(kernel_of(nest_of({16, 17, 18}, {1, 0, 2})), CopyKernel::tile);
  EXPECT_EQ(kernel_of(nest_of({1000, 7}, {1, 0})), CopyKernel::tile);
}

TEST(CopyPlan, TheRestIsGathered) {
  const TensorView out(&memory, DType::f32, {64, 64});
  const TensorView strided(&memory, DType::f32, {64, 64}, {128, 2});
  EXPECT_EQ(kernel_of(normalise(make_nest(out, {strided}))), CopyKernel::gather);
  EXPECT_EQ(kernel_of(nest_of({}, {})), CopyKernel::gather);  // a scalar
}

TEST(CopyPlan, TheInputsFastestAxis) {
  EXPECT_EQ(fastest_input_axis(nest_of({100, 200}, {1, 0})), 0);
  // out [d, b, c, a]: the input's fastest axis d is the output's slowest.
  EXPECT_EQ(fastest_input_axis(nest_of({16, 17, 18, 19}, {3, 1, 2, 0})), 0);
  // in[i, j] does not depend on i: an axis of stride 0 is never the one to run along.
  const TensorView in(&memory, DType::f32, {64, 64}, {0, 1});
  const TensorView out(&memory, DType::f32, {64, 64});
  EXPECT_EQ(fastest_input_axis(normalise(make_nest(out, {in}))), 1);
}

}  // namespace
}  // namespace relayout::plan
