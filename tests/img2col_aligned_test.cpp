// img2col on rows at 16-byte boundaries with whole vectors of channels, and on rows that miss one of these.
#include <gtest/gtest.h>

#include <array>
#include <cstdint>
#include <utility>
#include <vector>

#include "core/kernel_table.hpp"
#include "host/api/checks.hpp"
#include "tests/cases/img2col_shorthand.hpp"
#include "tests/support/checks.hpp"
#include "tests/support/devices.hpp"
#include "tests/support/expect_error.hpp"

namespace relayout::test {
namespace {

using cases::Img2colCase;
using cases::kModes;
using cases::kOrders;
using cases::Layout;
using cases::make;
using cases::window;
using cases::zeros;

class Img2colAlignedTest : public DeviceTest {};
INSTANTIATE_TEST_SUITE_P(Devices, Img2colAlignedTest, ::testing::ValuesIn(test_devices()), device_test_name);

/// Rows at 16-byte boundaries and whole vectors of channels: the needs of 16-byte loads and stores.
TEST_P(Img2colAlignedTest, RowsOfEveryTypeAndOrder) {
  const std::vector<std::pair<DType, DType>> types{{DType::f32, DType::f16},  {DType::f16, DType::f16},
                                                   {DType::f32, DType::bf16}, {DType::f32, DType::f32},
                                                   {DType::f64, DType::f16},  {DType::f16, DType::f32},
                                                   {DType::i32, DType::i32},  {DType::f64, DType::f64}};
  for (const auto& [from, to] : types)
    for (const Layout layout : {Layout::ncl, Layout::nlc, Layout::wide_rows})
      for (const ColumnOrder order : kOrders) {
        Img2colCase c =
            make(2, 24, layout == Layout::wide_rows ? 37 : 40, window(3, 1, 2, 1, order), zeros(4, 1));
        c.in_type = from;
        c.out_type = to;
        c.in_layout = layout;
        c.row_gap = layout == Layout::wide_rows ? 8 : 0;
        check(stream(), c);
      }
}

TEST_P(Img2colAlignedTest, RowsAtEveryDistanceFromABoundary) {
  std::size_t turn = 0;
  for (const std::int64_t stride : {1, 2, 3, 4, 5})
    for (const std::int64_t left : {-5, 0, 1, 2, 3, 7}) {
      Img2colCase c = make(1, 8, 184, window(2, stride, 3, 1, kOrders[turn / 2 % 2]), zeros(left, 0));
      c.in_layout = turn % 4 == 3 ? Layout::nlc : Layout::ncl;
      c.in_type = turn % 3 == 0 ? DType::f16 : DType::f32;
      ++turn;
      check(stream(), c);
    }
}

TEST_P(Img2colAlignedTest, RowsOfManySizes) {
  std::vector<Img2colCase> all{make(1, 8, 1040, window(4), zeros(3, 0)),
                               make(1, 136, 40, window(2), zeros(1, 0)),
                               make(3, 72, 8, window(2), zeros(1, 0)),
                               make(2, 64, 64, window(1), zeros(0, 0)),
                               make(1, 8, 512, window(3, 1, 60), zeros(120, 0)),
                               make(1, 16, 512, window(3, 2, 200), zeros(400, 0)),
                               make(1, 8, 512, window(3, 1, 2000), zeros(4000, 0)),
                               make(1, 8, 512, window(2, 130), zeros(0, 0)),
                               make(2, 48, 24, window(3, 1, 1, 2), zeros(2, 0)),
                               make(2, 32, 24, window(3, 1, 1, 4), zeros(2, 0)),
                               make(1, 8, 8, window(9), zeros(8, 0)),
                               make(1, 16, 40, window(40), zeros(39, 0))};
  for (const Img2colCase& c : all)
    for (const Layout layout : {Layout::ncl, Layout::nlc})
      for (const ColumnOrder order : kOrders) {
        Img2colCase varied = c;
        varied.in_layout = layout;
        varied.window.order = order;
        check(stream(), varied);
      }
}

TEST_P(Img2colAlignedTest, RowsOfEveryPadMode) {
  for (const PadMode mode : kModes)
    for (const Layout layout : {Layout::ncl, Layout::nlc})
      for (const auto& [length, left, right] :
           std::vector<std::array<std::int64_t, 3>>{{24, 9, 7}, {24, -3, 6}, {200, 1, 2}}) {
        Img2colCase c = make(2, 16, length, window(3, 1, 2), zeros(left, right));
        c.in_layout = layout;
        c.pad.mode = mode;
        c.pad.value = 0.1;
        check(stream(), c);
      }
}

/// Signals end inside their first tile; or the last sample of a tile is that of the signal, or the first of
/// the padding.
TEST_P(Img2colAlignedTest, RowsThatEndAtEveryPlaceOfATile) {
  for (std::int64_t length = 5; length < 50; ++length)
    for (const Layout layout : {Layout::wide_rows, Layout::nlc}) {
      Img2colCase c = make(1, 8, length, window(1 + length % 2), zeros(length % 2, 2));
      c.in_layout = layout;
      c.pad.value = -3.0;
      check(stream(), c);
    }
}

/// One condition of vectors is missing.
TEST_P(Img2colAlignedTest, NearlyAlignedRows) {
  for (const Layout layout : {Layout::ncl, Layout::nlc}) {
    const Img2colCase aligned = [&] {
      Img2colCase c = make(2, 16, 24, window(3), zeros(2, 0));
      c.in_layout = layout;
      return c;
    }();
    std::vector<Img2colCase> all(7, aligned);
    all[0].in_misaligned = 1;
    all[1].out_misaligned = 1;
    all[2].row_gap = 1;
    all[3].channels = 17;
    all[4].length = 23;
    all[5].in_misaligned = 4;  // aligned for f32, not for f16
    all[5].in_type = DType::f16;
    all[6].out_misaligned = 4;
    for (const Img2colCase& c : all) check(stream(), c);
  }
}

/// Pairs of types that the plan never asks for; a kernel that did nothing would leave the old contents.
TEST_P(Img2colAlignedTest, TheKernelRefusesTypesThatItHasNoCodeFor) {
  if (device().kind() == DeviceKind::cpu) return;  // native code takes every pair
  WindowParams params;
  params.kernel = WindowKernel::vector;
  params.batch = params.channels = params.length = params.positions = 1;
  params.tile_positions = params.tile_channels = params.tile_samples = params.tile_pitch = 8;
  for (const bool along_time : {false, true}) {
    params.along_time = along_time;
    params.in_type = DType::f16;
    params.out_type = DType::bf16;
    expect_error(ErrorCode::unsupported, {"f16", "bf16", along_time ? "time" : "channels"},
                 [&] { kernels_of(stream()).window(context_of(stream()), params); });
  }
  params.along_time = false;
  params.out_type = DType::f32;
  expect_error(ErrorCode::unsupported, {"f16", "f32", "channels"},
               [&] { kernels_of(stream()).window(context_of(stream()), params); });
}

}  // namespace
}  // namespace relayout::test
