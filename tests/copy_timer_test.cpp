// How plans of copies are timed, and how many.
#include "host/api/copy_timer.hpp"

#include <gtest/gtest.h>

#include <vector>

#include "relayout/permute.hpp"
#include "relayout/plan_cache.hpp"
#include "tests/support/devices.hpp"

namespace relayout::test {
namespace {

class CopyTimerTest : public DeviceTest {};
INSTANTIATE_TEST_SUITE_P(Devices, CopyTimerTest, ::testing::ValuesIn(test_devices()), device_test_name);

/// Each plan's own time: of a thousand times the elements a long one.
TEST_P(CopyTimerTest, TimesEveryPlan) {
  const Buffer from(device(), 256 * 260 * 4), to(device(), 256 * 260 * 4);
  void* const in = from.data();
  void* const out = to.data();
  const CopyPlan large = plan_transpose(device(), TensorView(in, DType::f32, {256, 260}),
                                        TensorView(out, DType::f32, {260, 256}));
  const CopyPlan small =
      plan_transpose(device(), TensorView(in, DType::f32, {8, 8}), TensorView(out, DType::f32, {8, 8}));
  const std::vector<double> seconds = seconds_of(stream(), {small, large, small}, in, out);
  ASSERT_EQ(seconds.size(), 3u);
  EXPECT_GT(seconds[0], 0);
  EXPECT_GT(seconds[1], device().kind() == DeviceKind::gpu ? seconds[0] : 2 * seconds[0]);
  EXPECT_GT(seconds[1], device().kind() == DeviceKind::gpu ? seconds[2] : 2 * seconds[2]);
  EXPECT_LT(seconds[1], 10);
}

/// A copy of about twenty tiles.
TEST_P(CopyTimerTest, NoMoreThanSixteenPlansAreMeasured) {
  const Buffer in(device(), 256 * 256 * 4), out(device(), 256 * 256 * 4);
  const TensorView square(nullptr, DType::f32, {256, 256});
  PlanCache cache;
  const CopyPlan plan =
      cache.measure(stream(), plan_transpose(device(), square, square), in.data(), out.data());
  EXPECT_EQ(plan.details().measurement.candidates, device().kind() == DeviceKind::cpu ? 0 : 16);
}

}  // namespace
}  // namespace relayout::test
