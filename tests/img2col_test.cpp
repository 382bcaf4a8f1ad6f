// img2col with cast, transpose and padding fused: the formula by hand, then every window, pad and layout.
#include <gtest/gtest.h>

#include <cstdint>
#include <limits>
#include <vector>

#include "host/reference/img2col.hpp"
#include "tests/cases/img2col_shorthand.hpp"
#include "tests/support/checks.hpp"
#include "tests/support/devices.hpp"
#include "tests/support/random.hpp"
#include "tests/support/reserved_memory.hpp"

namespace relayout::test {
namespace {

using cases::Img2colCase;
using cases::kModes;
using cases::kOrders;
using cases::Layout;
using cases::make;
using cases::window;
using cases::zeros;

class Img2colTest : public DeviceTest {};
INSTANTIATE_TEST_SUITE_P(Devices, Img2colTest, ::testing::ValuesIn(test_devices()), device_test_name);

class Img2colOrderTest : public DeviceTest {};
GTEST_ALLOW_UNINSTANTIATED_PARAMETERIZED_TEST(Img2colOrderTest);
INSTANTIATE_TEST_SUITE_P(Devices, Img2colOrderTest, ::testing::ValuesIn(reordered_devices()),
                         device_test_name);

class Img2colFarTest : public DeviceTest {};
INSTANTIATE_TEST_SUITE_P(Devices, Img2colFarTest, ::testing::ValuesIn(host_memory_devices()),
                         device_test_name);

/// A[b * ho + t, k * Ci + c] = X[b, t * s + k * d - left, c], written out with x = 1000 b + 100 c + i + 1.
TEST_P(Img2colTest, FollowsTheFormula) {
  const std::int64_t batch = 2, channels = 4, length = 9, taps = 3, stride = 2, dilation = 2, left = 3,
                     right = 2;
  const std::int64_t positions = 5;  // floor((9 + 3 + 2 - 5) / 2) + 1
  for (const std::int64_t groups : {1, 2})
    for (const ColumnOrder order : kOrders) {
      const std::int64_t channels_of_group = channels / groups, depth = taps * channels_of_group;
      GuardedBuffer in(stream(), Role::input, DType::f32, {batch, channels, length});
      const Dims shape =
          groups == 1 ? Dims{batch * positions, depth} : Dims{groups, batch * positions, depth};
      GuardedBuffer out(stream(), Role::output, DType::f16, shape);
      for_each_element(in.host(), [&](const Dims& i, std::int64_t) {
        store_value(in.host(), i, static_cast<double>(1000 * i[0] + 100 * i[1] + i[2] + 1));
      });
      in.upload();
      EXPECT_NO_THROW(img2col(stream(), in.device(), window(taps, stride, dilation, groups, order),
                              zeros(left, right), out.device()));
      for_each_element(out.host(), [&](const Dims& index, std::int64_t) {
        const std::int64_t group = groups == 1 ? 0 : index[0], row = index[index.size() - 2],
                           column = index.back();
        const std::int64_t b = row / positions, t = row % positions;
        const bool tap_outer = order == ColumnOrder::tap_outer;
        const std::int64_t k = tap_outer ? column / channels_of_group : column % taps;
        const std::int64_t c =
            group * channels_of_group + (tap_outer ? column % channels_of_group : column / taps);
        const std::int64_t i = t * stride + k * dilation - left;
        const bool inside = i >= 0 && i < length;
        store_value(out.host(), index, inside ? static_cast<double>(1000 * b + 100 * c + i + 1) : 0.0);
      });
      EXPECT_TRUE(out.check());
      EXPECT_TRUE(in.check());
    }
}

TEST_P(Img2colTest, WindowsAndOrders) {
  for (const ColumnOrder order : kOrders)
    for (const std::int64_t taps : {1, 2, 4, 7})
      for (const std::int64_t stride : {1, 2, 3})
        for (const std::int64_t dilation : {1, 3})
          check(stream(),
                make(2, 6, 23, window(taps, stride, dilation, taps == 4 ? 3 : 1, order), zeros(5, 2)));
}

TEST_P(Img2colTest, EveryPadMode) {
  for (const PadMode mode : kModes)
    for (const ColumnOrder order : kOrders)
      for (const auto& [left, right] :
           std::vector<std::pair<std::int64_t, std::int64_t>>{{6, 0}, {0, 5}, {3, 6}, {-2, 4}, {4, -3}}) {
        Img2colCase c = make(2, 5, 11, window(3, 2, 2, 1, order), zeros(left, right));
        c.pad.mode = mode;
        c.pad.value = 2.5;
        check(stream(), c);
      }
}

TEST_P(Img2colTest, PadsLongerThanTheSignal) {
  for (const PadMode mode : kModes) {
    Img2colCase c = make(2, 3, 4, window(5, 3, 2), zeros(21, 10));
    c.pad.mode = mode;
    c.pad.policy = PadPolicy::extended;
    check(stream(), c);
  }
}

TEST_P(Img2colTest, Groups) {
  for (const ColumnOrder order : kOrders)
    for (const std::int64_t groups : {2, 3, 12}) {
      Img2colCase c = make(2, 12, 35, window(3, 1, 1, groups, order), zeros(2, 0));
      check(stream(), c);
      c.row_gap = 3;
      c.group_gap = 5;
      check(stream(), c);
    }
}

TEST_P(Img2colTest, EveryLayoutOfTheInput) {
  for (const Layout layout :
       {Layout::ncl, Layout::nlc, Layout::lcn, Layout::gaps, Layout::nlc_gaps, Layout::every_second,
        Layout::reversed, Layout::one_batch, Layout::one_channel, Layout::one_sample})
    for (const ColumnOrder order : kOrders) {
      Img2colCase c = make(2, 10, 37, window(4, 1, 2, 2, order), zeros(6, 1));
      c.in_layout = layout;
      c.row_gap = 1;
      c.in_misaligned = 1;
      c.out_misaligned = order == ColumnOrder::tap_outer ? 1 : 0;
      check(stream(), c);
    }
}

TEST_P(Img2colTest, Types) {
  const std::vector<DType> floats{DType::f16, DType::bf16, DType::f32, DType::f64};
  for (const DType from : floats)
    for (const DType to : floats) {
      Img2colCase c = make(2, 6, 19, window(3), zeros(2, 0));
      c.in_type = from;
      c.out_type = to;
      c.pad.value = 0.1;  // not representable: rounded once to the output's type
      check(stream(), c);
    }
  for (const DType type : {DType::u8, DType::i16, DType::i32, DType::u64}) {
    Img2colCase c = make(2, 6, 19, window(3), zeros(2, 0));
    c.in_type = c.out_type = type;
    check(stream(), c);
  }
}

TEST_P(Img2colTest, SizesAroundTheTiles) {
  for (const std::int64_t length : {15, 63, 64, 65, 129})
    for (const std::int64_t channels : {1, 15, 17, 33, 65})
      check(stream(), make(1, channels, length, window(3, 1, 2), zeros(4, 0)));
  check(stream(), make(1, 2, 9001, window(2, 2), zeros(1, 0)));  // tiles of the native code: 4096 samples,
  check(stream(), make(1, 66, 600, window(2), zeros(1, 0)));     // or 64 channels of 512
  for (const std::int64_t length : {257, 1031}) check(stream(), make(1, 3, length, window(4), zeros(3, 0)));
}

TEST_P(Img2colTest, UnusualWindows) {
  std::vector<Img2colCase> all{
      make(2, 3, 5, window(9), zeros(8, 0)),              // more taps than samples
      make(2, 3, 5, window(3, 1, 4), zeros(8, 0)),        // a span beyond the signal
      make(2, 3, 40, window(2, 7), zeros(0, 0)),          // stride > span: samples that nobody reads
      make(1, 2, 300, window(1, 97), zeros(0, 0)),        // a stride beyond a tile
      make(1, 2, 3000, window(3, 1, 1000), zeros(0, 0)),  // a span beyond a tile
      make(1, 33, 4100, window(2, 1, 4000), zeros(0, 0)),
      make(1, 2, 10, window(2, 1, 100000), zeros(100000, 0)),  // a span beyond any shared memory
      make(1, 3, 16, window(300), zeros(299, 0)),
      make(1, 1, 1, window(1), zeros(0, 0)),
      make(3, 1, 1, window(1, 5), zeros(0, 0)),
      make(2, 2, 0, window(2), zeros(2, 2)),  // nothing but padding
      make(0, 3, 8, window(3), zeros(2, 0)),  // no batches
      make(2, 0, 8, window(3), zeros(2, 0)),  // no channels
  };
  for (const Img2colCase& c : all)
    for (const ColumnOrder order : kOrders) {
      Img2colCase ordered = c;
      ordered.window.order = order;
      check(stream(), ordered);
    }
}

TEST_P(Img2colTest, CausalPresets) {
  for (const Causal causal : {Causal::sample, Causal::frame})
    for (const std::int64_t length : {7, 16, 17}) {
      const Window w = window(7, 4, 2);
      check(stream(), make(2, 4, length, w, causal_padding(causal, length, w)));
    }
}

/// A NaN or an infinity may appear only where its sample is under a tap: padding selects, it does not
/// multiply. Numbers beyond f16 become infinite.
TEST_P(Img2colTest, NansAndOverflowsStayWhereTheirSampleIs) {
  const std::int64_t left = 4, right = 3;
  const Window w = window(3, 1, 2);
  for (const auto& [channels, length] : std::vector<std::pair<std::int64_t, std::int64_t>>{{5, 33}, {8, 400}})
    for (const Layout layout : {Layout::ncl, Layout::nlc}) {
      SCOPED_TRACE(::testing::Message() << channels << " channels, " << layout);
      const Dims shape{2, channels, length};
      const std::int64_t positions = length + right, at = length / 2;
      GuardedBuffer in(stream(), Role::input, DType::f32, shape, strides_of(layout, shape));
      GuardedBuffer out(stream(), Role::output, DType::f16, {2 * positions, 3 * channels});
      fill_values(in.host());
      store_value(in.host(), {1, 2, at}, std::numeric_limits<double>::quiet_NaN());
      store_value(in.host(), {0, 0, 0}, std::numeric_limits<double>::infinity());
      store_value(in.host(), {0, channels - 1, length - 1}, -std::numeric_limits<double>::infinity());
      store_value(in.host(), {1, 0, 0}, 65520.0);
      store_value(in.host(), {0, 1, at}, -1e6);
      store_value(in.host(), {0, 2, at}, 65519.0);
      run_and_compare(
          in, out,
          [&](const TensorView& a, const TensorView& b) { img2col(stream(), a, w, zeros(left, right), b); },
          [&](const TensorView& a, const TensorView& b) { reference::img2col(a, w, zeros(left, right), b); });
      const std::vector<unsigned char> bytes = out.download();
      for_each_element(out.view_of(bytes), [&](const Dims& i, std::int64_t) {
        const std::int64_t t = i[0] - positions, k = i[1] / channels;
        const bool under = i[0] >= positions && i[1] % channels == 2 && t + 2 * k - left == at;
        EXPECT_EQ(std::isnan(load_value(out.view_of(bytes), i)), under) << to_string(i);
      });
    }
}

TEST_P(Img2colTest, RandomCases) {
  const std::vector<Layout> layouts{Layout::ncl,      Layout::nlc,      Layout::lcn,      Layout::gaps,
                                    Layout::nlc_gaps, Layout::reversed, Layout::one_batch};
  const std::vector<DType> types{DType::f16, DType::bf16, DType::f32, DType::f64};
  for (const std::uint64_t seed : random_seeds(40)) {
    SCOPED_TRACE(reproduce(seed));
    Random random(seed);
    Img2colCase c;
    c.window = window(random.integer(1, 6), random.integer(1, 4), random.integer(1, 5), random.integer(1, 3),
                      random.pick(kOrders));
    c.batch = random.integer(1, 3);
    c.channels = c.window.groups * random.integer(1, 20);
    c.length = random.integer(1, 50);
    c.pad = zeros(random.integer(-2, 30), random.integer(-2, 30));
    while (c.length + c.pad.left + c.pad.right < c.window.span()) ++c.pad.left;
    c.pad.mode = random.pick(kModes);
    c.pad.policy = PadPolicy::extended;
    c.pad.value = static_cast<double>(random.integer(-9, 9));
    c.in_type = random.pick(types);
    c.out_type = random.chance(0.7) ? DType::f16 : random.pick(types);
    c.in_layout = random.pick(layouts);
    c.row_gap = random.integer(0, 3);
    c.group_gap = random.integer(0, 3);
    c.in_misaligned = random.integer(0, 3);
    c.out_misaligned = random.integer(0, 3);
    check(stream(), c, seed);
  }
}

TEST_P(Img2colOrderTest, TheOrderOfThreadsDoesNotMatter) {
  for (const ColumnOrder order : kOrders)
    for (const Layout layout : {Layout::ncl, Layout::nlc}) {
      Img2colCase c = make(2, 34, 67, window(4, 1, 2, 2, order), zeros(6, 0));
      c.in_layout = layout;
      check(stream(), c);
      c.channels = 48;
      c.length = 72;
      check(stream(), c);
    }
}

/// Offsets beyond 2^31 elements between batches, samples and rows; `far` even: aligned rows.
void check_far(const Stream& stream, std::int64_t far, bool far_in_time) {
  SCOPED_TRACE(::testing::Message() << "far " << far << (far_in_time ? " in time" : " in batches"));
  const std::int64_t batch = 2, channels = 8, length = 160, taps = 3, pitch = far / 32;
  const Window w = window(taps, 2);
  const PadSpec pad = zeros(2, 0);
  const std::int64_t rows = batch * output_length(length, w, pad);
  const Dims in_strides = far_in_time ? Dims{8, 1, far / 64} : Dims{far, length, 1};
  const ReservedMemory source(static_cast<std::size_t>(4 * (4 * far)));
  const ReservedMemory destination(static_cast<std::size_t>(2 * (rows * pitch + taps * channels)));
  const TensorView in(source.data(), DType::f32, {batch, channels, length}, in_strides);
  const TensorView out(destination.data(), DType::f16, {rows, taps * channels}, {pitch, 1});
  fill_values(in);
  std::vector<std::uint16_t> expected(static_cast<std::size_t>(rows * taps * channels));
  const TensorView oracle(expected.data(), DType::f16, out.shape());
  img2col(stream, in, w, pad, out);
  reference::img2col(in, w, pad, oracle);
  EXPECT_TRUE(same_elements(oracle, out));
}

TEST_P(Img2colFarTest, StridesBeyondThirtyTwoBits) {
  constexpr std::int64_t kFar = (std::int64_t{1} << 31) + 1024;
  for (const std::int64_t far : {kFar, kFar + 65})
    for (const bool far_in_time : {false, true}) check_far(stream(), far, far_in_time);
}

}  // namespace
}  // namespace relayout::test
