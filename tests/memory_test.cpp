// Memory of every device, and the streams and events by which it is filled and copied.
#include <gtest/gtest.h>

#include <cstdint>
#include <cstring>
#include <limits>
#include <string>
#include <thread>
#include <vector>

#include "host/reference/permute.hpp"
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

class MemoryTest : public DeviceTest {};
INSTANTIATE_TEST_SUITE_P(Devices, MemoryTest, ::testing::ValuesIn(test_devices()), device_test_name);

TEST_P(MemoryTest, BuffersAreAlignedAndShared) {
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

TEST_P(MemoryTest, EmptyBuffersHaveNoAddress) {
  const Buffer buffer(device(), 0);
  const PinnedBuffer pinned(device(), 0);
  EXPECT_EQ(buffer.data(), nullptr);
  EXPECT_EQ(buffer.bytes(), 0u);
  EXPECT_EQ(pinned.data(), nullptr);
  EXPECT_EQ(pinned.bytes(), 0u);
}

TEST_P(MemoryTest, TooMuchMemory) {
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

TEST_P(MemoryTest, CopiesGoAnywhere) {
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

TEST_P(MemoryTest, CopiesOfRowsTouchNoGap) {
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
TEST_P(MemoryTest, CopiesOfRowsWithoutGaps) {
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

TEST_P(MemoryTest, FillsSetEveryByteAndNoOther) {
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

TEST_P(MemoryTest, NothingCopiedNothingNeeded) {
  EXPECT_NO_THROW(stream().copy(nullptr, nullptr, 0));
  EXPECT_NO_THROW(stream().copy_rows(nullptr, 0, nullptr, 0, 0, 4));
  EXPECT_NO_THROW(stream().fill(nullptr, 1, 0));
  unsigned char byte = 0;
  expect_error(ErrorCode::null_pointer, {}, [&] { stream().copy(nullptr, &byte, 1); });
  expect_error(ErrorCode::null_pointer, {}, [&] { stream().copy(&byte, nullptr, 1); });
  expect_error(ErrorCode::null_pointer, {}, [&] { stream().fill(nullptr, 0, 1); });
}

TEST_P(MemoryTest, StreamsKnowTheirDeviceAndAreShared) {
  EXPECT_EQ(stream().device().to_string(), device().to_string());
  const Stream copy = stream();
  EXPECT_EQ(copy.native(), stream().native());
  const Stream other(device());
  EXPECT_NE(other.native(), stream().native());
}

TEST_P(MemoryTest, OnlyGpusHaveNativeStreams) {
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

TEST_P(MemoryTest, EventsMarkPointsInAStream) {
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

TEST_P(MemoryTest, UntimedEventsOrderStreamsAndHaveNoTime) {
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

TEST_P(MemoryTest, ThreadsMayHaveAStreamEach) {
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

}  // namespace
}  // namespace relayout::test
