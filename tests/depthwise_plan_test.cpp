// Which depthwise kernel runs, and that its tile fits threads and shared memory.
#include "host/plan/depthwise/depthwise_plan.hpp"

#include <gtest/gtest.h>

#include <utility>
#include <vector>

#include "host/plan/depthwise/depthwise_backward_plan.hpp"

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

TEST(DepthwisePlan, TheFastAxisTakesTheKernel) {
  EXPECT_EQ(kernel_of(time_fast(2, 64, 2048, 4)), DepthwiseKernel::time);
  EXPECT_EQ(kernel_of(time_fast(2, 64, 2047, 4)), DepthwiseKernel::time);
  EXPECT_EQ(kernel_of(channel_fast(2, 64, 2048, 4)), DepthwiseKernel::channel);
  EXPECT_EQ(kernel_of(time_fast(8, 2048, 8192, 31)), DepthwiseKernel::time_many);
  EXPECT_EQ(kernel_of(channel_fast(8, 2048, 8192, 31)), DepthwiseKernel::channel_many);
  EXPECT_EQ(kernel_of(time_fast(2, 64, 2048, kMaxVectorTaps + 1)), DepthwiseKernel::scalar);
  DepthwiseParams sequences = time_fast(2, 64, 2048, 4);
  const std::int32_t id = 0;
  sequences.ids = &id;
  EXPECT_EQ(kernel_of(sequences), DepthwiseKernel::scalar);
}

/// Matrix units multiply many taps of 16 bits in long rows, where the device has units that keep all numbers.
TEST(DepthwisePlan, MatrixUnitsTakeManyTaps) {
  DepthwiseParams long_rows = time_fast(8, 2048, 8192, 31);
  long_rows.type = long_rows.weight_type = DType::bf16;
  const auto kernel_on = [&](const char* architecture) {
    DeviceProperties device = DeviceProperties::h200();
    device.architecture = architecture;
    return planned(long_rows, device).kernel;
  };
  for (const char* architecture : {"sm_80", "sm_90", "sm_90a", "sm_100", "sm_120"})
    EXPECT_EQ(kernel_on(architecture), DepthwiseKernel::time_matrix) << architecture;
  for (const char* architecture : {"sm_75", "gfx90a", "gfx1100"})
    EXPECT_EQ(kernel_on(architecture), DepthwiseKernel::time_many) << architecture;
  EXPECT_EQ(planned(long_rows, DeviceProperties::mi300x()).kernel, DepthwiseKernel::time_matrix);
  const auto kernel_for = [&](std::int64_t length, std::int64_t taps, DType weights) {
    DepthwiseParams p = time_fast(8, 2048, length, taps);
    p.type = DType::bf16;
    p.weight_type = weights;
    return kernel_of(p);
  };
  EXPECT_EQ(kernel_for(8192, kMaxMatrixTaps, DType::bf16), DepthwiseKernel::time_matrix);
  EXPECT_EQ(kernel_for(8192, kMaxMatrixTaps + 1, DType::bf16), DepthwiseKernel::time_many);
  EXPECT_EQ(kernel_for(8192, 31, DType::f32), DepthwiseKernel::time_many);
  EXPECT_EQ(kernel_for(25, 31, DType::bf16), DepthwiseKernel::time_many);
}

/// The same from and to rows of channels, by packs of them where all lie on 16 bytes.
TEST(DepthwisePlan, MatrixUnitsTakeRowsOfChannels) {
  DepthwiseParams p = channel_fast(8, 2048, 8192, 31);
  p.type = p.weight_type = DType::bf16;
  const auto rows_plan = [&] { return planned(p, DeviceProperties::h200()); };
  EXPECT_EQ(rows_plan().kernel, DepthwiseKernel::tile_matrix);
  EXPECT_EQ(rows_plan().in_side.width, 8);
  p.in = reinterpret_cast<const void*>(4096 + 4);
  EXPECT_EQ(rows_plan().in_side.width, 2);
  p.in = reinterpret_cast<const void*>(4096 + 2);
  EXPECT_EQ(rows_plan().in_side.width, 1);
  EXPECT_EQ(rows_plan().out_side.width, 8);
  p.in = reinterpret_cast<const void*>(4096);
  p.out_channel = 8192;
  p.out_time = 1;
  EXPECT_EQ(rows_plan().kernel, DepthwiseKernel::tile_matrix);
  EXPECT_TRUE(rows_plan().out_side.lanes_along_time);
  p.weight_type = DType::f32;
  EXPECT_EQ(rows_plan().kernel, DepthwiseKernel::tile);
  // A tile of 512 samples has few that exist.
  DepthwiseParams short_rows = channel_fast(8, 4096, 9, 31);
  short_rows.type = short_rows.weight_type = DType::bf16;
  EXPECT_NE(planned(short_rows, DeviceProperties::h200()).kernel, DepthwiseKernel::tile_matrix);
}

