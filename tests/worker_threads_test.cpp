// The emulator where the system makes no more threads.
#include <gtest/gtest.h>
#include <pthread.h>
#include <sys/resource.h>
#include <unistd.h>

#include <fstream>
#include <vector>

#include <relayout/relayout.hpp>

namespace relayout {
namespace {

/// Limits this process's addresses to what it has and the stacks of a few threads, whose size is the same
/// whatever the shell's limit is (ulimit -s).
class FewAddresses {
 public:
  FewAddresses() {
    constexpr std::size_t kStack = std::size_t{8} << 20, kStacks = 5;
    pthread_getattr_default_np(&threads_before_);
    pthread_attr_t threads;
    pthread_getattr_default_np(&threads);
    pthread_attr_setstacksize(&threads, kStack);
    pthread_setattr_default_np(&threads);
    pthread_attr_destroy(&threads);
    getrlimit(RLIMIT_AS, &before_);
    std::size_t pages = 0;
    std::ifstream("/proc/self/statm") >> pages;
    const rlimit few{pages * static_cast<std::size_t>(sysconf(_SC_PAGESIZE)) + kStacks * kStack,
                     before_.rlim_max};
    setrlimit(RLIMIT_AS, &few);
  }
  FewAddresses(const FewAddresses&) = delete;
  FewAddresses& operator=(const FewAddresses&) = delete;
  ~FewAddresses() {
    setrlimit(RLIMIT_AS, &before_);
    pthread_setattr_default_np(&threads_before_);
    pthread_attr_destroy(&threads_before_);
  }

 private:
  rlimit before_{};
  pthread_attr_t threads_before_{};
};

TEST(WorkerThreadsTest, ALaunchAfterAFailedOneUsesTheThreadsThatThereAre) {
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
  GTEST_SKIP() << "sanitizers need addresses of their own";
#endif
  EmulationOptions options;
  options.workers = 64;
  const Stream stream(Device::emulated(options));
  std::vector<std::uint16_t> in(1 << 20), out(in.size());
  for (std::size_t i = 0; i < in.size(); ++i) in[i] = static_cast<std::uint16_t>(i);
  const TensorView from(in.data(), DType::u16, {1024, 1024}), to(out.data(), DType::u16, {1024, 1024});
  {
    const FewAddresses limit;
    try {
      permute(stream, from, {1, 0}, to);
      ADD_FAILURE() << "there were threads enough";
    } catch (const Error& error) {
      EXPECT_EQ(error.code(), ErrorCode::out_of_memory);
      EXPECT_NE(std::string(error.what()).find("no thread for worker"), std::string::npos) << error.what();
    }
  }
  permute(stream, from, {1, 0}, to);
  for (std::size_t row = 0; row < 1024; ++row) {
    for (std::size_t column = 0; column < 1024; ++column)
      ASSERT_EQ(out[column * 1024 + row], static_cast<std::uint16_t>(row * 1024 + column));
  }
}

}  // namespace
}  // namespace relayout
