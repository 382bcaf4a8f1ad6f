// The convolution as one kernel: numbers whose sums are exact in fp32, so that y has one right value, on
// every kind of tile; and what its plan promises.
#include <gtest/gtest.h>

#include <limits>
#include <string>
#include <vector>

#include "host/plan/conv/direct_plan.hpp"
#include "host/reference/gemm.hpp"
#include "host/reference/img2col.hpp"
#include "tests/cases/conv1d_case.hpp"
#include "tests/support/devices.hpp"
#include "tests/support/fill.hpp"
#include "tests/support/guarded_buffer.hpp"

namespace relayout::test {
namespace {

using cases::Conv1dCase;
using cases::Layout;

/// A convolution of small integers with its operands.
class Exact {
 public:
  Exact(const Stream& stream, const Conv1dCase& c)
      : stream_(stream),
        case_(c),
        sizes_(sizes_of(c.problem)),
        input(stream, Role::input, c.input_type, c.input_shape(), c.input_strides(), 1),
        weights(
            stream, Role::input, DType::f32,
            {c.problem.out_channels, c.problem.in_channels / c.problem.window.groups, c.problem.window.taps}),
        bias(stream, Role::input, DType::f32, {c.problem.out_channels}),
        y(stream, Role::output, c.problem.dtype,
          {c.problem.batch, sizes_.positions, c.problem.out_channels}) {
    fill_small_integers(input.host(), 1);
    fill_small_integers(weights.host(), 2);
    fill_small_integers(bias.host(), 3);
  }

  void check() {
    for (const GuardedBuffer* operand : {&input, &weights, &bias}) operand->upload();
    const ConvPlan plan(stream_, case_.problem, ConvRoute::direct, weights.device(),
                        case_.bias ? bias.device() : TensorView());
    plan.run(stream_, input.device(), y.device());
    compute_expected();
    EXPECT_TRUE(y.check());
    EXPECT_TRUE(input.check());
  }

 private:
  void compute_expected() const {
    const Conv1d& p = case_.problem;
    const std::int64_t groups = p.window.groups;
    std::vector<std::uint16_t> a_bits(static_cast<std::size_t>(sizes_.operand_elements) + 1),
        bt_bits(static_cast<std::size_t>(sizes_.weight_elements) + 1);
    reference::img2col(input.host(), p.window, p.pad,
                       TensorView(a_bits.data(), p.dtype, case_.operand_shape()));
    reference::rearrange_weights(weights.host(), p.window.order,
                                 TensorView(bt_bits.data(), p.dtype, {p.out_channels, sizes_.depth}));
    reference::gemm(TensorView(a_bits.data(), p.dtype, {groups, sizes_.rows, sizes_.depth}),
                    TensorView(bt_bits.data(), p.dtype, {groups, sizes_.columns, sizes_.depth}),
                    case_.bias ? bias.host() : TensorView(),
                    TensorView(y.host().data(), p.dtype, {groups, sizes_.rows, sizes_.columns},
                               {sizes_.columns, p.out_channels, 1}));
  }

  Stream stream_;
  Conv1dCase case_;
  Conv1dSizes sizes_;

