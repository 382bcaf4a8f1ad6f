// The window kernels for any strides and for whole rows, whatever the plan would have taken: random windows
// on tiles of every size, without a tile, and in parts, and rows with padding of any length, against the
// oracle.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <vector>

#include "core/kernel_table.hpp"
#include "host/api/checks.hpp"
#include "host/api/window.hpp"
#include "host/plan/window/window_plan.hpp"
#include "host/reference/img2col.hpp"
#include "host/reference/pad.hpp"
#include "tests/cases/img2col_shorthand.hpp"
#include "tests/support/checks.hpp"
#include "tests/support/devices.hpp"
#include "tests/support/random.hpp"

namespace relayout::test {
namespace {

using cases::Img2colCase;
using cases::kModes;
using cases::kOrders;
using cases::Layout;
using cases::PadCase;

class WindowKernelTest : public DeviceTest {
 protected:
  /// Runs the problem on the tiles that devices of other sizes would get.
  void run_tiles(const WindowParams& problem) {
    Random random(static_cast<std::uint64_t>(problem.positions + problem.channels));
    if (random.chance(0.4)) {
      const plan::PlannedWindow parts = plan::window_in_parts(device().properties(), problem);
      if (parts.inside) {
        ++in_parts_;
        return launch_window(stream(), parts, problem.in, problem.out);
      }
    }
    DeviceProperties properties = device().properties();
    properties.multiprocessors = static_cast<int>(random.pick<std::int64_t>({1, 4, 500}));
    properties.shared_memory_per_block = random.pick<std::int64_t>({48 << 10, 8 << 10, 2 << 10, 1 << 10});
    const WindowKernel kernel = random.chance(0.3) ? WindowKernel::direct : WindowKernel::tile;
    plan::WindowCandidate candidate = plan::window_candidate(properties, problem, kernel);
    if (candidate.refused != nullptr) {
      EXPECT_LT(properties.shared_memory_per_block, 48 << 10) << candidate.refused;
      candidate = plan::window_candidate(properties, problem, WindowKernel::direct);
    }
    kernels_of(stream()).window(context_of(stream()), candidate.params);
  }

