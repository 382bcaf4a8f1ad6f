// The model by which the routes between GPUs are compared, beside what two and four H200 reached.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>

#include "host/redistribute/link_model.hpp"

namespace relayout::test {
namespace {

/// Shares that two H200 reached: stores to another device are dear where runs are short and lie off the
/// boundaries of vectors.
TEST(LinkModelTest, RunsOffTheBoundariesLoseMost) {
  const plan::LinkModel& model = plan::link_model(DeviceProperties::h200(), false);
  const auto share = [&](std::int64_t run_bytes, bool aligned, std::int64_t needed, std::int64_t touched,
                         int vector_bytes = 16, std::int64_t row_bytes = 0, bool whole_sectors = false) {
    CopyDetails details;
    CopySide& side = details.out;
    side.vector_bytes = vector_bytes;
    side.run_bytes = run_bytes;
    side.unbroken_bytes = std::max(run_bytes, row_bytes);
    side.aligned_vectors = aligned;
    side.sectors_needed = needed;
    side.sectors_touched = touched;
    side.on_sectors = details.in.on_sectors = whole_sectors;
    return plan::share_of_link(details, false, model);
  };
  EXPECT_NEAR(share(256, true, 1024, 1024), 0.96, 0.02);
  EXPECT_NEAR(share(64, true, 1024, 1024), 0.88, 0.03);
  EXPECT_NEAR(share(32, true, 512, 512), 0.52, 0.05);
  EXPECT_NEAR(share(16, true, 512, 512), 0.6, 0.07);
  EXPECT_NEAR(share(96, false, 600, 600), 0.63, 0.1);
  EXPECT_NEAR(share(50, false, 400, 640), 0.20, 0.05);
  EXPECT_NEAR(share(64, false, 576, 828), 0.30, 0.05);
  EXPECT_NEAR(share(480, false, 420, 420, 16, 10244), 0.86, 0.03);  // tiles of one long row
  EXPECT_NEAR(share(96, false, 600, 600, 16, 516), 0.64, 0.05);
  EXPECT_NEAR(share(4068, true, 128, 128, 4), 0.69, 0.05);
  EXPECT_NEAR(share(1026, true, 128, 128, 2), 0.52, 0.05);
  EXPECT_NEAR(share(1024, true, 128, 128, 4, 0, true), 0.98, 0.03);
}

/// A stream copies to one device after the other. Four H200 reach 220 GB/s so, and kernels 340.
TEST(LinkModelTest, CopiesToSeveralDevicesTakeTurns) {
  const plan::LinkModel& model = plan::link_model(DeviceProperties::h200(), false);
  plan::RouteTime to_one(model), to_three(model), written(model);
  for (int to = 1; to < 4; ++to) {
    to_one.add_copy(0, 1, 67e6, 67e6);
    to_three.add_copy(0, to, 67e6, 67e6);
    written.add_bytes(0, to, 67e6, 0.95);
  }
  EXPECT_NEAR(to_one.microseconds(), 20 + 3 * 67e6 / 390e3, 20);
  EXPECT_NEAR(to_three.microseconds(), 930, 30);
  EXPECT_NEAR(written.microseconds(), 570, 30);
}

/// Messages that kernels move do not run beside those that pack.
TEST(LinkModelTest, MessagesOfTheCommunicatorWaitForKernels) {
  for (const bool one_process : {true, false}) {
    plan::RouteTime time(plan::link_model(DeviceProperties::h200(), !one_process));
    time.add_bytes(0, 1, 100e6, 1);
    const double alone = time.microseconds();
    time.add_kernel(0, 100, 0);
    EXPECT_EQ(time.microseconds() - alone, one_process ? 0 : 100);
  }
}

}  // namespace
}  // namespace relayout::test
