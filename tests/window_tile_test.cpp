// The window kernel's tiles: within shared memory, powers of two, odd banks.
#include "host/plan/window/window_tile.hpp"

#include <gtest/gtest.h>

namespace relayout::plan {
namespace {

bool is_power_of_two(int value) { return value > 0 && (value & (value - 1)) == 0; }

TEST(WindowTile, FitsTheDeviceForEveryShape) {
  const DeviceProperties devices[] = {DeviceProperties::h200(), DeviceProperties::mi300x(),
                                      DeviceProperties()};
  for (const DeviceProperties& device : devices) {
    for (const std::int64_t channels : {1, 3, 64, 1000}) {
      for (const std::int64_t positions : {1, 7, 2048}) {
        for (const std::int64_t stride : {1, 2, 5, 1000}) {
          for (const std::int64_t span : {1, 4, 100, 5000}) {
            for (const std::int64_t bytes : {1, 2, 4, 8}) {
              const WindowTile tile = choose_window_tile({channels, positions, stride, span, bytes}, device);
              SCOPED_TRACE(testing::Message()
                           << channels << " channels, " << positions << " positions, stride " << stride
                           << ", span " << span << ", " << bytes << " bytes");
              EXPECT_TRUE(is_power_of_two(tile.positions));
              EXPECT_TRUE(is_power_of_two(tile.channels));
              EXPECT_LE(tile.channels, 256) << "one row of channels a block";
              if (tile.samples == 0) continue;
              EXPECT_EQ(tile.samples, (tile.positions - 1) * stride + span);
              EXPECT_GE(tile.pitch, tile.channels);
              EXPECT_EQ(tile.shared_bytes, std::int64_t{tile.samples} * tile.pitch * bytes);
              EXPECT_LE(tile.shared_bytes, device.shared_memory_per_block);
            }
          }
        }
      }
    }
  }
}

TEST(WindowTile, RowsAreAnOddNumberOfBanks) {
  for (const std::int64_t bytes : {2, 4}) {
    const WindowTile tile = choose_window_tile({64, 1024, 1, 4, bytes}, DeviceProperties::h200());
    EXPECT_EQ(tile.pitch * bytes % 4, 0);
    EXPECT_EQ(tile.pitch * bytes / 4 % 2, 1) << bytes;
  }
}

TEST(WindowTile, CommonWindowsHaveATile) {
  EXPECT_GT(choose_window_tile({64, 2048, 1, 4, 2}, DeviceProperties::h200()).samples, 0);
  EXPECT_GT(choose_window_tile({512, 48000, 5, 10, 2}, DeviceProperties::mi300x()).samples, 0);
}

TEST(WindowTile, SpanBeyondSharedMemoryHasNone) {
  const WindowTile tile = choose_window_tile({64, 2048, 1, 100000, 2}, DeviceProperties::h200());
  EXPECT_EQ(tile.samples, 0);
  EXPECT_EQ(tile.shared_bytes, 0);
}

TEST(WindowTile, HugeStridesDoNotOverflow) {
  const std::int64_t far = std::int64_t{1} << 62;
  EXPECT_GT(choose_window_tile({64, 1, far, 4, 2}, DeviceProperties::h200()).samples, 0)
      << "one position: no stride";
  EXPECT_EQ(choose_window_tile({64, 2, far, 4, 2}, DeviceProperties::h200()).samples, 0);
}

}  // namespace
}  // namespace relayout::plan