  int in_parts_ = 0;  // windows that ran so
};
GTEST_ALLOW_UNINSTANTIATED_PARAMETERIZED_TEST(WindowKernelTest);
INSTANTIATE_TEST_SUITE_P(Devices, WindowKernelTest, ::testing::ValuesIn(kernel_devices()), device_test_name);

const std::vector<Layout> kInputs{
    Layout::ncl,       Layout::nlc,      Layout::lcn,       Layout::gaps,         Layout::nlc_gaps,
    Layout::wide_rows, Layout::reversed, Layout::one_batch, Layout::every_second, Layout::one_sample};
const std::vector<Layout> kOutputs{Layout::ncl,      Layout::nlc,      Layout::lcn,         Layout::gaps,
                                   Layout::nlc_gaps, Layout::reversed, Layout::every_second};
const std::vector<std::int64_t> kChannels{1, 2, 3, 4, 5, 7, 8, 13, 32, 70, 300};

void draw_types(Random& random, DType& in, DType& out) {
  const std::vector<DType> any{DType::u8, DType::i8, DType::f16, DType::u16, DType::f32, DType::i64};
  const std::vector<DType> floats{DType::f16, DType::bf16, DType::f32, DType::f64};
  in = out = random.pick(any);
  if (!random.chance(0.4)) return;
  in = random.pick(floats);
  out = random.pick(floats);
}

void draw_padding(Random& random, std::int64_t length, PadSpec& pad) {
  pad.mode = random.pick(kModes);
  pad.policy = PadPolicy::extended;
  pad.value = 3;
  const std::int64_t most = random.chance(0.3) ? 3 * length : 6;
  pad.left = random.integer(-std::min<std::int64_t>(2, length - 1) / 2, most);
  pad.right = random.integer(0, most);
}

Img2colCase draw_img2col(Random& random) {
  Img2colCase c;
  draw_types(random, c.in_type, c.out_type);
  c.window.taps = random.pick<std::int64_t>({1, 2, 3, 4, 7, 31});
  c.window.stride = random.integer(1, 4);
  c.window.dilation = random.integer(1, 4);
  c.window.order = random.pick(kOrders);
  c.channels = random.pick(kChannels);
  if (c.channels % 4 == 0 && random.chance(0.2)) c.window.groups = 4;
  c.batch = random.integer(1, 2);
  c.length = random.integer(1, 12000 / (c.channels * c.window.taps));
  draw_padding(random, c.length, c.pad);
  if (c.length + c.pad.left + c.pad.right < c.window.span())
    c.pad.right += c.window.span() - (c.length + c.pad.left + c.pad.right);
  c.in_layout = random.pick(kInputs);
  c.row_gap = random.chance(0.4) ? random.integer(1, 9) : 0;
  c.in_misaligned = random.chance(0.4) ? random.integer(1, 9) : 0;
  c.out_misaligned = random.chance(0.4) ? random.integer(1, 9) : 0;
  return c;
}

WindowParams problem_of(const Img2colCase& c, const TensorView& in, const TensorView& out) {
  const std::int64_t positions = output_length(c.length, c.window, c.pad), rank = out.rank();
  const std::int64_t channels = c.channels / c.window.groups, step = out.stride(rank - 1);
  const bool tap_outer = c.window.order == ColumnOrder::tap_outer;
  WindowStrides strides;
  strides.position = out.stride(rank - 2);
  strides.batch = positions * strides.position;
  strides.group = rank == 3 ? out.stride(0) : 0;
  strides.tap = tap_outer ? channels * step : step;
  strides.channel = tap_outer ? step : c.window.taps * step;
  return window_params(in, c.window, c.pad, encode_pad_value("img2col", c.pad, c.out_type), positions, out,
                       strides);
}

TEST_P(WindowKernelTest, RandomWindows) {
  for (const std::uint64_t seed : random_seeds(150)) {
    SCOPED_TRACE(reproduce(seed));
    Random random(seed);
    const Img2colCase c = draw_img2col(random);
    Dims strides = c.out_strides();
    // Columns apart, or the operand transposed.
    if (c.window.groups == 1 && random.chance(0.1)) strides = {2 * strides[0], 2};
    if (c.window.groups == 1 && random.chance(0.1)) strides = {1, c.rows() + c.row_gap};
    check_filled(
        stream(), c, c.in_shape(), c.out_shape(), strides, seed,
        [&](const TensorView& in, const TensorView& out) { run_tiles(problem_of(c, in, out)); },
        [&](const TensorView& in, const TensorView& out) { reference::img2col(in, c.window, c.pad, out); });
    if (HasFailure()) return;
  }
  EXPECT_GT(in_parts_, 10);
}

WindowParams pad_problem(const PadCase& c, const TensorView& in, const TensorView& out) {
  const WindowStrides strides{out.stride(0), 0, out.stride(2), 0, out.stride(1)};
  return window_params(in, Window(), c.pad, encode_pad_value("pad", c.pad, c.out_type), out.extent(2), out,
                       strides);
}

TEST_P(WindowKernelTest, RandomPads) {
  for (const std::uint64_t seed : random_seeds(150)) {
    SCOPED_TRACE(reproduce(seed));
    Random random(seed);
    PadCase c;
    draw_types(random, c.in_type, c.out_type);
    c.batch = random.integer(1, 3);
    c.channels = random.pick(kChannels);
    c.length = random.integer(1, 6000 / c.channels);
    draw_padding(random, c.length, c.pad);
    c.in_layout = random.pick(kInputs);
    c.out_layout = random.pick(kOutputs);
    c.in_misaligned = random.chance(0.4) ? random.integer(1, 9) : 0;
    c.out_misaligned = random.chance(0.4) ? random.integer(1, 9) : 0;
    check_filled(
        stream(), c, c.in_shape(), c.out_shape(), strides_of(c.out_layout, c.out_shape()), seed,
        [&](const TensorView& in, const TensorView& out) { run_tiles(pad_problem(c, in, out)); },
        [&](const TensorView& in, const TensorView& out) { reference::pad(in, c.pad, out); });
    if (HasFailure()) return;
  }
  EXPECT_GT(in_parts_, 10);
}

/// Padding of a few elements and of thousands, before and behind, of signals shorter and longer than a
/// vector.
PadCase draw_rows(Random& random) {
  PadCase c;
  c.in_type = c.out_type = random.pick<DType>({DType::u8, DType::f16, DType::f32, DType::i64});
  c.batch = random.integer(1, 2);
  c.channels = random.pick<std::int64_t>({1, 2, 5});
  c.length = random.chance(0.2) ? random.integer(1, 40) : random.integer(1, 2000);
  c.pad.mode = random.pick(kModes);
  c.pad.policy = PadPolicy::extended;
  c.pad.value = 3;
  const auto draw_side = [&] {
    if (random.chance(0.2)) return -random.integer(0, (c.length - 1) / 2);
    return random.chance(0.3) ? random.integer(0, 40) : random.integer(0, 3000);
  };
  c.pad.left = draw_side();
  c.pad.right = draw_side();
  c.in_misaligned = random.chance(0.7) ? random.integer(1, 15) : 0;
  c.out_misaligned = random.chance(0.7) ? random.integer(1, 15) : 0;
  return c;
}

TEST_P(WindowKernelTest, RandomRowsWithPadding) {
  int with_long_padding = 0;
  for (const std::uint64_t seed : random_seeds(200)) {
    SCOPED_TRACE(reproduce(seed));
    Random random(seed);
    const PadCase c = draw_rows(random);
    check_filled(
        stream(), c, c.in_shape(), c.out_shape(), strides_of(c.out_layout, c.out_shape()), seed,
        [&](const TensorView& in, const TensorView& out) {
          const plan::WindowCandidate rows =
              plan::window_candidate(device().properties(), pad_problem(c, in, out), WindowKernel::rows);
          ASSERT_EQ(rows.refused, nullptr);
          with_long_padding += rows.params.copy_blocks < rows.params.row_blocks;
          kernels_of(stream()).window(context_of(stream()), rows.params);
        },
        [&](const TensorView& in, const TensorView& out) { reference::pad(in, c.pad, out); });
    if (HasFailure()) return;
  }
  EXPECT_GT(with_long_padding, 100);
}

}  // namespace
}  // namespace relayout::test
