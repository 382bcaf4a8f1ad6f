// The tiles of the window kernel for any strides: within shared memory, with units that are all alike.
#include "host/plan/window/window_tile.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <vector>

#include "host/plan/copy/bank_model.hpp"
#include "host/plan/window/window_cost.hpp"
#include "host/plan/window/window_plan.hpp"
#include "host/plan/window/window_tile_work.hpp"

namespace relayout::plan {
namespace {

/// A window along contiguous channels into the operand's rows, of `bytes` an element.
WindowParams problem_of(std::int64_t channels, std::int64_t positions, std::int64_t stride, std::int64_t span,
                        std::int64_t bytes) {
  WindowParams params;
  params.batch = 1;
  params.channels = channels;
  params.length = params.positions = positions;
  params.stride = stride;
  params.taps = span > 1 ? 2 : 1;
  params.dilation = span > 1 ? span - 1 : 1;
  params.in_channel = params.out_channel = 1;
  params.in_time = params.out_tap = channels;
  params.out_position = params.taps * channels;
  params.in_type = params.out_type = bytes == 1   ? DType::u8
                                     : bytes == 2 ? DType::f16
                                     : bytes == 4 ? DType::f32
                                                  : DType::f64;
  return params;
}

/// With a tile, of at least 0 us.
WindowParams tile_of(WindowParams params, const DeviceProperties& device, bool& possible) {
  possible = choose_window_tile(device, params) >= 0;
  return params;
}

TEST(WindowTile, FitsTheDeviceForEveryShape) {
  const DeviceProperties devices[] = {DeviceProperties::h200(), DeviceProperties::mi300x(),
                                      DeviceProperties()};
  for (const DeviceProperties& device : devices) {
    for (const std::int64_t channels : {1, 3, 64, 1000}) {
      for (const std::int64_t positions : {1, 7, 2048}) {
        for (const std::int64_t stride : {1, 2, 5, 1000}) {
          for (const std::int64_t span : {1, 4, 100, 5000}) {
            for (const std::int64_t bytes : {1, 2, 4, 8}) {
              SCOPED_TRACE(testing::Message()
                           << channels << " channels, " << positions << " positions, stride " << stride
                           << ", span " << span << ", " << bytes << " bytes");
              bool possible;
              const WindowParams p =
                  tile_of(problem_of(channels, positions, stride, span, bytes), device, possible);
              if (!possible) {
                EXPECT_GT(span + 3 * stride, 1000) << "a tile of few positions and one channel fits";
                continue;
              }
              const WindowTile& t = p.tile;
              EXPECT_EQ(t.unit_channels, 0);
              EXPECT_EQ(p.tile_positions, t.unit_positions * t.units);
              EXPECT_EQ(p.tile_samples, (p.tile_positions + t.positions_before - 1) * stride + span);
              EXPECT_LE(p.shared_bytes, device.shared_memory_per_block);
              EXPECT_GE(p.shared_bytes, p.tile_samples * p.tile_channels * bytes);
              EXPECT_GE(t.unit_positions, t.positions_before) << "only the first unit may lack positions";
              EXPECT_EQ(t.unit_positions * p.out_position * bytes % 4, 0) << "units are alike";
            }
          }
        }
      }
    }
  }
}

/// Pieces of 16 channels are 32 bytes, a sector or parts of two.
TEST(WindowTile, PartsOfSectorsCostMore) {
  WindowParams p = problem_of(32, 2048, 1, 4, 2);
  p.tile_channels = 16;
  p.tile_positions = 8;
  p.tile_samples = 11;
  p.tile.lines = WindowLines::taps;
  const DeviceProperties device = DeviceProperties::h200();
  const WindowTuning& tuning = window_tuning(device);
  const auto bytes = [&](std::uintptr_t address) {
    p.out = reinterpret_cast<void*>(address);
    return window_tile_work(tuning, p, WindowLines::taps, true).bytes;
  };
  const double runs = 8 * 2, of_run = 30 / 16.0;  // of the 16 starts 2 bytes apart, one cuts no sector
  EXPECT_NEAR(bytes(0x1002) - bytes(0x1000), runs * of_run * tuning.lost_per_partial_sector, 1e-6);
  EXPECT_EQ(bytes(0x1020), bytes(0x1000));
}

/// With rows off sectors, pieces of 16 channels would be 31 runs of 32 bytes for each position.
TEST(WindowTile, RowsOffSectorsAreNotWrittenInShortPieces) {
  WindowParams p;
  p.batch = 2;
  p.channels = 80;
  p.length = p.positions = 2700;
  p.taps = 31;
  p.dilation = 3;
  p.pad_left = 7;
  p.in_time = p.out_channel = 1;
  p.in_channel = p.length;
  p.in_batch = p.channels * p.length;
  p.out_tap = p.channels;
  p.out_position = p.taps * p.channels + 5;
  p.out_batch = p.positions * p.out_position;
  bool possible;
  EXPECT_EQ(tile_of(p, DeviceProperties::h200(), possible).tile_channels, p.channels);
}

TEST(WindowTile, RowsSideBySideAreAStream) {
  bool possible;
  WindowParams p = problem_of(81, 1 << 20, 1, 3, 1);
  EXPECT_EQ(tile_of(p, DeviceProperties::h200(), possible).tile.lines, WindowLines::stream);
  EXPECT_EQ(tile_of(p, DeviceProperties::h200(), possible).tile.fill, WindowFill::flat);
  ++p.out_position;
  EXPECT_EQ(tile_of(p, DeviceProperties::h200(), possible).tile.lines, WindowLines::rows);
  p.out_tap *= 2;
  p.out_position *= 2;
  EXPECT_EQ(tile_of(p, DeviceProperties::h200(), possible).tile.lines, WindowLines::taps);
  p.out_channel = 2;
  EXPECT_EQ(tile_of(p, DeviceProperties::h200(), possible).tile.lines, WindowLines::elements);
  WindowParams narrow = problem_of(5, 2048, 1, 3, 1);
  ++narrow.out_position;
  EXPECT_EQ(tile_of(narrow, DeviceProperties::h200(), possible).tile.lines, WindowLines::elements)
      << "most words of so short rows would be cut";
}

/// Many rows along time have units of a few rows each, which lie equally far from a word's boundary.
TEST(WindowTile, ManyRowsAlongTimeHaveUnitsOfChannels) {
  for (const std::int64_t row : {300, 301, 302}) {
    WindowParams p = problem_of(64, row, 1, 1, 1);
    p.order = WriteOrder::position;
    p.out_position = 1;
    p.out_channel = row;
    p.out_batch = 64 * row;
    bool possible;
    p = tile_of(p, DeviceProperties::h200(), possible);
    EXPECT_EQ(p.tile.lines, WindowLines::positions);
    EXPECT_EQ(p.tile.unit_channels, row % 4 == 0 ? 1 : row % 2 == 0 ? 2 : 4) << row;
    EXPECT_GE(p.tile.units * p.tile.unit_channels, p.tile_channels);
    EXPECT_EQ(p.tile_positions, p.tile.unit_positions);
    EXPECT_EQ(p.tile.positions_before, row % 4 == 0 ? 0 : p.tile.line_alignment - 1);
    p = problem_of(3, row, 1, 1, 1);
    p.order = WriteOrder::position;
    p.out_position = 1;
    p.out_channel = row + 1;
    EXPECT_EQ(tile_of(p, DeviceProperties::h200(), possible).tile.unit_channels, 0) << "too few rows";
  }
}

/// Where rows of the output lie on a sector, lines have room for what their address is behind one; rows on 16
/// bytes have none, and want such an address again.
TEST(WindowTile, LinesBeginWhereSectorsDo) {
  bool possible;
  WindowParams p = problem_of(64, 2048, 1, 4, 2);
  p.taps = 2;
  p.out_position += 16;
  p.out = reinterpret_cast<void*>(0x1002);
  EXPECT_EQ(tile_of(p, DeviceProperties::h200(), possible).tile.line_alignment, 16);
  EXPECT_EQ(tile_of(p, DeviceProperties::h200(), possible).tile.out_alignment, 1);
  p.out = reinterpret_cast<void*>(0x1010);
  EXPECT_EQ(tile_of(p, DeviceProperties::h200(), possible).tile.line_alignment, 8);
  EXPECT_EQ(tile_of(p, DeviceProperties::h200(), possible).tile.out_alignment, 16);
  ++p.out_position;
  EXPECT_EQ(tile_of(p, DeviceProperties::h200(), possible).tile.line_alignment, 2);
}

/// A tile of windows whose taps lie side by side in the output, and whose channels do in the input.
WindowParams tile_of_taps(DType type, std::int64_t channels, std::int64_t taps, std::int64_t dilation) {
  WindowParams p = problem_of(channels, 2048, 1, 1, size_of(type));
  p.order = WriteOrder::tap;
  p.taps = taps;
  p.dilation = dilation;
  p.out_tap = 1;
  p.out_channel = taps;
  p.out_position = channels * taps;
  bool possible;
  p = tile_of(p, DeviceProperties::h200(), possible);
  EXPECT_EQ(p.tile.channel_pitch, 1);
  return p;
}

/// Passes of the read by which its first warp takes one element each of its words.
int passes_along_taps(DType type, std::int64_t channels, std::int64_t taps, std::int64_t dilation) {
  const WindowParams p = tile_of_taps(type, channels, taps, dilation);
  const auto bytes = static_cast<std::int64_t>(size_of(type)), word = std::max<std::int64_t>(1, 4 / bytes);
  std::vector<std::int64_t> addresses;
  for (std::int64_t lane = 0; lane < 32; ++lane) {
    const std::int64_t column = lane * word;
    addresses.push_back((column % taps * dilation * p.tile.time_pitch + column / taps) * bytes);
  }
  BankCount count;
  add_access(bank_model(DeviceProperties::h200()), SharedAccess::read, addresses, static_cast<int>(bytes),
             count);
  return static_cast<int>(count.passes);
}

/// An odd number of elements from sample to sample, as lanes along samples want it, makes these 7 passes of
/// bytes and of halves with 7 taps.
TEST(WindowTile, LanesAlongTapsMeetInFewBanks) {
  for (const DType type : {DType::u8, DType::f16, DType::f32}) {
    for (const std::int64_t channels : {64, 80, 100, 768}) {
      for (const std::int64_t taps : {2, 3, 4, 5, 6, 7, 8, 31}) {
        for (const std::int64_t dilation : {1, 2, 3}) {
          SCOPED_TRACE(testing::Message() << name_of(type) << ", " << channels << " channels, " << taps
                                          << " taps, dilation " << dilation);
          EXPECT_LE(passes_along_taps(type, channels, taps, dilation), taps == 31 ? 3 : 2);
        }
      }
    }
  }
}

/// Packs of 16 bytes of the input's rows are packs of the tile's.
TEST(WindowTile, RowsOfTapsAreFilledByPacks) {
  for (const DType type : {DType::u8, DType::f16, DType::f32}) {
    for (const std::int64_t taps : {1, 2, 3, 5, 7}) {
      const WindowParams p = tile_of_taps(type, 64, taps, 1);
      EXPECT_EQ((p.tile.time_pitch - p.in_time) * static_cast<std::int64_t>(size_of(type)) % 16, 0)
          << name_of(type) << " " << taps;
    }
  }
}

TEST(WindowTile, SpanBeyondSharedMemoryHasNone) {
  bool possible;
  tile_of(problem_of(64, 2048, 1, 100000, 2), DeviceProperties::h200(), possible);
  EXPECT_FALSE(possible);
  EXPECT_STREQ(
      window_candidate(DeviceProperties::h200(), problem_of(64, 2048, 1, 100000, 2), WindowKernel::tile)
          .refused,
      "the samples under a window do not fit into shared memory");
}

TEST(WindowTile, HugeStridesDoNotOverflow) {
  const std::int64_t far = std::int64_t{1} << 62;
  bool possible;
  tile_of(problem_of(64, 1, far, 4, 4), DeviceProperties::h200(), possible);
  EXPECT_TRUE(possible) << "one position: no stride";
  tile_of(problem_of(64, 2, far, 4, 4), DeviceProperties::h200(), possible);
  EXPECT_TRUE(possible) << "tiles of one position";
}

/// The kernel for tiles steps over the input by 31 bits of bytes.
TEST(WindowPlan, FarSamplesAndChannelsAreReadDirectly) {
  const auto refused = [](std::int64_t in_channel, std::int64_t in_time, std::int64_t channels) {
    WindowParams p = problem_of(channels, 2048, 1, 4, 4);
    p.in_channel = in_channel;
    p.in_time = in_time;
    return window_candidate(DeviceProperties::h200(), p, WindowKernel::tile).refused;
  };
  constexpr std::int64_t kFarthest = (std::int64_t{1} << 29) - 1;
  EXPECT_EQ(refused(1, kFarthest, 64), nullptr);
  EXPECT_EQ(refused(-kFarthest, 1, 64), nullptr);
  for (const char* reason : {refused(1, kFarthest + 1, 64), refused(1, -kFarthest - 1, 64),
                             refused(kFarthest + 1, 1, 64), refused(std::int64_t{1} << 61, 1, 64)}) {
    ASSERT_NE(reason, nullptr);
    EXPECT_STREQ(reason, "the input's channels or samples lie more than 2 GiB apart");
  }
  EXPECT_EQ(refused(std::int64_t{1} << 61, 1, 1), nullptr) << "one channel: no stride";
}

/// Channels side by side on both sides are elements of 4 bytes, and a plan then needs addresses of such.
TEST(WindowPlan, JoinsNarrowChannels) {
  WindowParams p = problem_of(80, 2048, 1, 4, 1);
  p.pad_bits = 0x5a;
  choose_window_kernel(DeviceProperties::h200(), false, p);
  EXPECT_EQ(p.in_type, DType::u32);
  EXPECT_EQ(p.channels, 20);
  EXPECT_EQ(p.pad_bits, 0x5a5a5a5au);
  EXPECT_GE(window_alignment(p).in, 4);
  EXPECT_GE(window_alignment(p).out, 4);
  p = problem_of(82, 2048, 1, 4, 1);
  choose_window_kernel(DeviceProperties::h200(), false, p);
  EXPECT_EQ(p.in_type, DType::u16);
  p = problem_of(81, 2048, 1, 4, 1);
  choose_window_kernel(DeviceProperties::h200(), false, p);
  EXPECT_EQ(p.in_type, DType::u8);
  EXPECT_EQ(window_alignment(p).in, 1);
  EXPECT_EQ(p.tile.lines, WindowLines::stream);
  EXPECT_EQ(window_alignment(p).out, 16) << "each tile of the stream begins on 16 bytes of the address 0";
}

}  // namespace
}  // namespace relayout::plan
