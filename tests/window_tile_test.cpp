// The window kernel's tiles: within shared memory, powers of two, odd banks.
#include "host/plan/window/window_tile.hpp"

#include <gtest/gtest.h>

#include <cstdint>

namespace relayout::plan {
namespace {

/// The tile of a window with so many samples from its first to its last tap.
WindowParams tile_of(std::int64_t channels, std::int64_t positions, std::int64_t stride, std::int64_t span,
                     std::int64_t bytes, const DeviceProperties& device) {
  WindowParams params;
  params.channels = channels;
  params.positions = positions;
  params.stride = stride;
  params.taps = span > 1 ? 2 : 1;
  params.dilation = span > 1 ? span - 1 : 1;
  params.out_type = bytes == 1 ? DType::u8 : bytes == 2 ? DType::f16 : bytes == 4 ? DType::f32 : DType::f64;
  choose_window_tile(device, params);
  return params;
}

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
              const WindowParams tile = tile_of(channels, positions, stride, span, bytes, device);
              SCOPED_TRACE(testing::Message()
                           << channels << " channels, " << positions << " positions, stride " << stride
                           << ", span " << span << ", " << bytes << " bytes");
              EXPECT_TRUE(is_power_of_two(tile.tile_positions));
              EXPECT_TRUE(is_power_of_two(tile.tile_channels));
              EXPECT_LE(tile.tile_channels, 256) << "one row of channels a block";
              if (tile.tile_samples == 0) continue;
              EXPECT_EQ(tile.tile_samples, (tile.tile_positions - 1) * stride + span);
              EXPECT_GE(tile.tile_pitch, tile.tile_channels);
              EXPECT_EQ(tile.shared_bytes, std::int64_t{tile.tile_samples} * tile.tile_pitch * bytes);
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
    const WindowParams tile = tile_of(64, 1024, 1, 4, bytes, DeviceProperties::h200());
    EXPECT_EQ(tile.tile_pitch * bytes % 4, 0);
    EXPECT_EQ(tile.tile_pitch * bytes / 4 % 2, 1) << bytes;
  }
}

TEST(WindowTile, CommonWindowsHaveATile) {
  EXPECT_GT(tile_of(64, 2048, 1, 4, 2, DeviceProperties::h200()).tile_samples, 0);
  EXPECT_GT(tile_of(512, 48000, 5, 10, 2, DeviceProperties::mi300x()).tile_samples, 0);
}

TEST(WindowTile, SpanBeyondSharedMemoryHasNone) {
  const WindowParams tile = tile_of(64, 2048, 1, 100000, 2, DeviceProperties::h200());
  EXPECT_EQ(tile.tile_samples, 0);
  EXPECT_EQ(tile.shared_bytes, 0);
}

TEST(WindowTile, HugeStridesDoNotOverflow) {
  const std::int64_t far = std::int64_t{1} << 62;
  EXPECT_GT(tile_of(64, 1, far, 4, 2, DeviceProperties::h200()).tile_samples, 0) << "one position: no stride";
  EXPECT_EQ(tile_of(64, 2, far, 4, 2, DeviceProperties::h200()).tile_samples, 0);
}

}  // namespace
}  // namespace relayout::plan
