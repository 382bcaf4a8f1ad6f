// Every depthwise kernel that can run a convolution, not only the one of least predicted time: all give the
// exact values, and write nothing else.
#include <gtest/gtest.h>

#include <cstdint>
#include <functional>
#include <vector>

#include "core/kernel_table.hpp"
#include "host/api/checks.hpp"
#include "host/api/depthwise.hpp"
#include "host/plan/depthwise/depthwise_plan.hpp"
#include "host/reference/scalar.hpp"
#include "tests/support/depthwise_tensors.hpp"
#include "tests/support/devices.hpp"
#include "tests/support/random.hpp"

namespace relayout::test {
namespace {

class DepthwiseKernelsTest : public DeviceTest {};
INSTANTIATE_TEST_SUITE_P(Devices, DepthwiseKernelsTest, ::testing::ValuesIn(test_devices()),
                         device_test_name);

DepthwiseParams params_of(const DepthwiseTensors& tensors) {
  DepthwiseParams params = depthwise_params(tensors.in.device(), tensors.weights.device(),
                                            tensors.c.bias ? tensors.bias.device() : TensorView(),
                                            Activation::none, tensors.out.device());
  if (tensors.c.initial_state) set_initial_state(params, tensors.initial.device());
  return params;
}

/// A plan with so many tiles for a thread of many taps, or for a warp, and few lanes, so that short rows have
/// several. Plans have that, and code for tiles inside, for large problems only.
void set_tiles(DepthwiseParams& plan, const DepthwiseCase& c, int run, bool inside_apart) {
  if (plan.kernel == DepthwiseKernel::channel_many) plan.run = run;
  if (plan.kernel == DepthwiseKernel::time_many) {
    plan.run = run;
    plan.lanes = 2;
    plan.inside_apart = inside_apart;
    plan.shared_bytes = threads_of(plan.kernel) / 2 * (c.taps + 8) * 4;
  }
  if (plan.kernel == DepthwiseKernel::time_matrix) {
    plan.run = run;
    plan.lanes = plan.warp_size;
    plan.shared_bytes = matrix_shared_bytes(c.taps, plan.lanes, plan.warp_size);
  }
}

/// Runs each kernel that takes the case; returns how many. `run`, not 0: tiles that a thread of many taps
/// takes; inside_apart: that of these kernels. `change` has the last word on the samples.
int check_all(const Stream& stream, const DepthwiseCase& c, int run = 0, bool inside_apart = false,
              const std::function<void(const TensorView&)>& change = nullptr) {
  SCOPED_TRACE(::testing::Message() << c);
  int taken = 0;
  const DeviceProperties properties = stream.device().properties();
  for (std::size_t i = 0;; ++i) {
    const DepthwiseTensors tensors(stream, c);
    tensors.fill_integers();
    if (change) change(tensors.in.host());
    for (const GuardedBuffer* input : {&tensors.in, &tensors.weights, &tensors.bias, &tensors.initial})
      input->upload();
    tensors.ids.upload();
    auto candidates = plan::depthwise_candidates(properties, params_of(tensors));
    if (i == candidates.size()) return taken;
    if (candidates[i].refused != nullptr) continue;
    SCOPED_TRACE(::testing::Message() << "kernel " << static_cast<int>(candidates[i].params.kernel));
    if (run > 0) set_tiles(candidates[i].params, c, run, inside_apart);
    kernels_of(stream).depthwise(context_of(stream), candidates[i].params);
    tensors.expect_exact();
    ++taken;
  }
}

TEST_P(DepthwiseKernelsTest, EveryKernelGivesTheExactValues) {
  if (device().kind() == DeviceKind::cpu) GTEST_SKIP() << "native code is one kernel";
  const std::vector<Layout> layouts{Layout::ncl,       Layout::nlc,      Layout::lcn,     Layout::gaps,
                                    Layout::wide_rows, Layout::nlc_gaps, Layout::reversed};
  const std::vector<std::int64_t> channels{1, 2, 3, 5, 16, 33, 64, 80, 131},
      taps{1, 2, 3, 4, 5, 6, 7, 8, 9, 31};
  int taken = 0;
  for (const std::uint64_t seed : random_seeds(60)) {
    SCOPED_TRACE(reproduce(seed));
    Random random(seed);
    const std::int64_t rows = random.pick(channels);
    DepthwiseCase c = make(random.integer(1, 3), rows, random.integer(1, 6000 / rows / 3 + 12),
                           random.pick(taps), random.chance(0.5) ? Layout::ncl : Layout::nlc);
    if (random.chance(0.5)) c.out_layout = random.chance(0.5) ? Layout::ncl : Layout::nlc;
    if (random.chance(0.3)) c.in_layout = random.pick(layouts);
    if (random.chance(0.2)) c.out_layout = random.pick(layouts);
    if (random.chance(0.3) && c.in_layout == c.out_layout) {
      c.in_gap = random.integer(0, 9);
      c.out_gap = random.integer(0, 9);
    }
    c.type = random.pick(kTypes);
    c.weight_type = random.chance(0.5) ? c.type : DType::f32;
    c.in_misaligned = random.chance(0.4) ? random.integer(1, 8) : 0;
    c.out_misaligned = random.chance(0.4) ? random.integer(1, 8) : 0;
    c.bias = random.chance(0.5);
    c.initial_state = random.chance(0.4);
    taken += check_all(stream(), c);
  }
  EXPECT_GT(taken, 120);
}

/// Lengths and channels around every tile, with rows that begin anywhere.
TEST_P(DepthwiseKernelsTest, EdgesOfTiles) {
  if (device().kind() == DeviceKind::cpu) GTEST_SKIP() << "native code is one kernel";
  for (const Layout in : kFast)
    for (const Layout out : kFast)
      for (const std::int64_t length : {1, 7, 8, 9, 23, 24, 25, 47, 49, 127, 129}) {
        DepthwiseCase c = make(1, length % 2 == 0 ? 65 : 3, length, 4, in);
        c.out_layout = out;
        c.initial_state = length % 3 == 0;
        c.in_misaligned = length % 4;
        check_all(stream(), c);
      }
}

/// Rows of channels that fill several warps, of outputs that begin anywhere in a sector of memory.
TEST_P(DepthwiseKernelsTest, LongRowsOfChannels) {
  if (device().kind() == DeviceKind::cpu) GTEST_SKIP() << "native code is one kernel";
  for (const DType type : kTypes)
    for (const std::int64_t channels : {128, 272, 1000})
      for (const std::int64_t misaligned : {0, 1, 2, 7, 8}) {
        DepthwiseCase c = make(2, channels, 13, 3, Layout::nlc);
        c.type = type;
        c.out_misaligned = misaligned;
        c.initial_state = misaligned % 2 == 0;
        c.bias = true;
        check_all(stream(), c);
      }
}

/// From rows of channels to rows of time, threads that walk several steps.
TEST_P(DepthwiseKernelsTest, LongRunsOfTurns) {
  if (device().kind() == DeviceKind::cpu) GTEST_SKIP() << "native code is one kernel";
  for (const DType type : kTypes)
    for (const bool initial_state : {false, true}) {
      DepthwiseCase c = make(2, 64, 500, 5, Layout::nlc);
      c.out_layout = Layout::ncl;
      c.out_misaligned = 3;
      c.type = type;
      c.initial_state = initial_state;
      check_all(stream(), c);
    }
}

/// Taps, lengths and bases around the packs of the kernels of many taps, and threads that take several tiles.
TEST_P(DepthwiseKernelsTest, EdgesOfManyTaps) {
  if (device().kind() == DeviceKind::cpu) GTEST_SKIP() << "native code is one kernel";
  int number = 0;
  for (const Layout layout : kFast)
    for (const std::int64_t taps : {9, 31, 33})
      for (const std::int64_t length : {1, 15, 17, 61, layout == Layout::ncl ? 130 : 500}) {
        DepthwiseCase c = make(2, layout == Layout::ncl ? 3 : 17, length, taps, layout);
        c.type = kTypes[static_cast<std::size_t>(number) % 3];
        c.initial_state = number % 2 == 0;
        c.bias = number % 5 == 0;
        c.in_misaligned = number % 9;
        c.out_misaligned = number / 2 % 9;
        for (const bool inside_apart : {false, true})
          EXPECT_GE(check_all(stream(), c, 1 + number % 3, inside_apart), 2);
        ++number;
      }
}

/// Rows of time of which most tiles of many taps lie inside, from bases like the output's and from others.
TEST_P(DepthwiseKernelsTest, LongRowsOfManyTaps) {
  if (device().kind() == DeviceKind::cpu) GTEST_SKIP() << "native code is one kernel";
  for (const DType type : kTypes)
    for (const std::int64_t misaligned : {0, 3}) {
      DepthwiseCase c = make(1, 2, 1051, 13, Layout::ncl);
      c.type = type;
      c.initial_state = misaligned != 0;
      c.in_misaligned = misaligned;
      EXPECT_GE(check_all(stream(), c, 2, true), 2);
    }
}

/// Taps and lengths around what matrix units multiply at a time, from every place between two boundaries.
TEST_P(DepthwiseKernelsTest, EdgesOfMatrixTiles) {
  if (device().kind() == DeviceKind::cpu) GTEST_SKIP() << "native code is one kernel";
  int number = 0;
  for (const std::int64_t taps : {9, 10, 11, 42, 43, 74})
    for (const std::int64_t length : {255, 257, 600, 1300}) {
      DepthwiseCase c = make(1, 3, length, taps, Layout::ncl);
      c.type = c.weight_type = number % 2 == 0 ? DType::f16 : DType::bf16;
      c.initial_state = number % 3 == 0;
      c.bias = number % 5 == 0;
      c.in_misaligned = number % 9;
      c.out_misaligned = number * 5 % 17;
      c.in_gap = number % 4;
      EXPECT_GE(check_all(stream(), c, 1 + number % 3), 3);
      ++number;
    }
}

/// The same of any two layouts: channels in packs, in twos and one by one, and fewer or more than a tile has.
TEST_P(DepthwiseKernelsTest, EdgesOfMatrixTilesOfAnyLayout) {
  if (device().kind() == DeviceKind::cpu) GTEST_SKIP() << "native code is one kernel";
  struct Shape {
    std::int64_t channels, length, taps;
  };
  const std::vector<Shape> shapes{{1, 530, 9},  {3, 255, 17},  {8, 513, 18}, {16, 257, 31},
                                  {34, 40, 49}, {33, 256, 50}, {40, 90, 74}, {72, 3, 31}};
  const std::vector<Layout> layouts{Layout::nlc, Layout::ncl, Layout::nlc, Layout::nlc_gaps,
                                    Layout::reversed};
  std::size_t number = 0;
  for (const Layout in : layouts)
    for (const Shape& shape : shapes) {
      DepthwiseCase c = make(2, shape.channels, shape.length, shape.taps, in);
      c.out_layout = layouts[number % 5];
      c.type = c.weight_type = number % 2 == 0 ? DType::f16 : DType::bf16;
      c.initial_state = number % 3 != 0;
      c.bias = number % 4 == 0;
      c.in_misaligned = number % 3 == 0 ? static_cast<std::int64_t>(number) % 9 : 0;
      c.out_misaligned = number % 7 < 3 ? static_cast<std::int64_t>(number) % 5 : 0;
      EXPECT_GE(check_all(stream(), c), 2);
      ++number;
    }
}

/// An infinite sample, or one that is none, is found in the sums of the outputs that meet it and in no other,
/// wherever it lies in a tile.
TEST_P(DepthwiseKernelsTest, InfiniteSamplesStayWhereTheyAre) {
  if (device().kind() == DeviceKind::cpu) GTEST_SKIP() << "native code is one kernel";
  for (const std::int64_t time : {3, 250, 300, 511, 700, 1023}) {
    DepthwiseCase c = make(1, 2, 1024, 31, time % 4 == 3 ? Layout::nlc : Layout::ncl);
    c.type = c.weight_type = DType::f16;
    c.bias = true;
    const std::uint64_t infinity = 0x7c00, nan = 0x7e01;
    const auto change = [&](const TensorView& in) {
      reference::store_bits(in, {0, 1, time}, time % 2 != 0 ? nan : infinity);
    };
    EXPECT_GE(check_all(stream(), c, 2, true, change), 3);
  }
}

}  // namespace
}  // namespace relayout::test
