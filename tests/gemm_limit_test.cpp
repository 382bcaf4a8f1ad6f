// gemm on the processor where the process may map no more memory: OpenBLAS would try for ever to get its
// buffers.
#include <gtest/gtest.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdint>
#include <fstream>
#include <vector>

#include <relayout/relayout.hpp>

namespace relayout::test {
namespace {

/// Bytes of addresses that this process has.
rlim_t mapped_bytes() {
  std::ifstream file("/proc/self/statm");
  rlim_t pages = 0;
  file >> pages;
  return pages * static_cast<rlim_t>(sysconf(_SC_PAGESIZE));
}

/// Sums of 0.5 * 2: every output is exact. Large enough that OpenBLAS would take all its threads.
bool gemm_is_right() {
  constexpr std::int64_t kM = 192, kN = 160, kK = 128;
  const Device cpu = Device::cpu();
  const std::vector<f16> a(kM * kK, to_f16(0.5)), bt(kN * kK, to_f16(2.0));
  std::vector<float> y(kM * kN, -1.0f);
  gemm(Stream(cpu), TensorView(a.data(), DType::f16, {kM, kK}), TensorView(bt.data(), DType::f16, {kN, kK}),
       TensorView(), TensorView(y.data(), DType::f32, {kM, kN}));
  for (const float value : y)
    if (value != static_cast<float>(kK)) return false;
  return true;
}

TEST(GemmLimit, WithoutRoomForTheLibrarysBuffers) {
#if defined(__SANITIZE_ADDRESS__)
  GTEST_SKIP() << "the address sanitizer maps more than any limit";
#endif
  const pid_t child = fork();
  ASSERT_NE(child, -1);
  if (child == 0) {
    alarm(100);  // only for a child that would never end
    const rlim_t limit = mapped_bytes() + (rlim_t{48} << 20);
    const rlimit addresses{limit, limit};
    if (setrlimit(RLIMIT_AS, &addresses) != 0) _exit(2);
    _exit(gemm_is_right() && gemm_is_right() ? 0 : 1);
  }
  int status = 0;
  ASSERT_EQ(waitpid(child, &status, 0), child);
  ASSERT_TRUE(WIFEXITED(status)) << "ended by signal " << WTERMSIG(status);
  EXPECT_EQ(WEXITSTATUS(status), 0);
}

TEST(GemmLimit, WithoutALimit) { EXPECT_TRUE(gemm_is_right()); }

}  // namespace
}  // namespace relayout::test
