// A process that has used the library forks: its child works, and the parent works on.
#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <numeric>
#include <thread>
#include <vector>

#include "tests/support/devices.hpp"

namespace relayout {
namespace {

constexpr unsigned kSeconds = 120;  // after which a call waits for ever

constexpr std::int64_t kRows = 512, kColumns = 640;  // enough for threads and for several blocks

bool transposes(const Device& device) {
  std::vector<std::int32_t> in(kRows * kColumns), out(in.size());
  std::iota(in.begin(), in.end(), 0);
  permute(Stream(device), TensorView(in.data(), DType::i32, {kRows, kColumns}), {1, 0},
          TensorView(out.data(), DType::i32, {kColumns, kRows}));
  for (std::int64_t row = 0; row < kRows; ++row) {
    for (std::int64_t column = 0; column < kColumns; ++column) {
      if (out[static_cast<std::size_t>(column * kRows + row)] != row * kColumns + column) return false;
    }
  }
  return true;
}

void expect_a_child_works(const Device& device) {
  ASSERT_TRUE(transposes(device));
  const pid_t child = ::fork();
  ASSERT_GE(child, 0);
  if (child == 0) {
    ::alarm(kSeconds);
    ::_exit(transposes(device) ? 0 : 1);
  }
  int status = -1;
  ASSERT_EQ(::waitpid(child, &status, 0), child);
  EXPECT_TRUE(WIFEXITED(status) && WEXITSTATUS(status) == 0) << status;
  EXPECT_TRUE(transposes(device));
}

bool multiplies() {
  constexpr std::int64_t kSide = 300;
  const std::vector<f16> a(kSide * kSide, to_f16(1.0)), bt(a.size(), to_f16(2.0));
  std::vector<float> y(a.size());
  gemm(Stream(Device::cpu()), TensorView(a.data(), DType::f16, {kSide, kSide}),
       TensorView(bt.data(), DType::f16, {kSide, kSide}), TensorView(),
       TensorView(y.data(), DType::f32, {kSide, kSide}));
  return std::all_of(y.begin(), y.end(), [](float value) { return value == 2.0f * kSide; });
}

/// OpenBLAS ends its threads when a process forks, and has locks that a child would wait for.
TEST(ForkTest, GemmsWhileAnotherThreadMultiplies) {
  ASSERT_TRUE(multiplies());
  ::alarm(kSeconds);
  std::atomic<bool> enough{false};
  bool right = true;
  std::thread other([&] {
    while (!enough) right = multiplies() && right;
  });
  for (int i = 0; i < 20; ++i) {
    const pid_t child = ::fork();
    ASSERT_GE(child, 0);
    if (child == 0) {
      ::alarm(kSeconds);
      const pid_t grandchild = ::fork();
      if (grandchild == 0) {
        ::alarm(kSeconds);
        ::_exit(multiplies() ? 0 : 1);
      }
      int status = -1;
      ::waitpid(grandchild, &status, 0);
      ::_exit(status == 0 && multiplies() ? 0 : 1);
    }
    int status = -1;
    ASSERT_EQ(::waitpid(child, &status, 0), child);
    EXPECT_TRUE(WIFEXITED(status) && WEXITSTATUS(status) == 0) << status;
  }
  enough = true;
  other.join();
  EXPECT_TRUE(right);
  EXPECT_TRUE(multiplies());
  ::alarm(0);
}

TEST(ForkTest, NativeCode) { expect_a_child_works(Device::cpu()); }

TEST(ForkTest, EmulatedKernels) {
  if (!test::has_emulated_devices()) GTEST_SKIP() << "the emulator is not in this program";
  EmulationOptions options;
  options.workers = 3;
  expect_a_child_works(Device::emulated(options));
}

}  // namespace
}  // namespace relayout
