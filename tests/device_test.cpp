// Devices, memory, streams and events.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <limits>
#include <set>
#include <string>
#include <thread>
#include <vector>

#include "platform/gpu/architectures.hpp"
#include "tests/cases/permute_case.hpp"
#include "tests/support/checks.hpp"
#include "tests/support/devices.hpp"
#include "tests/support/expect_error.hpp"
#include "tests/support/fill.hpp"

// An allocation that fails is part of these tests: let the sanitizers' allocators fail like malloc.
extern "C" __attribute__((visibility("default"), used)) const char* __asan_default_options() {
  return "allocator_may_return_null=1";
}
extern "C" __attribute__((visibility("default"), used)) const char* __tsan_default_options() {
  return "allocator_may_return_null=1";
}

namespace relayout::test {
namespace {

std::vector<unsigned char> some_bytes(std::size_t count, std::uint64_t seed) {
  std::vector<unsigned char> bytes(count);
  for (std::size_t i = 0; i < count; ++i) bytes[i] = static_cast<unsigned char>(hash(i, seed));
  return bytes;
}

/// A static object of a program: made before main(), destroyed after it, and nobody chose before or after
/// what.
class UserOfDevices {
 public:
  UserOfDevices()
      : names(Device::built_with()), streams{Stream(Device::cpu()), Stream(Device::emulated(32))} {}
  ~UserOfDevices() {
    for (const Stream& stream : streams) static_cast<void>(Buffer(stream.device(), 16));
  }