/// With many taps, tiles inside rows have code of their own where there are many, and long rows.
TEST(DepthwisePlan, TilesInsideRowsApart) {
  const auto apart = [](std::int64_t batch, std::int64_t channels, std::int64_t length, DType type) {
    DepthwiseParams p = time_fast(batch, channels, length, 31);
    p.type = type;
    const DepthwiseParams plan = planned(p, DeviceProperties::h200());
    EXPECT_EQ(plan.kernel, DepthwiseKernel::time_many);
    return plan.inside_apart;
  };
  EXPECT_TRUE(apart(8, 2048, 8192, DType::f16));
  EXPECT_FALSE(apart(64, 2048, 1024, DType::f16));
  EXPECT_TRUE(apart(64, 2048, 1024, DType::f32));
  EXPECT_FALSE(apart(1, 3, 50000, DType::bf16));
  EXPECT_FALSE(apart(1, 3, 50000, DType::f32));
}

/// Neither bases nor pitches send a convolution to single elements.
TEST(DepthwisePlan, AnyBaseAndPitch) {
  std::vector<DepthwiseParams> all(8, time_fast(2, 64, 2048, 4));
  for (std::size_t i = 4; i < 8; ++i) all[i] = channel_fast(2, 64, 2048, 4);
  for (const std::size_t i : {0, 4}) {
    all[i].in = reinterpret_cast<const void*>(4098);
    all[i + 1].out = reinterpret_cast<void*>(8194);
    all[i + 2].out_batch += 5;
  }
  all[3].in_channel += 5;
  all[7].in_time += 5;
  for (std::size_t i = 0; i < all.size(); ++i)
    EXPECT_EQ(kernel_of(all[i]), i < 4 ? DepthwiseKernel::time : DepthwiseKernel::channel) << i;
  EXPECT_EQ(planned(channel_fast(2, 64, 2048, 4), DeviceProperties::h200()).width, 2);
  EXPECT_EQ(planned(all[4], DeviceProperties::h200()).width, 1);
  DepthwiseParams one = time_fast(1, 1, 2048, 4);
  one.in_batch = one.in_channel = 0;
  EXPECT_EQ(kernel_of(one), DepthwiseKernel::time) << "one channel";
}

TEST(DepthwisePlan, LayoutsThatDifferAndFewChannelsTakeTiles) {
  DepthwiseParams a = time_fast(2, 64, 2048, 4);
  a.out_channel = 1;
  a.out_time = 64;
  EXPECT_EQ(kernel_of(a), DepthwiseKernel::tile);
  EXPECT_EQ(planned(a, DeviceProperties::h200()).in_side.rows, DepthwiseRows::time);
  EXPECT_EQ(planned(a, DeviceProperties::h200()).out_side.rows, DepthwiseRows::channel);
  EXPECT_EQ(kernel_of(channel_fast(2, 3, 100000, 4)), DepthwiseKernel::tile);
  EXPECT_TRUE(planned(channel_fast(2, 3, 100000, 4), DeviceProperties::h200()).out_side.is_one_row);
  a = time_fast(2, 64, 2048, 4);
  a.in_time = 50;
  EXPECT_EQ(planned(a, DeviceProperties::h200()).in_side.rows, DepthwiseRows::none);
}

