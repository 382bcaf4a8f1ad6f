// What planning a copy costs: prints the processor's time a call. The limits only catch a search that grows
// with the number of axes out of all proportion; they hold under sanitizers too.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdio>
#include <ctime>
#include <numeric>
#include <vector>

#include <relayout/relayout.hpp>

namespace relayout::test {
namespace {

double thread_seconds() {
  timespec time{};
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time);
  return static_cast<double>(time.tv_sec) + 1e-9 * static_cast<double>(time.tv_nsec);
}

/// Of the fastest of several rounds.
double planning_seconds(const DeviceProperties& device, DType type, const Dims& shape,
                        const std::vector<int>& axes) {
  Dims out_shape;
  for (const int axis : axes) out_shape.push_back(shape[static_cast<std::size_t>(axis)]);
  const TensorView in(nullptr, type, shape), out(nullptr, type, out_shape);
  constexpr int kRounds = 5, kCalls = 20;
  double best = 1e9;
  for (int round = 0; round < kRounds; ++round) {
    const double start = thread_seconds();
    for (int call = 0; call < kCalls; ++call) plan_permute(device, in, axes, out);
    best = std::min(best, (thread_seconds() - start) / kCalls);
  }
  return best;
}

std::vector<int> reversal(std::size_t rank) {
  std::vector<int> axes(rank);
  std::iota(axes.rbegin(), axes.rend(), 0);
  return axes;
}

TEST(PlanningCost, OfPermutations) {
  struct Case {
    Dims shape;
    std::vector<int> axes;
  };
  for (const Case& c :
       {Case{{8192, 8192}, {1, 0}}, Case{{12345, 6789}, {1, 0}}, Case{{64, 256, 56, 56}, {0, 2, 3, 1}},
        Case{{48, 30, 28, 26, 24}, reversal(5)}, Case{{20, 18, 16, 14, 22, 24}, reversal(6)},
        Case{{7, 8, 9, 10, 11, 12, 13, 5}, reversal(8)}, Case{Dims(26, 2), reversal(26)}}) {
    for (const DType type : {DType::u8, DType::f32}) {
      const double seconds = planning_seconds(DeviceProperties::h200(), type, c.shape, c.axes);
      std::printf("  %7.2f us: %s %s\n", seconds * 1e6, name_of(type), to_string(c.shape).c_str());
      EXPECT_LT(seconds, 0.02);
    }
  }
}

}  // namespace
}  // namespace relayout::test