  const std::vector<std::string> names;
  const Stream streams[2];
} user_of_devices;

TEST(Device, BackEndsServeBeforeAndAfterMain) {
  EXPECT_EQ(user_of_devices.names, Device::built_with());
  EXPECT_EQ(user_of_devices.streams[0].device().to_string(), "cpu");
  EXPECT_EQ(user_of_devices.streams[1].device().to_string(), "emulated(32)");
}

class DevicesTest : public DeviceTest {};
INSTANTIATE_TEST_SUITE_P(Devices, DevicesTest, ::testing::ValuesIn(test_devices()), device_test_name);

TEST(Device, KindsAndNames) {
  EXPECT_EQ(Device::cpu().kind(), DeviceKind::cpu);
  EXPECT_EQ(Device::cpu().to_string(), "cpu");
  EXPECT_EQ(Device::emulated(32).kind(), DeviceKind::emulated);
  EXPECT_EQ(Device::emulated(32).to_string(), "emulated(32)");
  EXPECT_EQ(Device::emulated(64).to_string(), "emulated(64)");
  EXPECT_EQ(Device::emulated(64).properties().warp_size, 64);
  EXPECT_EQ(Device::emulated(64).properties().architecture, "emulated");
  for (const Device& device : gpu_devices()) {
    EXPECT_EQ(device.kind(), DeviceKind::gpu);
    EXPECT_EQ(device.to_string(), "gpu(0)");
  }
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

TEST_P(DevicesTest, BuffersAreAlignedAndShared) {
  const std::uintptr_t alignment = device().kind() == DeviceKind::gpu ? 256 : 64;
  for (const std::size_t bytes : {1, 63, 64, 65, 4097}) {
    const Buffer buffer(device(), bytes);
    EXPECT_EQ(buffer.bytes(), bytes);
    EXPECT_EQ(reinterpret_cast<std::uintptr_t>(buffer.data()) % alignment, 0u);
  }
  Buffer copy;
  const std::vector<unsigned char> written = some_bytes(1000, 1);
  {
    const Buffer first(device(), written.size());
    copy = first;
    stream().copy(first.data(), written.data(), written.size());
    stream().synchronize();
  }
  std::vector<unsigned char> read(written.size());
  stream().copy(read.data(), copy.data(), read.size());  // the copy keeps the memory
  stream().synchronize();
  EXPECT_EQ(read, written);
}

TEST_P(DevicesTest, EmptyBuffersHaveNoAddress) {
  const Buffer buffer(device(), 0);
  const PinnedBuffer pinned(device(), 0);
  EXPECT_EQ(buffer.data(), nullptr);
  EXPECT_EQ(buffer.bytes(), 0u);
  EXPECT_EQ(pinned.data(), nullptr);
  EXPECT_EQ(pinned.bytes(), 0u);
}

TEST_P(DevicesTest, TooMuchMemory) {
  constexpr std::size_t kExbi = std::size_t{1} << 60, kMax = std::numeric_limits<std::size_t>::max();
  for (const std::size_t bytes : {kExbi, kMax - 3, kMax}) {
    expect_error(ErrorCode::out_of_memory, {std::to_string(bytes)}, [&] { Buffer(device(), bytes); });
    expect_error(ErrorCode::out_of_memory, {std::to_string(bytes)}, [&] { PinnedBuffer(device(), bytes); });
  }
  cases::PermuteCase c;  // the device still works
  c.shape = {5, 7};
  c.axes = {1, 0};
  check(stream(), c);
}

TEST_P(DevicesTest, CopiesGoAnywhere) {
  const std::vector<unsigned char> written = some_bytes(70001, 2);
  const Buffer one(device(), written.size()), two(device(), written.size());
  const PinnedBuffer pinned_in(device(), written.size()), pinned_out(device(), written.size());
  std::memcpy(pinned_in.data(), written.data(), written.size());
  std::memset(pinned_out.data(), 0, written.size());
  stream().copy(one.data(), pinned_in.data(), written.size());
  stream().copy(two.data(), one.data(), written.size());
  stream().copy(pinned_out.data(), two.data(), written.size());
  stream().synchronize();
  EXPECT_EQ(std::memcmp(pinned_out.data(), written.data(), written.size()), 0);

  std::vector<unsigned char> read(10);  // a part, from an odd address
  stream().copy(read.data(), static_cast<unsigned char*>(two.data()) + 33, read.size());
  stream().synchronize();
  EXPECT_EQ(std::memcmp(read.data(), written.data() + 33, read.size()), 0);
}

TEST_P(DevicesTest, CopiesOfRowsTouchNoGap) {
  constexpr std::size_t kRows = 9, kWidth = 37, kFrom = 53, kTo = 41;
  const std::vector<unsigned char> written = some_bytes(kRows * kFrom, 3);
  const Buffer buffer(device(), kRows * kTo);
  stream().fill(buffer.data(), 0xEE, buffer.bytes());
  stream().copy_rows(buffer.data(), kTo, written.data(), kFrom, kWidth, kRows);
  std::vector<unsigned char> read(kRows * kTo);
  stream().copy(read.data(), buffer.data(), read.size());
  stream().synchronize();
  for (std::size_t i = 0; i < read.size(); ++i) {
    const std::size_t row = i / kTo, column = i % kTo;
    ASSERT_EQ(read[i], column < kWidth ? written[row * kFrom + column] : 0xEE) << "byte " << i;
  }
  expect_error(ErrorCode::invalid_argument, {"37"},
               [&] { stream().copy_rows(buffer.data(), kWidth - 1, written.data(), kFrom, kWidth, kRows); });
  expect_error(ErrorCode::null_pointer, {},
               [&] { stream().copy_rows(nullptr, kTo, written.data(), kFrom, kWidth, kRows); });
}

/// Rows without gaps on both sides are one copy; a gap on one side alone is a gap.
TEST_P(DevicesTest, CopiesOfRowsWithoutGaps) {
  constexpr std::size_t kRows = 3, kWidth = 10;
  std::vector<unsigned char> from(kRows * kWidth);
  for (std::size_t i = 0; i < from.size(); ++i) from[i] = static_cast<unsigned char>(i + 1);
  for (const std::size_t gap : {std::size_t{0}, std::size_t{6}}) {
    const std::size_t pitch = kWidth + gap;
    const Buffer buffer(device(), kRows * pitch);
    stream().fill(buffer.data(), 0, buffer.bytes());
    stream().copy_rows(buffer.data(), pitch, from.data(), kWidth, kWidth, kRows);
    std::vector<unsigned char> to(buffer.bytes()), back(from.size());
    stream().copy(to.data(), buffer.data(), to.size());
    stream().copy_rows(back.data(), kWidth, buffer.data(), pitch, kWidth, kRows);
    stream().synchronize();
    EXPECT_EQ(back, from);
    for (std::size_t i = 0; i < to.size(); ++i)
      EXPECT_EQ(to[i], i % pitch < kWidth ? from[i / pitch * kWidth + i % pitch] : 0) << i;
  }
}

TEST_P(DevicesTest, FillsSetEveryByteAndNoOther) {
  const std::size_t size = 1003;
  const Buffer buffer(device(), size);
  auto* const bytes = static_cast<unsigned char*>(buffer.data());
  stream().fill(bytes, 0x11, size);
  stream().fill(bytes + 3, 0xEE, size - 7);
  std::vector<unsigned char> read(size);
  stream().copy(read.data(), bytes, size);
  stream().synchronize();
  for (std::size_t i = 0; i < size; ++i)
    ASSERT_EQ(read[i], i < 3 || i >= size - 4 ? 0x11 : 0xEE) << "byte " << i;
}

TEST_P(DevicesTest, NothingCopiedNothingNeeded) {
  EXPECT_NO_THROW(stream().copy(nullptr, nullptr, 0));
  EXPECT_NO_THROW(stream().copy_rows(nullptr, 0, nullptr, 0, 0, 4));
  EXPECT_NO_THROW(stream().fill(nullptr, 1, 0));
  unsigned char byte = 0;
  expect_error(ErrorCode::null_pointer, {}, [&] { stream().copy(nullptr, &byte, 1); });
  expect_error(ErrorCode::null_pointer, {}, [&] { stream().copy(&byte, nullptr, 1); });
  expect_error(ErrorCode::null_pointer, {}, [&] { stream().fill(nullptr, 0, 1); });
}

TEST_P(DevicesTest, StreamsKnowTheirDeviceAndAreShared) {
  EXPECT_EQ(stream().device().to_string(), device().to_string());
  const Stream copy = stream();
  EXPECT_EQ(copy.native(), stream().native());
  const Stream other(device());
  EXPECT_NE(other.native(), stream().native());
}

TEST_P(DevicesTest, OnlyGpusHaveNativeStreams) {
  if (device().kind() != DeviceKind::gpu) {
    expect_error(ErrorCode::unsupported, {device().to_string()},
                 [&] { Stream::from_native(device(), stream().native()); });
    expect_error(ErrorCode::unsupported, {device().to_string()},
                 [&] { Stream::from_native(device(), nullptr); });
    return;
  }
  cases::PermuteCase c;
  c.shape = {33, 65};
  c.axes = {1, 0};
  for (void* const native : {stream().native(), static_cast<void*>(nullptr)}) {
    const Stream borrowed = Stream::from_native(device(), native);
    EXPECT_EQ(borrowed.native(), native);
    check(borrowed, c);
  }
  check(stream(), c);  // the borrower did not destroy it
}

TEST_P(DevicesTest, EventsMarkPointsInAStream) {
  Event start(device()), stop(device());
  const Stream second(device());
  const std::vector<unsigned char> written = some_bytes(100000, 3);
  const Buffer one(device(), written.size()), two(device(), written.size());
  start.record(stream());
  stream().copy(one.data(), written.data(), written.size());
  stop.record(stream());
  second.wait(stop);  // so that the second stream reads what the first wrote
  second.copy(two.data(), one.data(), written.size());
  std::vector<unsigned char> read(written.size());
  second.copy(read.data(), two.data(), read.size());
  second.synchronize();
  EXPECT_EQ(read, written);
  stop.synchronize();
  EXPECT_TRUE(stop.is_done());
  EXPECT_TRUE(Event(device()).is_done());  // never recorded
  const float elapsed = stop.milliseconds_since(start);
  EXPECT_GE(elapsed, 0.0f);
  EXPECT_LT(elapsed, 60000.0f);
}

TEST_P(DevicesTest, UntimedEventsOrderStreamsAndHaveNoTime) {
  Event timed(device()), untimed = Event::untimed(device());
  const Stream second(device());
  const std::vector<unsigned char> written = some_bytes(100000, 4);
  const Buffer memory(device(), written.size());
  timed.record(stream());
  stream().copy(memory.data(), written.data(), written.size());
  untimed.record(stream());
  second.wait(untimed);
  std::vector<unsigned char> read(written.size());
  second.copy(read.data(), memory.data(), read.size());
  second.synchronize();
  EXPECT_EQ(read, written);
  EXPECT_TRUE(untimed.is_done());
  expect_error(ErrorCode::invalid_argument, {"untimed"}, [&] { (void)untimed.milliseconds_since(timed); });
  expect_error(ErrorCode::invalid_argument, {"untimed"}, [&] { (void)timed.milliseconds_since(untimed); });
}

TEST_P(DevicesTest, ThreadsMayHaveAStreamEach) {
  std::vector<std::thread> threads;
  std::vector<int> wrong(3, 0);
  for (std::size_t t = 0; t < wrong.size(); ++t)
    threads.emplace_back([&, t] {
      const Stream own(device());
      for (std::uint64_t round = 0; round < 4; ++round) {
        GuardedBuffer in(own, Role::input, DType::f32, {34, 35}),
            out(own, Role::output, DType::f16, {35, 34});
        fill_values(in.host(), 10 * t + round);
        in.upload();
        transpose(own, in.device(), out.device());
        reference::permute(in.host(), {1, 0}, out.host());
        if (!out.check()) ++wrong[t];
      }
    });
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(wrong, std::vector<int>(3, 0));
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