/// Words of channels that are the fast axis of the input alone.
TEST(DepthwisePlan, ChannelsToTimeTurn) {
  DepthwiseParams a = channel_fast(2, 64, 2048, 4);
  a.out_channel = 2048;
  a.out_time = 1;
  EXPECT_EQ(kernel_of(a), DepthwiseKernel::turn);
  EXPECT_EQ(planned(a, DeviceProperties::h200()).out_side.rows, DepthwiseRows::time);
  EXPECT_EQ(depthwise_alignment(planned(a, DeviceProperties::h200())).in, 4);
  a.out = reinterpret_cast<void*>(8194);
  EXPECT_EQ(kernel_of(a), DepthwiseKernel::turn) << "any base of the output";
  EXPECT_EQ(depthwise_alignment(planned(a, DeviceProperties::h200())).out, 1);
  a.in = reinterpret_cast<const void*>(4098);
  EXPECT_EQ(kernel_of(a), DepthwiseKernel::tile) << "words across boundaries";
}

TEST(DepthwisePlan, UpdatesOfWords) {
  DepthwiseParams a = time_fast(64, 4096, 1, 4);
  a.update = true;
  a.state = a.out;
  a.state_length = 3;
  a.state_batch = 4096 * 3;
  a.state_channel = 3;
  a.state_time = 1;
  EXPECT_EQ(kernel_of(a), DepthwiseKernel::update_words);
  DepthwiseParams columns = a;
  columns.state_channel = 1;
  columns.state_time = 4096;
  EXPECT_EQ(kernel_of(columns), DepthwiseKernel::update_words);
  DepthwiseParams gaps = a;
  gaps.state_channel = 5;
  EXPECT_EQ(kernel_of(gaps), DepthwiseKernel::update);
  gaps.type = DType::f32;
  EXPECT_EQ(kernel_of(gaps), DepthwiseKernel::update_words) << "an f32 is a word";
  a.state_length = kMaxStateColumns + 1;
  EXPECT_EQ(kernel_of(a), DepthwiseKernel::update);
}

TEST(DepthwisePlan, TilesFitThreadsAndSharedMemory) {
  for (const DeviceProperties& device :
       {DeviceProperties::h200(), DeviceProperties::mi300x(), DeviceProperties()}) {
    for (const std::int64_t channels : {1, 3, 24, 1000, 4096}) {
      for (const std::int64_t length : {1, 8, 40, 2047, 100000}) {
        for (const std::int64_t taps : {1, 4, 9, 31, 128}) {
          for (const DType type : {DType::f16, DType::f32}) {
            for (DepthwiseParams a :
                 {time_fast(3, channels, length, taps), channel_fast(3, channels, length, taps)}) {
              a.type = type;
              for (const bool transposes : {false, true}) {
                if (transposes) {
                  std::swap(a.out_channel, a.out_time);
                  (a.out_channel == 1 ? a.out_time : a.out_channel) = a.out_channel == 1 ? channels : length;
                }
                SCOPED_TRACE(testing::Message()
                             << channels << " channels, " << length << " samples, " << taps << " taps, "
                             << name_of(type) << ", time " << a.in_time << " to " << a.out_time);
                for (const DepthwiseCandidate& candidate : depthwise_candidates(device, a)) {
                  if (candidate.refused != nullptr) continue;
                  const DepthwiseParams& plan = candidate.params;
                  EXPECT_GT(candidate.microseconds, 0);
                  EXPECT_LE(plan.shared_bytes, 48 * 1024);
                  EXPECT_GE(plan.lanes, 1);
                  EXPECT_LE(plan.lanes, threads_of(plan.kernel));
                  EXPECT_EQ(plan.lanes & (plan.lanes - 1), 0);
                  EXPECT_GE(plan.run, 1);
                  const bool tile =
                      plan.kernel == DepthwiseKernel::tile || plan.kernel == DepthwiseKernel::turn;
                  if (tile || plan.kernel == DepthwiseKernel::channel) {
                    EXPECT_EQ(plan.run % kDepthwiseStep, 0);
                  }
                  if (tile) {
                    EXPECT_EQ(plan.tile_times % plan.run, 0);
                  }
                }
              }
            }
          }
        }
      }
    }
  }
}

