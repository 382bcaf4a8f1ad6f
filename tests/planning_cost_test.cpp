// What planning a copy costs, in candidates: boxes that are considered and those that a plan is made for. The
// limits catch a search that grows with the number of axes. Microseconds are bench/planning_bench's.
#include <gtest/gtest.h>

#include <numeric>
#include <vector>

#include "host/plan/copy/tile_plan.hpp"

#include <relayout/relayout.hpp>

namespace relayout::test {
namespace {

/// The tile of a permutation of contiguous tensors on an H200.
plan::TilePlan tile_of(DType type, const Dims& shape, const std::vector<int>& axes) {
  const TensorView in = TensorView(nullptr, type, shape).permuted(axes);
  const plan::LoopNest nest = plan::normalise(plan::make_nest(TensorView(nullptr, type, in.shape()), {in}));
  const int bytes = static_cast<int>(size_of(type));
  return plan::choose_tile(nest, plan::tile_target(DeviceProperties::h200(), bytes, bytes));
}

std::vector<int> reversal(std::size_t rank) {
  std::vector<int> axes(rank);
  std::iota(axes.rbegin(), axes.rend(), 0);
  return axes;
}

TEST(PlanningCost, FewBoxesArePlannedAtAnyRank) {
  struct Case {
    Dims shape;
    std::vector<int> axes;
  };
  // At most 28 today.
  for (const Case& c :
       {Case{{8192, 8192}, {1, 0}}, Case{{12345, 6789}, {1, 0}}, Case{{64, 256, 56, 56}, {0, 2, 3, 1}},
        Case{{48, 30, 28, 26, 24}, reversal(5)}, Case{{20, 18, 16, 14, 22, 24}, reversal(6)},
        Case{{7, 8, 9, 10, 11, 12, 13, 5}, reversal(8)}, Case{Dims(26, 2), reversal(26)}}) {
    for (const DType type : {DType::u8, DType::f16, DType::f32, DType::f64}) {
      SCOPED_TRACE(to_string(c.shape) + " " + name_of(type));
      const plan::TilePlan plan = tile_of(type, c.shape, c.axes);
      EXPECT_GE(plan.boxes_considered, 1);
      EXPECT_LE(plan.boxes_considered, 32);
      EXPECT_LE(plan.boxes_planned, 32);
      EXPECT_LE(plan.boxes_planned, plan.boxes_considered);
    }
  }
}

}  // namespace
}  // namespace relayout::test
