// What the memory moves for elements that are visited in order, and the rates of devices.
#include "host/plan/copy/order_traffic.hpp"

#include <gtest/gtest.h>

#include "host/plan/copy/copy_plan.hpp"
#include "host/plan/device_rates.hpp"

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

/// The 64 elements of a row lie in as many lines of the first cache. Where these are 64 KiB apart, most have
/// left it when the next row comes.
TEST(OrderTraffic, LanesMeetFewerNeighboursInRowsAcrossAPowerOfTwo) {
  const auto lanes = [](std::int64_t pitch, std::int64_t row) {
    const TensorView in(nullptr, DType::i8, {65536, row}, {1, pitch});
    const TensorView out(nullptr, DType::f32, {65536, row}, {row, 1});
    return rows_candidate(copy_problem(in, out, {}), DeviceProperties::h200(), true).microseconds;
  };
  EXPECT_GT(lanes(65536, 64), 1.5 * lanes(65536 + 128, 64));
  EXPECT_DOUBLE_EQ(lanes(65536, 8), lanes(65536 + 128, 8)) << "few lines have room";
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