TEST(DepthwisePlan, TheWinnerIsPredictedToBeFastest) {
  for (const DepthwiseParams& a : {time_fast(2, 64, 2048, 4), channel_fast(5, 100, 2000, 7),
                                   channel_fast(2, 3, 5000, 31), time_fast(2, 4096, 31, 8)}) {
    const DepthwiseKernel winner = kernel_of(a);
    double least = 0, of_winner = 0;
    for (const DepthwiseCandidate& candidate : depthwise_candidates(DeviceProperties::h200(), a)) {
      if (candidate.refused != nullptr) continue;
      if (least == 0 || candidate.microseconds < least) least = candidate.microseconds;
      if (candidate.params.kernel == winner) of_winner = candidate.microseconds;
    }
    EXPECT_EQ(least, of_winner);
  }
}

TEST(DepthwisePlan, SmallProblemsAreCutFiner) {
  const DeviceProperties h200 = DeviceProperties::h200();
  EXPECT_EQ(planned(time_fast(1, 64, 2048, 4), h200).run, 1);
  EXPECT_GT(planned(channel_fast(8, 2048, 8192, 4), h200).run,
            planned(channel_fast(1, 64, 2048, 4), h200).run);
}

/// Few taps on rows of whole 128 bytes along channels: short runs, and no others.
TEST(DepthwisePlan, FewTapsTakeShortRuns) {
  const auto run_of = [](std::int64_t channels, std::int64_t taps, std::int64_t gap) {
    DepthwiseParams a = channel_fast(2, channels, 2048, taps);
    a.type = a.weight_type = a.bias_type = DType::bf16;
    a.silu = true;
    a.in_time += gap;
    a.in_batch += gap * a.length;
    const DepthwiseParams p = planned(a, DeviceProperties::h200());
    EXPECT_EQ(p.kernel, DepthwiseKernel::channel);
    return p.run;
  };
  for (const std::int64_t taps : {2, 3, 4}) {
    EXPECT_EQ(run_of(4096, taps, 0), 16);
    EXPECT_GT(run_of(4096, taps, 2), 16);  // rows begin between boundaries of 16 bytes
    EXPECT_GT(run_of(4094, taps, 0), 16);
  }
  EXPECT_GT(run_of(4096, 5, 0), 16);
}

/// Tiles of the backward pass depend on nothing but shape and type, and fit threads and shared memory with
/// any strides.
TEST(DepthwisePlan, BackwardTilesFitThreadsAndSharedMemory) {
  for (const std::int64_t channels : {1, 3, 7, 8, 9, 15, 17, 31, 32, 33, 63, 1000}) {
    for (const std::int64_t length : {1, 8, 100, 2047, 100000}) {
      for (const std::int64_t taps : {1, 2, 4, 8}) {
        for (const DType type : {DType::f16, DType::f32}) {
          std::int64_t times = 0;
          for (const std::int64_t gap : {0, 1, 5, 7, 64}) {
            for (DepthwiseParams a :
                 {time_fast(3, channels, length, taps), channel_fast(3, channels, length, taps)}) {
              const bool last = a.in_channel == 1 && channels > 1;
              (last ? a.in_time : a.in_channel) += gap;
              DepthwiseBackwardParams p;
              p.forward = a;
              p.forward.type = type;
              p.d_out_channel = p.d_in_channel = a.in_channel;
              p.d_out_time = p.d_in_time = a.in_time;
              p.wants_sums = true;
              p.has_ids = taps <= kSequenceTaps;  // else other kernels would take these signals
              plan_depthwise_backward(false, p);
              SCOPED_TRACE(testing::Message()
                           << channels << " channels, " << length << " samples, " << taps << " taps, "
                           << name_of(type) << ", gap " << gap << " " << last);
              ASSERT_EQ(p.kernel, DepthwiseBackwardKernel::tile);
              EXPECT_LE(p.shared_bytes, 48 * 1024);
              EXPECT_LE(p.tile_channels * (p.tile_times / p.run), kDepthwiseThreads);
              EXPECT_EQ(p.tile_times % p.run, 0);
              if (times == 0) times = p.tile_times;
              EXPECT_EQ(p.tile_times, times);
            }
          }
        }
      }
    }
  }
}

}  // namespace
}  // namespace relayout::plan
