// What the memory moves for elements that are visited in order, and the rates of devices.
#include "host/plan/copy/order_traffic.hpp"

#include <gtest/gtest.h>

#include "host/plan/copy/copy_plan.hpp"
#include "host/plan/device_rates.hpp"

#include <relayout/relayout.hpp>

namespace relayout::plan {
namespace {

OrderTraffic traffic(const Dims& extents, const Dims& strides, double neighbours) {
  return traffic_in_order(DeviceProperties::h200(), extents, strides, 4, 256, neighbours);
}

TEST(OrderTraffic, NeighboursShareSectors) {
  const OrderTraffic in_order = traffic({1024, 1024}, {1024, 1}, 256);
  EXPECT_EQ(in_order.memory, 4.0 * 1024 * 1024);
  EXPECT_EQ(in_order.cache, in_order.memory);
}

/// 4 MB stay in the second cache until the next column needs the same sectors; warps ask it for each of them.
TEST(OrderTraffic, TheSecondCacheKeepsWhatFits) {
  const OrderTraffic across = traffic({1024, 1024}, {1, 1024}, 256);
  EXPECT_EQ(across.memory, 4.0 * 1024 * 1024);
  EXPECT_EQ(across.cache, 32.0 * 1024 * 1024);
}

/// Between two elements of a sector lie 2^22 others, whose sectors are 128 MB.
TEST(OrderTraffic, TheMemoryMovesWhatDoesNotFitAgain) {
  const OrderTraffic far = traffic({64, std::int64_t{1} << 22}, {1, 64}, 256);
  EXPECT_EQ(far.memory, 32.0 * 64 * (std::int64_t{1} << 22));
}

TEST(OrderTraffic, RepeatedElementsMoveOnce) {
  EXPECT_EQ(traffic({1000, 256}, {0, 1}, 256).memory, 4.0 * 256);
}

TEST(LinesOfAccess, AreCountedAlongTheOrder) {
  const auto lines = [](const Dims& extents, const Dims& strides, std::int64_t size, int step) {
    return lines_of_access(extents, strides, size, 32, step);
  };
  EXPECT_EQ(lines({1024}, {1}, 4, 1), 1);
  EXPECT_EQ(lines({1024}, {1}, 1, 8), 2);
  EXPECT_EQ(lines({1024, 1024}, {1, 1024}, 4, 1), 32) << "a column";
  EXPECT_EQ(lines({1024, 8}, {1, 1024}, 4, 1), 8) << "four short columns beside each other";
  EXPECT_EQ(lines({1024, 64}, {1, 512}, 1, 8), 8) << "the same eight elements of each column";
  EXPECT_EQ(lines({1024, 63}, {1, 512}, 1, 8), 32) << "others in each column";
  EXPECT_EQ(lines({5}, {512}, 4, 1), 5) << "no more lanes than elements";
  EXPECT_EQ(lines({}, {}, 4, 1), 1);
}

/// 512 planes of 96 x 96 elements are transposed while they are cast. A warp meets 32 lines with each access:
/// the kernel took 25.8 us on an H200, where the second cache alone would take 10.
TEST(LinesOfAccess, BoundKernelsThatVisitColumns) {
  const TensorView in(nullptr, DType::f32, {512, 96, 96}, {9216, 1, 96}),
      out(nullptr, DType::f16, {512, 96, 96});
  const CopyProblem problem = copy_problem(in, out, {});
  EXPECT_NEAR(rows_candidate(problem, DeviceProperties::h200(), true).microseconds / 25.8, 1, 0.2);
  EXPECT_EQ(plan_copy(DeviceProperties::h200(), in, out).details().kernel, CopyKernel::tile);
}

/// Planes of few rows leave lanes of the window kernel without a sample. On an H200 it took 41 us where tiles
/// take 19 (f32), and 22 where they take 15 (f32 to f16), before its tiles became narrower for such planes.
TEST(Transposes, OfFewRowsGoByTiles) {
  const auto transposed = [](DType from, DType to, const Dims& shape) {
    const TensorView in(nullptr, from, shape, {shape[1] * shape[2], 1, shape[1]}), out(nullptr, to, shape);
    return copy_problem(in, out, {});
  };
  const DeviceProperties device = DeviceProperties::h200();
  const CopyProblem planes = transposed(DType::f32, DType::f32, {256, 16, 2048}),
                    casts = transposed(DType::f32, DType::f16, {64, 64, 2048});
  EXPECT_EQ(plan_copy(planes, device, false).kernel, CopyKernel::tile);
  EXPECT_EQ(plan_copy(casts, device, false).kernel, CopyKernel::tile);
  EXPECT_NEAR(transpose_candidate(planes, device).microseconds / 41.3, 1, 0.35);
  EXPECT_NEAR(transpose_candidate(casts, device).microseconds / 22, 1, 0.35);
  // Rows of 36 and of 48 elements have 64 lanes alike.
  const auto nanoseconds = [&](std::int64_t rows) {
    const CopyProblem problem = transposed(DType::f32, DType::f32, {640, rows, 1024});
    return transpose_candidate(problem, device).microseconds * 1000 / static_cast<double>(rows);
  };
  EXPECT_GT(nanoseconds(36), 1.1 * nanoseconds(48));
}

/// Planes of f32 images become channels of 1.6 GB: tiles took 382 us on an H200, rows 477.
TEST(Transposes, OfManyBytesGoByTiles) {
  const std::int64_t images = 32, height = 1080, width = 1920;
  const TensorView in(nullptr, DType::f32, {images, height, width, 3},
                      {3 * height * width, width, 1, height * width}),
      out(nullptr, DType::f32, in.shape());
  const DeviceProperties device = DeviceProperties::h200();
  const CopyProblem problem = copy_problem(in, out, {});
  EXPECT_EQ(plan_copy(problem, device, false).kernel, CopyKernel::tile);
  EXPECT_NEAR(tile_candidate(problem, device).microseconds / 382, 1, 0.1);
}

TEST(DeviceRates, TimesOfPartsThatWorkTogether) {
  EXPECT_EQ(time_together({0, 0}), 0);
  EXPECT_DOUBLE_EQ(time_together({3, 0, 0}), 3);
  EXPECT_NEAR(time_together({3, 1.5, 1}), 3, 0.01);
  EXPECT_NEAR(time_together({3, 3}), 3 * 1.09, 0.01);
}

TEST(DeviceRates, FollowTheDevice) {
  DeviceProperties h200 = DeviceProperties::h200(), slower = h200, unknown = h200;
  EXPECT_DOUBLE_EQ(memory_ratio(h200), 1);
  slower.memory_bytes_per_second /= 2;
  EXPECT_DOUBLE_EQ(memory_ratio(slower), 0.5);
  EXPECT_DOUBLE_EQ(device_rates(slower).bytes_per_microsecond, device_rates(h200).bytes_per_microsecond / 2);
  // Half the multiprocessors have half the memory.
  unknown.memory_bytes_per_second = unknown.clock_hertz = 0;
  unknown.multiprocessors /= 2;
  EXPECT_DOUBLE_EQ(memory_ratio(unknown), 1);
  EXPECT_LT(device_rates(DeviceProperties::mi300x()).instructions_per_microsecond,
            device_rates(h200).instructions_per_microsecond);
}

}  // namespace
}  // namespace relayout::plan
