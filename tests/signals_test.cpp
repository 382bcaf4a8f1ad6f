// How streams of several processes wait for each other. Here the ranks are threads.
#include "host/redistribute/signals.hpp"

#include <gtest/gtest.h>

#include <cstdint>
#include <limits>
#include <memory>
#include <thread>
#include <vector>

#include "tests/support/devices.hpp"

namespace relayout::test {
namespace {

constexpr double kNoLimit = std::numeric_limits<double>::infinity();
constexpr std::uint64_t bit(int rank) { return std::uint64_t{1} << rank; }

class SignalsTest : public ::testing::TestWithParam<Device> {
 protected:
  /// The signals of all ranks, each mapped by all.
  static std::vector<std::unique_ptr<Signals>> of_ranks(int ranks) {
    std::vector<std::unique_ptr<Signals>> all;
    std::vector<SharedMemoryName> names(static_cast<std::size_t>(ranks));
    for (int rank = 0; rank < ranks; ++rank) {
      all.push_back(std::make_unique<Signals>(GetParam(), rank, ranks));
      EXPECT_TRUE(all.back()->share(names[static_cast<std::size_t>(rank)]));
      EXPECT_FALSE(all.back()->is_mapped());
    }
    for (const auto& signals : all) {
      signals->map(names);
      EXPECT_TRUE(signals->is_mapped());
      EXPECT_EQ(signals->reason(), "");
    }
    return all;
  }
};
INSTANTIATE_TEST_SUITE_P(Devices, SignalsTest, ::testing::ValuesIn(host_memory_devices()), device_test_name);

/// Each rank's number goes round: the next rank reads it after the signal, and says when it may change.
TEST_P(SignalsTest, WhatWasWrittenBeforeIsThereAfter) {
  constexpr int kRanks = 5, kRounds = 20;
  for (int group = 0; group < 2; ++group) {  // the second one takes the memory of the first
    const auto signals = of_ranks(kRanks);
    std::vector<int> numbers(kRanks, -1), seen(kRanks);
    std::vector<std::thread> threads;
    for (int rank = 0; rank < kRanks; ++rank)
      threads.emplace_back([&, rank] {
        const Stream stream(GetParam());
        const Signals& own = *signals[static_cast<std::size_t>(rank)];
        const int next = (rank + 1) % kRanks, last = (rank + kRanks - 1) % kRanks;
        for (int round = 0; round < kRounds; ++round) {
          numbers[static_cast<std::size_t>(rank)] = 100 * rank + round;
          own.exchange(stream, {bit(next), bit(last)}, kNoLimit);
          if (numbers[static_cast<std::size_t>(last)] == 100 * last + round)
            ++seen[static_cast<std::size_t>(rank)];
          own.exchange(stream, {bit(last), bit(next)}, kNoLimit);
        }
      });
    for (std::thread& thread : threads) thread.join();
    EXPECT_EQ(seen, std::vector<int>(kRanks, kRounds));
    for (const auto& own : signals) EXPECT_FALSE(own->timed_out());
  }
}

/// A rank may be several signals ahead, and hear of all of them.
TEST_P(SignalsTest, SignalsAreCounted) {
  const auto signals = of_ranks(2);
  const Stream stream(GetParam());
  for (int i = 0; i < 3; ++i) signals[0]->exchange(stream, {bit(1), 0}, kNoLimit);
  for (int i = 0; i < 3; ++i) signals[1]->exchange(stream, {0, bit(0)}, kNoLimit);
  EXPECT_FALSE(signals[1]->timed_out());
  signals[1]->exchange(stream, {0, bit(0)}, 0.001);
  EXPECT_TRUE(signals[1]->timed_out());
  EXPECT_FALSE(signals[0]->timed_out());
}

TEST_P(SignalsTest, WaitsEndWhenTheyAreStopped) {
  const auto signals = of_ranks(2);
  std::thread waits([&] { signals[0]->exchange(Stream(GetParam()), {0, bit(1)}, kNoLimit); });
  signals[0]->stop();
  waits.join();
  EXPECT_FALSE(signals[0]->timed_out());
}

TEST_P(SignalsTest, RanksThatAreNotReached) {
  Signals many(GetParam(), 0, SignalParams::kMaxRanks + 1), unnamed(GetParam(), 0, 3);
  many.map(std::vector<SharedMemoryName>(SignalParams::kMaxRanks + 1));
  EXPECT_NE(many.reason().find("64 ranks at most"), std::string::npos) << many.reason();
  unnamed.map(std::vector<SharedMemoryName>(1));
  EXPECT_NE(unnamed.reason().find("rank 1 cannot be shared"), std::string::npos) << unnamed.reason();
}

}  // namespace
}  // namespace relayout::test
