// How plans of copies are timed, and how many.
#include "host/api/copy_timer.hpp"

#include <gtest/gtest.h>

#include <chrono>
#include <vector>

#include "host/reference/permute.hpp"
#include "relayout/permute.hpp"
#include "relayout/plan_cache.hpp"
#include "tests/support/devices.hpp"
#include "tests/support/fill.hpp"
#include "tests/support/guarded_buffer.hpp"

namespace relayout::test {
namespace {

class CopyTimerTest : public DeviceTest {};
INSTANTIATE_TEST_SUITE_P(Devices, CopyTimerTest, ::testing::ValuesIn(test_devices()), device_test_name);

/// Every plan runs in its turn, the large one between small ones, and its time is a part of what all of them
/// took.
TEST_P(CopyTimerTest, TimesEveryPlan) {
  GuardedBuffer from(stream(), Role::input, DType::f32, {256, 260});
  GuardedBuffer to(stream(), Role::output, DType::f32, {260, 256});
  fill_bits(from.host());
  from.upload();
  void* const in = from.device().data();
  void* const out = to.device().data();
  const CopyPlan large = plan_transpose(device(), from.device(), to.device());
  const CopyPlan small =
      plan_transpose(device(), TensorView(in, DType::f32, {8, 8}), TensorView(out, DType::f32, {8, 8}));
  const auto start = std::chrono::steady_clock::now();
  const std::vector<double> seconds = seconds_of(stream(), {small, large, small}, in, out);
  const std::chrono::duration<double> all = std::chrono::steady_clock::now() - start;
  ASSERT_EQ(seconds.size(), 3u);
  for (const double each : seconds) EXPECT_GT(each, 0);
  EXPECT_GT(seconds[1], 1e-7);  // half a megabyte: no memory moves 5 TB/s for one launch
  EXPECT_LE(seconds[0] + seconds[1] + seconds[2], all.count());
  reference::permute(from.host(), {1, 0}, to.host());
  reference::permute(TensorView(from.host().data(), DType::f32, {8, 8}), {1, 0},
                     TensorView(to.host().data(), DType::f32, {8, 8}));
  EXPECT_TRUE(to.check());
}

/// A copy of about twenty tiles.
TEST_P(CopyTimerTest, NoMoreThanSixteenPlansAreMeasured) {
  const Buffer in(device(), 256 * 256 * 4), out(device(), 256 * 256 * 4);
  stream().fill(in.data(), 1, in.bytes());
  const TensorView square(nullptr, DType::f32, {256, 256});
  PlanCache cache;
  const CopyPlan plan =
      cache.measure(stream(), plan_transpose(device(), square, square), in.data(), out.data());
  EXPECT_EQ(plan.details().measurement.candidates, is_native() ? 0 : 16);
}

}  // namespace
}  // namespace relayout::test
