// rearrange_weights: [co, ci, taps] to the GEMM's [co, taps * ci], taps not flipped.
#include <gtest/gtest.h>

#include <cstdint>
#include <vector>

#include "tests/cases/weights_case.hpp"
#include "tests/support/checks.hpp"
#include "tests/support/devices.hpp"
#include "tests/support/expect_error.hpp"

namespace relayout::test {
namespace {

using cases::Layout;
using cases::WeightsCase;

const std::vector<ColumnOrder> kOrders{ColumnOrder::tap_outer, ColumnOrder::channel_outer};

class WeightsTest : public DeviceTest {};
INSTANTIATE_TEST_SUITE_P(Devices, WeightsTest, ::testing::ValuesIn(test_devices()), device_test_name);

/// W[o, c, k] = 100 o + 10 c + k at k * ci + c and at c * taps + k.
TEST_P(WeightsTest, FollowsTheFormula) {
  const std::int64_t out_channels = 2, channels = 3, taps = 4;
  for (const ColumnOrder order : kOrders) {
    GuardedBuffer in(stream(), Role::input, DType::f32, {out_channels, channels, taps});
    GuardedBuffer out(stream(), Role::output, DType::f16, {out_channels, taps * channels});
    for_each_element(in.host(), [&](const Dims& i, std::int64_t) {
      const double value = static_cast<double>(100 * i[0] + 10 * i[1] + i[2]);
      const std::int64_t column =
          order == ColumnOrder::tap_outer ? i[2] * channels + i[1] : i[1] * taps + i[2];
      store_value(in.host(), i, value);
      store_value(out.host(), {i[0], column}, value);
    });
    in.upload();
    EXPECT_NO_THROW(rearrange_weights(stream(), in.device(), order, out.device()));
    EXPECT_TRUE(out.check());
    EXPECT_TRUE(in.check());
  }
}

TEST_P(WeightsTest, Sizes) {
  for (const ColumnOrder order : kOrders)
    for (const std::int64_t out_channels : {1, 17, 64})
      for (const std::int64_t channels : {1, 16, 33})
        for (const std::int64_t taps : {1, 4, 7}) {
          WeightsCase c;
          c.out_channels = out_channels;
          c.channels = channels;
          c.taps = taps;
          c.order = order;
          check(stream(), c);
        }
}

TEST_P(WeightsTest, LayoutsPitchesAndMisalignment) {
  for (const ColumnOrder order : kOrders)
    for (const Layout layout : {Layout::ncl, Layout::nlc, Layout::lcn, Layout::gaps, Layout::reversed,
                                Layout::one_batch, Layout::one_channel, Layout::one_sample})
      for (const std::int64_t gap : {0, 3}) {
        WeightsCase c;
        c.out_channels = 19;
        c.channels = 18;
        c.taps = 5;
        c.order = order;
        c.in_layout = layout;
        c.row_gap = gap;
        c.in_misaligned = gap == 0 ? 0 : 1;
        c.out_misaligned = gap == 0 ? 0 : 1;
        check(stream(), c);
      }
}

TEST_P(WeightsTest, Types) {
  const std::vector<DType> floats{DType::f16, DType::bf16, DType::f32, DType::f64};
  for (const DType from : floats)
    for (const DType to : floats) {
      WeightsCase c;
      c.out_channels = 5;
      c.channels = 7;
      c.taps = 3;
      c.in_type = from;
      c.out_type = to;
      check(stream(), c);
    }
}

TEST_P(WeightsTest, RowsBeyond63BitsAreRefused) {
  const std::int64_t far = std::int64_t{1} << 40;
  const TensorView weights(nullptr, DType::f32, {0, far, far}, {0, 0, 0});
  const TensorView out(nullptr, DType::f16, {0, 1});
  expect_error(ErrorCode::invalid_shape, {"63 bits"},
               [&] { rearrange_weights(stream(), weights, ColumnOrder::tap_outer, out); });
}

TEST_P(WeightsTest, NothingToDo) {
  for (const Dims& shape : {Dims{0, 3, 4}, Dims{3, 0, 4}}) {
    WeightsCase c;
    c.out_channels = shape[0];
    c.channels = shape[1];
    c.taps = shape[2];
    check(stream(), c);
  }
}

TEST_P(WeightsTest, Errors) {
  GuardedBuffer in(stream(), Role::input, DType::f32, {2, 3, 4}),
      out(stream(), Role::output, DType::f16, {2, 12});
  fill_values(in.host());
  in.upload();
  const auto expect = [&](ErrorCode code, const std::vector<std::string>& words, const TensorView& from,
                          const TensorView& to) {
    for (const ColumnOrder order : kOrders) {
      expect_error(code, words, [&] { rearrange_weights(stream(), from, order, to); });
      EXPECT_TRUE(out.check()) << "something was written before the error";
    }
  };
  void* const memory = out.device().data();
  expect(ErrorCode::shape, {"[2, 12]", "[2, 11]"}, in.device(), TensorView(memory, DType::f16, {2, 11}));
  expect(ErrorCode::shape, {"[2, 12]", "[1, 12]"}, in.device(), TensorView(memory, DType::f16, {1, 12}));
  expect(ErrorCode::rank, {}, in.device(), TensorView(memory, DType::f16, {24}));
  expect(ErrorCode::rank, {}, TensorView(in.device().data(), DType::f32, {2, 12}), out.device());
  expect(ErrorCode::dtype, {"f32", "u16"}, in.device(), TensorView(memory, DType::u16, {2, 12}));
  expect(ErrorCode::output_overlap, {}, in.device(), TensorView(memory, DType::f16, {2, 12}, {11, 1}));
  expect(ErrorCode::partial_overlap, {}, TensorView(memory, DType::f32, {1, 3, 4}),
         TensorView(memory, DType::f16, {1, 12}));
  expect(ErrorCode::null_pointer, {}, TensorView(nullptr, DType::f32, {2, 3, 4}), out.device());
  expect(ErrorCode::null_pointer, {}, in.device(), TensorView(nullptr, DType::f16, {2, 12}));
}

}  // namespace
}  // namespace relayout::test
