// Which depthwise kernel runs, and that its tile fits threads and shared memory.
#include "host/plan/depthwise/depthwise_plan.hpp"
#include "core/integer_math.hpp"

#include <gtest/gtest.h>

#include <vector>

namespace relayout::plan {
namespace {

DepthwiseParams time_fast(std::int64_t batch, std::int64_t channels, std::int64_t length, std::int64_t taps) {
  DepthwiseParams a;
  a.in = reinterpret_cast<const void*>(4096);
  a.out = reinterpret_cast<void*>(8192);
  a.batch = batch;
  a.channels = channels;
  a.length = length;
  a.taps = taps;
  a.in_batch = a.out_batch = channels * length;
  a.in_channel = a.out_channel = length;
  a.in_time = a.out_time = 1;
  return a;
}

DepthwiseParams channel_fast(std::int64_t batch, std::int64_t channels, std::int64_t length,
                             std::int64_t taps) {
  DepthwiseParams a = time_fast(batch, channels, length, taps);
  a.in_channel = a.out_channel = 1;
  a.in_time = a.out_time = channels;
  return a;
}

DepthwiseParams planned(DepthwiseParams a, const DeviceProperties& device) {
  plan_depthwise(device, false, a);
  return a;
}

DepthwiseKernel kernel_of(const DepthwiseParams& a) { return planned(a, DeviceProperties::h200()).kernel; }

TEST(DepthwisePlan, AlignedRowsTakeVectors) {
  EXPECT_EQ(kernel_of(time_fast(2, 64, 2048, 4)), DepthwiseKernel::time);
  EXPECT_EQ(kernel_of(channel_fast(2, 64, 2048, 4)), DepthwiseKernel::channel);
  EXPECT_EQ(kernel_of(time_fast(2, 64, 2048, 31)), DepthwiseKernel::time_many);
  EXPECT_EQ(kernel_of(channel_fast(2, 64, 2048, 31)), DepthwiseKernel::channel_many);
  EXPECT_EQ(kernel_of(time_fast(2, 64, 2048, kMaxVectorTaps + 1)), DepthwiseKernel::scalar);
  DepthwiseParams sequences = time_fast(2, 64, 2048, 4);
  const std::int32_t id = 0;
  sequences.ids = &id;
  EXPECT_EQ(kernel_of(sequences), DepthwiseKernel::scalar);
}

TEST(DepthwisePlan, OneThingLessThanVectorsNeed) {
  std::vector<DepthwiseParams> all(6, time_fast(2, 64, 2048, 4));
  all[0].in = reinterpret_cast<const void*>(4098);
  all[1].out = reinterpret_cast<void*>(8194);
  all[2].in_channel += 4;
  all[3].out_batch += 4;
  all[4].in_time = 2;
  all[5].out_time = 64;
  for (std::size_t i = 0; i < all.size(); ++i) EXPECT_EQ(kernel_of(all[i]), DepthwiseKernel::scalar) << i;
  DepthwiseParams one = time_fast(1, 1, 2048, 4);
  one.in_batch = one.in_channel = 3;
  EXPECT_EQ(kernel_of(one), DepthwiseKernel::time) << "strides of axes with one index";
  DepthwiseParams pitch = time_fast(2, 64, 2048, 4);
  pitch.type = DType::f32;
  pitch.in_channel += 4;
  pitch.in_batch += 4;
  EXPECT_EQ(kernel_of(pitch), DepthwiseKernel::time) << "four f32 are 16 bytes";
}

TEST(DepthwisePlan, SinglesFollowTheOutput) {
  DepthwiseParams a = channel_fast(2, 63, 100, 4);
  EXPECT_FALSE(planned(a, DeviceProperties::h200()).lanes_along_time);
  a = time_fast(2, 64, 99, 4);
  EXPECT_TRUE(planned(a, DeviceProperties::h200()).lanes_along_time);
}

TEST(DepthwisePlan, TilesFitThreadsAndSharedMemory) {
  for (const DeviceProperties& device :
       {DeviceProperties::h200(), DeviceProperties::mi300x(), DeviceProperties()}) {
    for (const std::int64_t channels : {8, 24, 1000, 4096}) {
      for (const std::int64_t length : {8, 40, 2048, 100000}) {
        for (const std::int64_t taps : {1, 4, 9, 31, 128}) {
          for (const std::int64_t bytes : {2, 4}) {
            for (DepthwiseParams a :
                 {time_fast(3, channels, length, taps), channel_fast(3, channels, length, taps)}) {
              a.type = bytes == 2 ? DType::f16 : DType::f32;
              SCOPED_TRACE(testing::Message() << channels << " channels, " << length << " samples, " << taps
                                              << " taps, " << bytes << " bytes, time " << a.in_time);
              const DepthwiseParams plan = planned(a, device);
              EXPECT_GE(plan.lanes, 1);
              EXPECT_LE(plan.lanes, kDepthwiseThreads);
              EXPECT_EQ(plan.lanes & (plan.lanes - 1), 0);
              EXPECT_GE(plan.run, 1);
              if (plan.kernel == DepthwiseKernel::scalar) continue;
              EXPECT_LE(plan.shared_bytes, 48 * 1024);
              const std::int64_t pack = 16 / bytes;
              if (a.in_time == 1) {
                EXPECT_LE(plan.run, taps > kUnrolledTaps ? 16 : 4);
                const std::int64_t pitch = round_up(taps, pack);
                EXPECT_LE(kDepthwiseThreads / plan.lanes * pitch * 4,
                          taps > kUnrolledTaps ? 48 * 1024 : 1 << 30);
              }
              if (a.in_time != 1) {
                EXPECT_EQ(plan.run % 8, taps <= kUnrolledTaps ? 0 : plan.run % 8);
                EXPECT_LE(plan.lanes * (taps > kUnrolledTaps ? 2 : pack) * (taps + 1) * 4, 48 * 1024);
              }
            }
          }
        }
      }
    }
  }
}

TEST(DepthwisePlan, SmallProblemsAreCutFiner) {
  const DeviceProperties h200 = DeviceProperties::h200();
  EXPECT_EQ(planned(time_fast(8, 2048, 8192, 4), h200).run, 4);
  EXPECT_EQ(planned(time_fast(1, 64, 2048, 4), h200).run, 1);
  EXPECT_GT(planned(channel_fast(8, 2048, 8192, 4), h200).run,
            planned(channel_fast(1, 64, 2048, 4), h200).run);
}

}  // namespace
}  // namespace relayout::plan
