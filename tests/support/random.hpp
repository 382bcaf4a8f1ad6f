// Random cases that can be run again: the trace has the seed, and the command that repeats it.
#pragma once

#include <gtest/gtest.h>

#include <cstdint>
#include <cstdlib>
#include <string>
#include <utility>
#include <vector>

#include "tests/support/fill.hpp"

namespace relayout::test {

/// 1..count, or only the seed in the environment variable RELAYOUT_TEST_SEED.
inline std::vector<std::uint64_t> random_seeds(int count) {
  if (const char* one = std::getenv("RELAYOUT_TEST_SEED")) return {std::strtoull(one, nullptr, 10)};
  std::vector<std::uint64_t> seeds;
  for (int i = 1; i <= count; ++i) seeds.push_back(static_cast<std::uint64_t>(i));
  return seeds;
}

/// For SCOPED_TRACE: how to run this seed alone.
inline std::string reproduce(std::uint64_t seed) {
  const ::testing::TestInfo* test = ::testing::UnitTest::GetInstance()->current_test_info();
  const std::string suite = test->test_suite_name();
  return "seed " + std::to_string(seed) + "; to reproduce: RELAYOUT_TEST_SEED=" + std::to_string(seed) +
         " <this test program> --gtest_filter='" + suite + "." + test->name() + "'";
}

/// A sequence of draws from one seed, the same on every platform.
class Random {
 public:
  explicit Random(std::uint64_t seed) : seed_(seed) {}
  /// From low to high, both included.
  std::int64_t integer(std::int64_t low, std::int64_t high) {
    return low +
           static_cast<std::int64_t>(hash(count_++, seed_) % static_cast<std::uint64_t>(high - low + 1));
  }
  bool chance(double probability) { return uniform(count_++, seed_) < probability; }
  template <class T>
  const T& pick(const std::vector<T>& choices) {
    return choices[static_cast<std::size_t>(integer(0, static_cast<std::int64_t>(choices.size()) - 1))];
  }
  template <class T>
  void shuffle(std::vector<T>& values) {
    for (std::size_t i = values.size(); i > 1; --i)
      std::swap(values[i - 1],
                values[static_cast<std::size_t>(integer(0, static_cast<std::int64_t>(i) - 1))]);
  }

 private:
  std::uint64_t seed_, count_ = 0;
};

}  // namespace relayout::test