 public:
  GuardedBuffer input, weights, bias, y;
};

Conv1dCase causal(std::int64_t channels, std::int64_t length, std::int64_t out_channels, std::int64_t taps,
                  std::int64_t stride = 1, std::int64_t dilation = 1) {
  Conv1dCase c;
  c.problem.in_channels = channels;
  c.problem.length = length;
  c.problem.out_channels = out_channels;
  c.problem.window.taps = taps;
  c.problem.window.stride = stride;
  c.problem.window.dilation = dilation;
  c.problem.pad.left = c.problem.window.span() - 1;
  return c;
}

void check(const Stream& stream, const Conv1dCase& c) {
  SCOPED_TRACE(::testing::Message() << c);
  Exact(stream, c).check();
}

class DirectConvTest : public DeviceTest {};
INSTANTIATE_TEST_SUITE_P(Devices, DirectConvTest, ::testing::ValuesIn(test_devices()), device_test_name);
class DirectConvOrderTest : public DeviceTest {};
GTEST_ALLOW_UNINSTANTIATED_PARAMETERIZED_TEST(DirectConvOrderTest);
INSTANTIATE_TEST_SUITE_P(ThreadOrders, DirectConvOrderTest, ::testing::ValuesIn(reordered_devices()),
                         device_test_name);

TEST_P(DirectConvTest, TilesThatDoNotDivide) {
  for (const std::int64_t length : {1, 15, 16, 17, 63, 65, 130}) check(stream(), causal(8, length, 8, 3));
  for (const std::int64_t channels : {1, 7, 31, 33, 64, 65, 97, 130})
    check(stream(), causal(channels, 20, 9, 2));
  for (const std::int64_t columns : {1, 7, 15, 17, 40, 63, 65, 130})
    check(stream(), causal(9, 20, columns, 2));
}

/// Blocks of 64 positions where there are so many; otherwise of 16.
TEST_P(DirectConvTest, ManyPositions) {
  Conv1dCase c = causal(70, 140, 72, 4);
  c.problem.batch = 2;
  check(stream(), c);
  c.problem.dtype = DType::bf16;
  c.layout = Layout::nlc;
  check(stream(), c);
}

/// More steps than have their weights under way together; samples of all taps that fit, and that do not fit.
TEST_P(DirectConvTest, ManyTapsStridesAndDilations) {
  check(stream(), causal(64, 40, 16, 11));
  check(stream(), causal(33, 40, 16, 31));
  check(stream(), causal(40, 400, 16, 3, 1, 130));
  check(stream(), causal(70, 700, 16, 3, 21));
  check(stream(), causal(40, 700, 16, 2, 21, 9));
  check(stream(), causal(8, 20, 5, 2, 1000000000));
  check(stream(), causal(8, 20, 5, 2, 1, 1000000000));
}

TEST_P(DirectConvTest, GroupsBatchesAndBorders) {
  for (const PadMode mode : {PadMode::constant, PadMode::replicate, PadMode::reflect, PadMode::symmetric,
                             PadMode::circular, PadMode::reflect_zero_extended}) {
    Conv1dCase c = causal(80, 50, 50, 4, 2);
    c.problem.batch = 2;
    c.problem.window.groups = 2;
    c.problem.pad = {5, 3, mode, 2.0, PadPolicy::strict};
    c.bias = mode != PadMode::constant;
    check(stream(), c);
    c.problem.pad = {-7, -2, mode, 2.0, PadPolicy::strict};
    check(stream(), c);
  }
}

/// Whole rows of channels, so that only the end of the samples needs the padding.
TEST_P(DirectConvTest, TheRightBorderOfWholeRows) {
  Conv1dCase c = causal(64, 50, 16, 3);
  c.problem.pad = {2, 4, PadMode::constant, 2.0, PadPolicy::strict};
  check(stream(), c);
}

TEST_P(DirectConvTest, AnyTypeAndStridesOfTheInput) {
  const auto check_from = [&](DType in, Layout layout, DType out) {
    Conv1dCase c = causal(24, 20, 16, 3);
    c.problem.batch = 2;
    c.input_type = in;
    c.layout = layout;
    c.problem.dtype = out;
    check(stream(), c);
  };
  for (const DType type : {DType::f16, DType::bf16, DType::f32, DType::f64}) {
    for (const Layout layout :
         {Layout::ncl, Layout::nlc, Layout::lcn, Layout::gaps, Layout::nlc_gaps, Layout::every_second,
          Layout::reversed, Layout::one_batch, Layout::one_channel, Layout::one_sample})
      check_from(type, layout, DType::f16);
    for (const Layout layout : {Layout::ncl, Layout::nlc}) check_from(type, layout, DType::bf16);
  }
}

/// A NaN or an infinity reaches only the outputs whose windows hold it. It does not spread through channels
/// or samples that are only filled up.
TEST_P(DirectConvTest, ANanStaysWithItsOutputs) {
  for (const double poison :
       {std::numeric_limits<double>::quiet_NaN(), std::numeric_limits<double>::infinity()}) {
    const Conv1dCase c = causal(33, 70, 20, 3);
    SCOPED_TRACE(::testing::Message() << c << " with " << poison);
    for (const std::int64_t sample : {0, 17, 69}) {
      Exact exact(stream(), c);
      store_value(exact.input.host(), {0, 32, sample}, poison);
      exact.check();
    }
    Exact exact(stream(), c);
    store_value(exact.weights.host(), {19, 32, 2}, poison);
    exact.check();
  }
}

/// 2049 is a tie in f16: rounding the sum first loses the half that the bias adds.
TEST_P(DirectConvTest, OneRoundingAfterTheBias) {
  const Conv1dCase c = causal(2, 1, 1, 1);
  Exact exact(stream(), c);
  store_value(exact.input.host(), {0, 0, 0}, 2048);
  store_value(exact.input.host(), {0, 1, 0}, 1);
  store_value(exact.weights.host(), {0, 0, 0}, 1);
  store_value(exact.weights.host(), {0, 1, 0}, 1);
  store_value(exact.bias.host(), {0}, 0.5);
  exact.check();
}

TEST_P(DirectConvOrderTest, TheOrderOfThreadsDoesNotMatter) {
  check(stream(), causal(70, 20, 66, 3));
  check(stream(), causal(70, 200, 72, 2));
  check(stream(), causal(40, 400, 16, 3, 1, 130));
}

ConvParams planned(ConvParams params, const DeviceProperties& device) {
  plan::plan_direct(device, params);
  return params;
}

TEST(DirectPlan, FewPositionsFillTheDevice) {
  ConvParams params;
  params.batch = 1;
  params.columns = 64;
  params.positions = 2048;
  params.taps = 4;
  const DeviceProperties h200 = DeviceProperties::h200();
  const ConvParams small = planned(params, h200);
  EXPECT_EQ(small.tile_positions, kFewPositions);
  EXPECT_EQ(small.tile_samples, 19);
  EXPECT_EQ(small.pass_taps, 4);
  EXPECT_EQ(small.shared_bytes, 16 * (128 + 256));
  params.batch = 64;
  EXPECT_EQ(planned(params, h200).tile_positions, kManyPositions);
}

TEST(DirectPlan, TapsTakeTurnsWhereTheirSamplesDoNotFit) {
  ConvParams params;
  params.batch = 1;
  params.columns = 64;
  params.positions = 100000;
  params.taps = 2;
  const std::int64_t huge = std::int64_t{1} << 61;
  const std::vector<Dims> strides_and_dilations{{1, 129}, {4, 1}, {huge, 1}, {1, huge}};
  for (const Dims& both : strides_and_dilations) {
    SCOPED_TRACE(to_string(both));
    params.stride = both[0];
    params.dilation = both[1];
    const ConvParams tile = planned(params, DeviceProperties::mi300x());
    EXPECT_EQ(tile.pass_taps, 1);
    EXPECT_EQ(tile.tile_samples, tile.tile_positions);
  }
  params.stride = 1;
  params.dilation = 128;
  const ConvParams tile = planned(params, DeviceProperties::mi300x());
  EXPECT_EQ(tile.pass_taps, 2);
  EXPECT_EQ(tile.tile_samples, 192);
}

}  // namespace
}  // namespace relayout::test
