// The fiber runtime: its promises to kernels, and what it refuses.
#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <cmath>
#include <numeric>
#include <string>
#include <thread>
#include <vector>

#include "emulator_test_kernels.hpp"
#include "platform/processor_backend.hpp"
#include "relayout/error.hpp"

namespace relayout::RELAYOUT_BACKEND {
namespace {

struct Emulator {
  ProcessorStream stream;
  explicit Emulator(int warp_size = 32, ThreadOrder order = ThreadOrder::forward, std::uint64_t seed = 0,
                    int workers = 0) {
    stream.emulation.warp_size = warp_size;
    stream.emulation.order = order;
    stream.emulation.seed = seed;
    stream.emulation.workers = workers;
  }
  LaunchContext context() { return {0, &stream}; }
};

LaunchShape line(std::int64_t blocks, int threads, std::size_t shared = 0) {
  return {blocks, 1, 1, threads, 1, 1, shared};
}

template <class Function>
std::string error_of(ErrorCode code, const Function& function) {
  try {
    function();
  } catch (const Error& error) {
    EXPECT_EQ(name_of(error.code()), std::string(name_of(code))) << error.what();
    return error.what();
  }
  ADD_FAILURE() << "no error";
  return {};
}

std::string here(int source_line) { return "emulator_test_kernels.hpp:" + std::to_string(source_line); }

#define EXPECT_CONTAINS(text, part) \
  EXPECT_NE((text).find(part), std::string::npos) << (text) << "\nlacks " << (part)

/// Every order, one and several workers.
std::vector<Emulator> all_emulators(int warp_size) {
  std::vector<Emulator> all;
  for (int workers : {1, 3}) {
    all.emplace_back(warp_size, ThreadOrder::forward, 0, workers);
    all.emplace_back(warp_size, ThreadOrder::reverse, 0, workers);
    all.emplace_back(warp_size, ThreadOrder::shuffled, 1 + workers, workers);
  }
  return all;
}

TEST(Emulator, EveryThreadOfEveryBlockRunsOnceInItsPlace) {
  const LaunchShape shape{3, 4, 5, 4, 3, 2, 0};
  std::vector<Place> places(3 * 4 * 5 * 24);
  Emulator emulator;
  launch("places", emulator.context(), shape, report_place, places.data());
  std::size_t next = 0;
  for (std::uint32_t bz = 0; bz < 5; ++bz)
    for (std::uint32_t by = 0; by < 4; ++by)
      for (std::uint32_t bx = 0; bx < 3; ++bx)
        for (std::uint32_t tz = 0; tz < 2; ++tz)
          for (std::uint32_t ty = 0; ty < 3; ++ty)
            for (std::uint32_t tx = 0; tx < 4; ++tx) {
              const Place expected{{tx, ty, tz}, {bx, by, bz}, {4, 3, 2}, {3, 4, 5}};
              ASSERT_EQ(std::memcmp(&places[next], &expected, sizeof expected), 0) << "thread " << next;
              ++next;
            }
}

TEST(Emulator, MoreThan65535BlocksInX) {
  constexpr std::int64_t kBlocks = 70001;
  std::vector<Place> places(kBlocks);
  Emulator emulator;
  launch("places", emulator.context(), line(kBlocks, 1), report_place, places.data());
  for (std::int64_t i = 0; i < kBlocks; ++i) ASSERT_EQ(places[i].block[0], i);
}

TEST(Emulator, BarriersInLoopsAndCalledFunctions) {
  for (int threads : {1, 33, 256, 1024}) {
    const int blocks = threads < 1000 ? 5 : 2;
    std::vector<std::int32_t> in(static_cast<std::size_t>(blocks * threads));
    for (std::size_t i = 0; i < in.size(); ++i) in[i] = static_cast<std::int32_t>(i * 2654435761u);
    std::vector<std::int64_t> expected(in.size());
    for (int block = 0; block < blocks; ++block) {
      std::int64_t sum = 0;
      for (int i = block * threads; i < (block + 1) * threads; ++i) expected[i] = sum += in[i];
    }
    for (Emulator& emulator : all_emulators(32)) {
      std::vector<std::int64_t> out(in.size());
      launch("prefix_sums", emulator.context(), line(blocks, threads, threads * sizeof(std::int64_t)),
             prefix_sums, in.data(), out.data());
      EXPECT_EQ(out, expected) << threads << " threads";
    }
  }
}

TEST(Emulator, StaticSharedMemory) {
  constexpr int kThreads = 96, kBlocks = 20;
  std::vector<float> in(kBlocks * kThreads), expected(in.size());
  std::iota(in.begin(), in.end(), 1.0f);
  for (int block = 0; block < kBlocks; ++block)
    std::reverse_copy(&in[block * kThreads], &in[block * kThreads] + kThreads, &expected[block * kThreads]);
  for (Emulator& emulator : all_emulators(64)) {
    std::vector<float> out(in.size());
    launch("reverse_block", emulator.context(), line(kBlocks, kThreads), reverse_block<kThreads>, in.data(),
           out.data());
    EXPECT_EQ(out, expected);
  }
}

TEST(Emulator, DynamicSharedMemoryIsNanInEveryBlock) {
  constexpr int kThreads = 50, kBlocks = 9;
  for (Emulator& emulator : all_emulators(32)) {
    std::vector<float> found(kThreads * kBlocks, 0.0f);
    launch("find_in_shared", emulator.context(), line(kBlocks, kThreads, kThreads * sizeof(float)),
           find_in_shared, found.data());
    for (float value : found) ASSERT_TRUE(std::isnan(value)) << value;
  }
}

std::vector<int> turns(ThreadOrder order, std::uint64_t seed, int threads) {
  Emulator emulator(32, order, seed);
  std::atomic<int> counter{0};
  std::vector<int> first(static_cast<std::size_t>(threads)), second(first.size());
  launch("take_turns", emulator.context(), line(1, threads), take_turns, &counter, first.data(),
         second.data());
  for (int& turn : second) turn -= threads;
  EXPECT_EQ(first, second) << "the order after a barrier is not the one before it";
  return first;
}

TEST(Emulator, ThreadOrderIsTheOneAskedFor) {
  constexpr int kThreads = 100;
  std::vector<int> forward(kThreads);
  std::iota(forward.begin(), forward.end(), 0);
  const std::vector<int> reverse(forward.rbegin(), forward.rend());
  EXPECT_EQ(turns(ThreadOrder::forward, 0, kThreads), forward);
  EXPECT_EQ(turns(ThreadOrder::reverse, 0, kThreads), reverse);
  std::vector<int> shuffled = turns(ThreadOrder::shuffled, 1, kThreads);
  EXPECT_EQ(shuffled, turns(ThreadOrder::shuffled, 1, kThreads));
  EXPECT_NE(shuffled, turns(ThreadOrder::shuffled, 2, kThreads));
  EXPECT_NE(shuffled, forward);
  std::sort(shuffled.begin(), shuffled.end());
  EXPECT_EQ(shuffled, forward);
}

std::vector<std::int64_t> order_of_blocks(ThreadOrder order, std::uint64_t seed, std::int64_t blocks) {
  Emulator emulator(32, order, seed, 1);
  std::atomic<int> counter{0};
  std::vector<std::int64_t> found(static_cast<std::size_t>(blocks), -1);
  launch("note_block", emulator.context(), line(blocks, 1), note_block, &counter, found.data());
  return found;
}

TEST(Emulator, BlocksFollowTheOrderOfTheThreads) {
  for (const std::int64_t blocks : {1, 2, 3, 12, 64, 100}) {
    std::vector<std::int64_t> forward(static_cast<std::size_t>(blocks));
    std::iota(forward.begin(), forward.end(), 0);
    EXPECT_EQ(order_of_blocks(ThreadOrder::forward, 7, blocks), forward);
    EXPECT_EQ(order_of_blocks(ThreadOrder::reverse, 7, blocks),
              std::vector<std::int64_t>(forward.rbegin(), forward.rend()));
    for (const std::uint64_t seed : {0, 1, 7, 123456789}) {
      std::vector<std::int64_t> shuffled = order_of_blocks(ThreadOrder::shuffled, seed, blocks);
      EXPECT_EQ(shuffled, order_of_blocks(ThreadOrder::shuffled, seed, blocks));
      std::sort(shuffled.begin(), shuffled.end());
      EXPECT_EQ(shuffled, forward);
    }
  }
  EXPECT_NE(order_of_blocks(ThreadOrder::shuffled, 123456789, 100),
            order_of_blocks(ThreadOrder::forward, 0, 100));
}

template <int W>
void test_warp_operations(int threads) {
  const int last_warp = threads - (threads - 1) / W * W;
  for (Emulator& emulator : all_emulators(W)) {
    std::vector<WarpResults> results(static_cast<std::size_t>(threads));
    const LaunchShape shape{1, 1, 1, threads / 2, 2, 1, 0};
    launch("warp_operations", emulator.context(), shape, warp_operations<W>, results.data(), last_warp);
    for (int thread = 0; thread < threads; ++thread) {
      const int lane = thread % W, base = thread - lane, present = std::min(W, threads - base);
      const WarpResults& result = results[static_cast<std::size_t>(thread)];
      ASSERT_EQ(result.lane, lane);
      ASSERT_EQ(result.from_lane_3, static_cast<float>(base + 3));
      ASSERT_EQ(result.from_neighbour, (thread ^ 1) + 0.25);
      std::uint64_t odd = 0;
      for (int i = 0; i < present; ++i) odd |= std::uint64_t{i % 2 != 0} << i;
      ASSERT_EQ(result.odd_lanes, odd);
      if (present < W) continue;
      ASSERT_EQ(result.sum, std::int64_t{W} * base + W * (W - 1) / 2);
      ASSERT_EQ(result.from_fifth_ahead.bits, thread - lane + (lane + 5) % W);
    }
  }
}

TEST(Emulator, WarpOperationsWith32Lanes) {
  test_warp_operations<32>(32);
  test_warp_operations<32>(1024);
  test_warp_operations<32>(80);
}
TEST(Emulator, WarpOperationsWith64Lanes) {
  test_warp_operations<64>(64);
  test_warp_operations<64>(1024);
  test_warp_operations<64>(80);
}

template <int W>
void test_warp_barrier() {
  constexpr int kThreads = 4 * W;
  std::vector<int> in(kThreads), expected(kThreads);
  std::iota(in.begin(), in.end(), 0);
  for (int i = 0; i < kThreads; ++i) expected[i] = i - i % W + (i % W + 3) % W;
  for (Emulator& emulator : all_emulators(W)) {
    std::vector<int> out(kThreads);
    launch("rotate_in_warp", emulator.context(), line(1, kThreads), rotate_in_warp<W>, in.data(), out.data());
    EXPECT_EQ(out, expected);
  }
}

TEST(Emulator, WarpBarrier) {
  test_warp_barrier<32>();
  test_warp_barrier<64>();
}

void expect_usable(Emulator& emulator) {
  std::vector<std::int64_t> out(64);
  launch("use_argument", emulator.context(), line(1, 64), use_argument, 5, out.data());
  for (int i = 0; i < 64; ++i) EXPECT_EQ(out[i], 5 + i);
  test_warp_barrier<32>();
}

TEST(Emulator, DivergenceAtABarrierThatSomeThreadsNeverReach) {
  for (Emulator& emulator : all_emulators(32)) {
    const std::string text = error_of(ErrorCode::launch, [&] {
      launch("early", emulator.context(), {2, 3, 1, 64, 1, 1, 0}, some_end_early, 5);
    });
    const ThreadOrder order = emulator.stream.emulation.order;
    const std::string first = order == ThreadOrder::forward   ? "block (0, 0, 0)"
                              : order == ThreadOrder::reverse ? "block (1, 2, 0)"
                                                              : "block (";
    EXPECT_CONTAINS(text, "early: the threads of " + first);
    EXPECT_CONTAINS(text, " diverged: of 64, 5 wait in __syncthreads at ");
    EXPECT_CONTAINS(text, here(kEarlyEndLine) + ", 59 have ended");
    expect_usable(emulator);
  }
}

TEST(Emulator, DivergenceBetweenTwoBarriers) {
  for (Emulator& emulator : all_emulators(64)) {
    const std::string text = error_of(
        ErrorCode::launch, [&] { launch("two", emulator.context(), line(1, 256), two_barriers, 100); });
    EXPECT_CONTAINS(text, "100 wait in __syncthreads at ");
    EXPECT_CONTAINS(text, here(kTwoBarriersLine));
    EXPECT_CONTAINS(text, "156 wait in __syncthreads at ");
    EXPECT_CONTAINS(text, here(kTwoBarriersLine + 2));
    EXPECT_CONTAINS(text, ", 0 have ended");
  }
  Emulator emulator(64);
  launch("two", emulator.context(), line(1, 256), two_barriers, 256);
}

TEST(Emulator, DivergenceAtAWarpOperation) {
  std::vector<std::uint64_t> votes(128);
  Emulator emulator(64);
  const std::string text = error_of(ErrorCode::launch, [&] {
    launch("vote", emulator.context(), line(1, 128), some_lanes_vote<64>, votes.data(), 70);
  });
  EXPECT_CONTAINS(text, "of 128, 6 wait in the warp operation at ");
  EXPECT_CONTAINS(text, here(kMissingLanesLine) + ", 122 have ended");
  launch("vote", emulator.context(), line(1, 128), some_lanes_vote<64>, votes.data(), 64);
  EXPECT_EQ(votes[63], ~std::uint64_t{0});
}

TEST(Emulator, WarpOperationsOfAnotherWarpSizeAreRefused) {
  std::vector<int> out(64);
  Emulator emulator(32);
  const std::string text = error_of(ErrorCode::launch, [&] {
    launch("shuffle", emulator.context(), line(1, 64), shuffle_from<64>, out.data(), 0);
  });
  EXPECT_CONTAINS(text, "for 64 lanes at ");
  EXPECT_CONTAINS(text, here(kBadShuffleLine) + " ran on a device with warps of 32");
}

TEST(Emulator, ShufflesFromAbsentLanesAreRefused) {
  std::vector<int> out(48);
  Emulator emulator(32);
  for (int lane : {-1, 16, 32}) {
    const std::string text = error_of(ErrorCode::launch, [&] {
      launch("shuffle", emulator.context(), line(1, 48), shuffle_from<32>, out.data(), lane);
    });
    EXPECT_CONTAINS(text, here(kBadShuffleLine) + " reads lane " + std::to_string(lane));
  }
  launch("shuffle", emulator.context(), line(1, 48), shuffle_from<32>, out.data(), 15);
  EXPECT_EQ(out[47], 47);
  EXPECT_EQ(out[0], 15);
}

TEST(Emulator, LaunchesThatAGpuWouldRefuse) {
  struct Refused {
    LaunchShape shape;
    const char* why;
  };
  const Refused all[] = {
      {{0, 1, 1, 1, 1, 1, 0}, "[0, 1, 1] blocks"},
      {{1, 0, 1, 1, 1, 1, 0}, "[1, 0, 1] blocks"},
      {{1, 1, -1, 1, 1, 1, 0}, "[1, 1, -1] blocks"},
      {{2147483648, 1, 1, 1, 1, 1, 0}, "[2147483648, 1, 1] blocks"},
      {{1, 65536, 1, 1, 1, 1, 0}, "[1, 65536, 1] blocks"},
      {{1, 1, 65536, 1, 1, 1, 0}, "[1, 1, 65536] blocks"},
      {{1, 1, 1, 0, 1, 1, 0}, "[0, 1, 1] threads"},
      {{1, 1, 1, 1, -3, 1, 0}, "[1, -3, 1] threads"},
      {{1, 1, 1, 1, 1, 0, 0}, "[1, 1, 0] threads"},
      {{1, 1, 1, 1025, 1, 1, 0}, "[1025, 1, 1] threads"},
      {{1, 1, 1, 32, 32, 2, 0}, "[32, 32, 2] threads"},
      {{1, 1, 1, 65536, 65536, 1, 0}, "[65536, 65536, 1] threads"},
      {{1, 1, 1, 1, 1, 1, 65537}, "65537 bytes"},
  };
  Emulator emulator;
  std::vector<float> found(1, 3.0f);
  for (const Refused& refused : all) {
    const std::string text = error_of(ErrorCode::launch, [&] {
      launch("found", emulator.context(), refused.shape, find_in_shared, found.data());
    });
    EXPECT_EQ(text.find("found: the launch was refused: "), 0u) << text;
    EXPECT_CONTAINS(text, refused.why);
  }
  error_of(ErrorCode::launch,
           [&] { launch("found", LaunchContext(), line(1, 1, 4), find_in_shared, found.data()); });
  emulator.stream.emulation.warp_size = 16;
  error_of(ErrorCode::launch,
           [&] { launch("found", emulator.context(), line(1, 1, 4), find_in_shared, found.data()); });
  EXPECT_EQ(found[0], 3.0f);
}

/// A grid of 64 lanes is folded into rows of four blocks where it has more; what its y has no room for lies
/// along x. Each block runs once.
TEST(Emulator, NumberedBlocks) {
  for (const int warp_size : {32, 64}) {
    for (Emulator& emulator : all_emulators(warp_size)) {
      for (const std::int64_t count : {1, 3, 4, 5, 7, 8, 9, 4 * 65535, 4 * 65535 + 1}) {
        std::vector<std::atomic<int>> counts(static_cast<std::size_t>(count + 1));
        launch("count", emulator.context(), numbered_blocks(count, 2), count_blocks, counts.data(), count);
        const bool folds = warp_size == 64 && count <= 4 * 65535 && count > 4;
        EXPECT_EQ(counts.back(), folds ? (4 - count % 4) % 4 : 0) << count;
        EXPECT_TRUE(std::all_of(counts.begin(), counts.end() - 1, [](int runs) { return runs == 1; }))
            << count << " blocks of " << warp_size << " lanes";
      }
    }
  }
}

/// HIP takes fewer than 2^32 threads along an axis. The limit is tried from above alone: grids that are taken
/// would run for hours.
TEST(Emulator, GridsThatOnlyHipRefuses) {
  Emulator emulator(64);
  std::vector<float> found(1, 3.0f);
  for (const LaunchShape& shape : {line(1 << 24, 256), line(1 << 22, 1024), line(2147483647, 3)}) {
    const std::string text = error_of(
        ErrorCode::launch, [&] { launch("found", emulator.context(), shape, find_in_shared, found.data()); });
    EXPECT_EQ(text.find("found: the launch was refused: "), 0u) << text;
    EXPECT_CONTAINS(text, "has 2^32 threads or more along an axis");
  }
  EXPECT_EQ(found[0], 3.0f);
}

TEST(Emulator, TheLargestLaunches) {
  Emulator emulator;
  std::vector<float> found(1024);
  launch("found", emulator.context(), line(1, 1024, 65536), find_in_shared, found.data());
  EXPECT_TRUE(std::isnan(found[1023]));
  std::vector<Place> places(65535);
  launch("places", emulator.context(), {1, 65535, 1, 1, 1, 1, 0}, report_place, places.data());
  EXPECT_EQ(places[65534].block[1], 65534u);
  launch("places", emulator.context(), {1, 1, 65535, 1, 1, 1, 0}, report_place, places.data());
  EXPECT_EQ(places[65534].block[2], 65534u);
}

/// Blocks from 11 to 39 throw their numbers.
std::string thrown_by_blocks(ThreadOrder order, int workers) {
  Emulator emulator(32, order, 7, workers);
  try {
    launch("throw_number", emulator.context(), line(40, 70), throw_number, 11);
  } catch (const std::out_of_range& error) {
    return error.what();
  }
  return "no exception";
}

TEST(Emulator, AnExceptionOfTheFirstBlockEndsTheLaunch) {
  const std::string first_shuffled = thrown_by_blocks(ThreadOrder::shuffled, 1);
  EXPECT_NE(first_shuffled, "no exception");
  for (int repeat = 0; repeat < 2; ++repeat) {
    for (const int workers : {1, 3}) {
      EXPECT_EQ(thrown_by_blocks(ThreadOrder::forward, workers), "11");
      EXPECT_EQ(thrown_by_blocks(ThreadOrder::reverse, workers), "39");
      EXPECT_EQ(thrown_by_blocks(ThreadOrder::shuffled, workers), first_shuffled);
    }
  }
  Emulator emulator;
  expect_usable(emulator);
}

TEST(Emulator, ArgumentsAreConvertedAndCopied) {
  std::vector<std::int64_t> out(40);
  Emulator emulator;
  const std::int32_t value = -3;
  launch("use_argument", emulator.context(), line(1, 40), use_argument, value, out.data());
  for (int i = 0; i < 40; ++i) EXPECT_EQ(out[i], i - 3);
}

TEST(Emulator, ThreadsHaveRoomForLargeLocalArrays) {
  std::vector<int> out(100);
  Emulator emulator;
  launch("use_much_stack", emulator.context(), line(1, 100), use_much_stack, out.data());
  EXPECT_EQ(out, std::vector<int>(100, 1));
}

TEST(Emulator, SeveralHostThreadsLaunch) {
  std::vector<std::thread> hosts;
  std::atomic<int> right{0};
  for (int host = 0; host < 4; ++host) {
    hosts.emplace_back([host, &right] {
      Emulator emulator(32, host % 2 ? ThreadOrder::reverse : ThreadOrder::forward, 0, host);
      for (int repeat = 0; repeat < 20; ++repeat) {
        std::vector<float> in(4 * 64), out(in.size());
        std::iota(in.begin(), in.end(), 1000.0f * host);
        launch("reverse_block", emulator.context(), line(4, 64), reverse_block<64>, in.data(), out.data());
        bool same = true;
        for (int i = 0; i < 256; ++i) same = same && out[i] == in[i - i % 64 + 63 - i % 64];
        right += same;
      }
    });
  }
  for (std::thread& host : hosts) host.join();
  EXPECT_EQ(right, 80);
}

TEST(KernelLanguage, BitCastsAndConversions) {
  EXPECT_EQ(__float_as_uint(1.0f), 0x3f800000u);
  EXPECT_EQ(__uint_as_float(0xc0000000u), -2.0f);
  EXPECT_EQ(__double_as_longlong(1.0), 0x3ff0000000000000);
  EXPECT_EQ(__longlong_as_double(0x4000000000000000), 2.0);
  EXPECT_EQ(float_to_half(1.5f).bits, 0x3e00);
  EXPECT_EQ(half_to_float({0xbe00}), -1.5f);
  EXPECT_EQ(float_to_bfloat(1.5f).bits, 0x3fc0);
  EXPECT_EQ(bfloat_to_float({0xbfc0}), -1.5f);
  // Above the middle of two neighbours only in double: by way of float it would be a tie, and go down to
  // even.
  EXPECT_EQ(double_to_half(1.0 + 0x1p-11 + 0x1p-40).bits, 0x3c01);
  EXPECT_EQ(double_to_bfloat(1.0 + 0x1p-8 + 0x1p-40).bits, 0x3f81);
}

}  // namespace
}  // namespace relayout::RELAYOUT_BACKEND
