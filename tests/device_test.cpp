// Devices and their properties.
#include <gtest/gtest.h>

#include <cstring>
#include <set>
#include <string>
#include <vector>

#include "platform/gpu/architectures.hpp"
#include "tests/cases/permute_case.hpp"
#include "tests/support/checks.hpp"
#include "tests/support/devices.hpp"
#include "tests/support/expect_error.hpp"

namespace relayout::test {
namespace {

/// A static object of a program: made before main(), destroyed after it, and nobody chose before or after
/// what.
class UserOfDevices {
 public:
  UserOfDevices() : names(Device::built_with()) {
    streams.emplace_back(Device::cpu());
    if (has_emulated_devices()) streams.emplace_back(Device::emulated(32));
  }
  ~UserOfDevices() {
    for (const Stream& stream : streams) static_cast<void>(Buffer(stream.device(), 16));
  }

  const std::vector<std::string> names;
  std::vector<Stream> streams;
} user_of_devices;

TEST(Device, BackEndsServeBeforeAndAfterMain) {
  EXPECT_EQ(user_of_devices.names, Device::built_with());
  ASSERT_EQ(user_of_devices.streams.size(), has_emulated_devices() ? 2u : 1u);
  EXPECT_EQ(user_of_devices.streams[0].device().to_string(), "cpu");
  if (has_emulated_devices()) {
    EXPECT_EQ(user_of_devices.streams[1].device().to_string(), "emulated(32)");
  }
}

class DevicesTest : public DeviceTest {};
INSTANTIATE_TEST_SUITE_P(Devices, DevicesTest, ::testing::ValuesIn(test_devices()), device_test_name);

TEST(Device, KindsAndNames) {
  EXPECT_EQ(Device::cpu().kind(), DeviceKind::cpu);
  EXPECT_EQ(Device::cpu().to_string(), "cpu");
  for (const Device& device : gpu_devices()) {
    EXPECT_EQ(device.kind(), DeviceKind::gpu);
    EXPECT_EQ(device.to_string(), "gpu(0)");
  }
  if (!has_emulated_devices()) return;
  EXPECT_EQ(Device::emulated(32).kind(), DeviceKind::emulated);
  EXPECT_EQ(Device::emulated(32).to_string(), "emulated(32)");
  EXPECT_EQ(Device::emulated(64).to_string(), "emulated(64)");
  EXPECT_EQ(Device::emulated(64).properties().warp_size, 64);
  EXPECT_EQ(Device::emulated(64).properties().architecture, "emulated");
}

TEST(Device, ArchitecturesThatABuildRunsOn) {
  for (const int number : {80, 86, 89, 90, 100, 120}) EXPECT_TRUE(runs_on("sm_80 sm_90", number)) << number;
  EXPECT_FALSE(runs_on("sm_80 sm_90", 75));
  EXPECT_TRUE(runs_on("sm_80-real sm_90-virtual", 121));
  EXPECT_TRUE(runs_on("sm_80-real", 89));
  EXPECT_FALSE(runs_on("sm_80-real", 90));
  EXPECT_FALSE(runs_on("sm_86-real sm_90-virtual", 80));
  EXPECT_FALSE(runs_on("sm_100-real", 90));
  for (const char* unknown : {"sm_90a", "sm_90a-real", "sm_native", "sm_all-major"})
    EXPECT_TRUE(runs_on(unknown, 75));
  EXPECT_TRUE(runs_on("gfx90a gfx942", std::string("gfx942:sramecc+:xnack-")));
  EXPECT_TRUE(runs_on("gfx90a:xnack+ gfx942", std::string("gfx90a")));
  EXPECT_FALSE(runs_on("gfx90a gfx942", std::string("gfx1100")));
  EXPECT_TRUE(runs_on("gfx11-generic", std::string("gfx1100")));
}

TEST(Device, EmulationOptionsAreKept) {
  if (!has_emulated_devices()) GTEST_SKIP() << "this build has no emulated devices";
  EmulationOptions options;
  options.warp_size = 64;
  options.order = ThreadOrder::shuffled;
  options.seed = 7;
  options.workers = 1;
  options.multiprocessors = 304;
  const Device device = Device::emulated(options);
  EXPECT_EQ(device.emulation().warp_size, 64);
  EXPECT_EQ(device.emulation().order, ThreadOrder::shuffled);
  EXPECT_EQ(device.emulation().seed, 7u);
  EXPECT_EQ(device.emulation().workers, 1);
  EXPECT_EQ(device.properties().multiprocessors, 304);
}

TEST(Device, WarpsHave32Or64Lanes) {
  if (!has_emulated_devices()) GTEST_SKIP() << "this build has no emulated devices";
  for (const int size : {0, 1, 16, 33, 128, -32})
    expect_error(ErrorCode::invalid_argument, {std::to_string(size)}, [&] { Device::emulated(size); });
  EmulationOptions options;
  options.workers = -1;
  expect_error(ErrorCode::invalid_argument, {"-1"}, [&] { Device::emulated(options); });
  options.workers = 0;
  for (const int count : {0, -4}) {
    options.multiprocessors = count;
    expect_error(ErrorCode::invalid_argument, {"multiprocessor", std::to_string(count)},
                 [&] { Device::emulated(options); });
  }
}

TEST(Device, BuiltWith) {
  const std::vector<std::string> names = Device::built_with();
  const std::set<std::string> unique(names.begin(), names.end());
  EXPECT_EQ(unique.size(), names.size());
  EXPECT_EQ(unique.count("cpu"), 1u);
  for (const std::string& name : names)
    EXPECT_TRUE(name == "cpu" || name == "emulator" || name == "cuda" || name == "hip") << name;
  EXPECT_TRUE(unique.count("cuda") + unique.count("hip") > 0 || Device::gpu_count() == 0);
}

TEST(Device, AGpuThatIsNotThere) {
  const std::vector<std::string> names = Device::built_with();
  const auto is_gpu = [](const std::string& name) { return name == "cuda" || name == "hip"; };
  if (std::none_of(names.begin(), names.end(), is_gpu)) {
    expect_error(ErrorCode::not_built, {"built with: cpu"}, [] { Device::gpu(); });
    expect_error(ErrorCode::not_built, {"built with: cpu"}, [] { Device::gpu(3); });
  } else {
    const int count = Device::gpu_count();
    expect_error(ErrorCode::no_device, {std::to_string(count)}, [&] { Device::gpu(count); });
    expect_error(ErrorCode::no_device, {"-1"}, [] { Device::gpu(-1); });
  }
}

TEST(Device, BestIsAGpuWhereThereIsOne) {
  const DeviceKind expected = Device::gpu_count() > 0 ? DeviceKind::gpu : DeviceKind::cpu;
  EXPECT_EQ(Device::best().kind(), expected);
}

TEST(DeviceProperties, ByHand) {
  const DeviceProperties h200 = DeviceProperties::h200(), mi300x = DeviceProperties::mi300x();
  EXPECT_EQ(h200.architecture, "sm_90");
  EXPECT_EQ(h200.warp_size, 32);
  EXPECT_EQ(h200.multiprocessors, 132);
  EXPECT_EQ(h200.shared_memory_per_block, 232448);
  EXPECT_EQ(mi300x.architecture, "gfx942");
  EXPECT_EQ(mi300x.warp_size, 64);
  EXPECT_EQ(mi300x.multiprocessors, 304);
  EXPECT_EQ(mi300x.shared_memory_per_block, 65536);
  for (const DeviceProperties& device : {h200, mi300x}) {
    EXPECT_EQ(device.max_threads_per_block, 1024);
    EXPECT_EQ(device.shared_memory_banks * device.bank_bytes, 128);
    EXPECT_EQ(device.max_grid_x, 2147483647);
    EXPECT_EQ(device.max_grid_y, 65535);
    EXPECT_EQ(device.max_grid_z, 65535);
  }
}

TEST_P(DevicesTest, PropertiesAreUsable) {
  const DeviceProperties& properties = device().properties();
  EXPECT_FALSE(properties.name.empty());
  EXPECT_FALSE(properties.architecture.empty());
  EXPECT_GE(properties.multiprocessors, 1);
  EXPECT_GE(properties.max_threads_per_block, 256);
  EXPECT_GE(properties.shared_memory_per_block, 32768);
  EXPECT_GE(properties.max_grid_x, 65535);
  EXPECT_TRUE(device().kind() == DeviceKind::cpu || properties.warp_size == 32 || properties.warp_size == 64);
}

/// One host thread may use several devices: each call runs where its stream says.
TEST(Devices, TakeTurns) {
  std::vector<Device> devices = test_devices();
  for (int i = 1; i < Device::gpu_count(); ++i) devices.push_back(Device::gpu(i));
  std::vector<Stream> streams;
  for (const Device& device : devices) streams.emplace_back(device);
  cases::PermuteCase c;
  c.shape = {33, 65};
  c.axes = {1, 0};
  for (int round = 0; round < 2; ++round)
    for (const Stream& stream : streams) {
      SCOPED_TRACE(stream.device().to_string());
      check(stream, c);
    }
}

TEST(Errors, EveryCodeHasItsName) {
  std::set<std::string> names;
  for (int code = 0; code <= static_cast<int>(ErrorCode::timeout); ++code)
    names.insert(name_of(static_cast<ErrorCode>(code)));
  EXPECT_EQ(names.size(), static_cast<std::size_t>(ErrorCode::timeout) + 1);
  EXPECT_STREQ(name_of(ErrorCode::invalid_argument), "invalid_argument");
  EXPECT_STREQ(name_of(ErrorCode::pad_too_large), "pad_too_large");
  EXPECT_STREQ(name_of(ErrorCode::vendor), "vendor");
}

TEST(HandMadeProperties, AreRefusedByTheFieldThatNoGpuHas) {
  const TensorView in(nullptr, DType::f32, {64, 48}), out(nullptr, DType::f32, {48, 64});
  const auto expect_refused = [&](const char* field, const auto& change) {
    DeviceProperties properties = DeviceProperties::mi300x();
    EXPECT_NO_THROW(plan_permute(properties, in, {1, 0}, out));
    change(properties);
    try {
      plan_permute(properties, in, {1, 0}, out);
      ADD_FAILURE() << field << " was accepted";
    } catch (const Error& error) {
      EXPECT_EQ(error.code(), ErrorCode::invalid_argument);
      EXPECT_NE(std::string(error.what()).find(std::string("DeviceProperties::") + field), std::string::npos)
          << error.what();
    }
  };
  for (const int value : {-1, 0, 1, 16, 48, 128})
    expect_refused("warp_size", [value](DeviceProperties& p) { p.warp_size = value; });
  for (const int value : {-32, 0, 2, 3, 24, 512})
    expect_refused("shared_memory_banks", [value](DeviceProperties& p) { p.shared_memory_banks = value; });
  for (const int value : {-4, 0, 3, 16})
    expect_refused("bank_bytes", [value](DeviceProperties& p) { p.bank_bytes = value; });
  expect_refused("multiprocessors", [](DeviceProperties& p) { p.multiprocessors = 0; });
  expect_refused("max_threads_per_block", [](DeviceProperties& p) { p.max_threads_per_block = 128; });
  expect_refused("shared_memory_per_block", [](DeviceProperties& p) { p.shared_memory_per_block = 0; });
  expect_refused("max_grid_x", [](DeviceProperties& p) { p.max_grid_x = 0; });
  expect_refused("max_grid_y", [](DeviceProperties& p) { p.max_grid_y = -1; });
  expect_refused("max_grid_z", [](DeviceProperties& p) { p.max_grid_z = 0; });
}

}  // namespace
}  // namespace relayout::test
