// The warp operations of platform/*/kernel_language.hpp, on every back end and warp size.
#include <gtest/gtest.h>

#include <vector>

#include "tests/support/devices.hpp"
#include "tests/warp/warp_kernels.hpp"

namespace relayout::test {
namespace {

WarpLauncher launcher_of([[maybe_unused]] const Device& device) {
#ifdef RELAYOUT_TEST_EMULATOR
  if (device.kind() == DeviceKind::emulated) return emulator::launch_warp_operations;
#endif
#ifdef RELAYOUT_TEST_CUDA
  return cuda::launch_warp_operations;
#elif defined(RELAYOUT_TEST_HIP)
  return hip::launch_warp_operations;
#else
  throw Error(ErrorCode::not_built, "no back end with kernels");
#endif
}

class Warp : public DeviceTest {};

TEST_P(Warp, OperationsMoveValuesBetweenLanes) {
  const int warp = device().properties().warp_size;
  std::vector<std::int32_t> values(kWarpTestThreads);
  for (int thread = 0; thread < kWarpTestThreads; ++thread) values[thread] = thread * thread * 7 + thread / 3;
  std::vector<WarpResults> results(kWarpTestThreads);
  const std::size_t value_bytes = values.size() * sizeof(values[0]),
                    result_bytes = results.size() * sizeof(results[0]);
  const Buffer device_values(device(), value_bytes), device_results(device(), result_bytes);
  stream().copy(device_values.data(), values.data(), value_bytes);
  stream().fill(device_results.data(), 0, result_bytes);  // the struct's padding too is copied back
  launcher_of(device())({device().index(), stream().native()}, warp,
                        static_cast<const std::int32_t*>(device_values.data()),
                        static_cast<WarpResults*>(device_results.data()));
  stream().copy(results.data(), device_results.data(), result_bytes);
  stream().synchronize();

  for (int thread = 0; thread < kWarpTestThreads; ++thread) {
    const int lane = thread % warp, first = thread - lane;
    std::uint64_t odd = 0;
    for (int other = 0; other < warp; ++other) {
      odd |= static_cast<std::uint64_t>(values[first + other] % 2 != 0) << other;
    }
    SCOPED_TRACE(testing::Message() << "thread " << thread << " of warps of " << warp);
    EXPECT_EQ(results[thread].lane, lane);
    EXPECT_EQ(results[thread].rotated, values[first + (lane + 3) % warp]);
    EXPECT_EQ(results[thread].exchanged, values[first + (lane ^ (warp / 2))]);
    EXPECT_EQ(results[thread].odd, odd);
    EXPECT_EQ(results[thread].neighbour, values[first + (lane + 1) % warp]);
  }
}

GTEST_ALLOW_UNINSTANTIATED_PARAMETERIZED_TEST(Warp);
INSTANTIATE_TEST_SUITE_P(Devices, Warp, testing::ValuesIn(kernel_devices_in_any_order()), device_test_name);

}  // namespace
}  // namespace relayout::test
