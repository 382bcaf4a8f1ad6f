// Layouts of images: strides by hand, and copies between every two of them, bit for bit against plain loops.
// The contents of the pads of an input must not be seen in the output, and the pads of an output must keep
// theirs.
#include <gtest/gtest.h>

#include <cstdint>
#include <ostream>
#include <vector>

#include "host/reference/permute.hpp"
#include "tests/support/checks.hpp"
#include "tests/support/devices.hpp"
#include "tests/support/expect_error.hpp"

namespace relayout::test {
namespace {

const std::vector<Layout> kLayouts{Layout::ndarray, Layout::nhwc, Layout::nhwc8, Layout::nhwc16};

TEST(LayoutTest, StridesByHand) {
  const Dims shape{2, 20, 5, 7};
  EXPECT_EQ(strides_in(Layout::ndarray, shape), (Dims{700, 35, 7, 1}));
  EXPECT_EQ(strides_in(Layout::nhwc, shape), (Dims{700, 1, 140, 20}));
  EXPECT_EQ(strides_in(Layout::nhwc8, shape), (Dims{840, 1, 168, 24}));
  EXPECT_EQ(strides_in(Layout::nhwc16, shape), (Dims{1120, 1, 224, 32}));
  // Two axes: no image, only channels and their pads.
  EXPECT_EQ(strides_in(Layout::ndarray, {3, 5}), (Dims{5, 1}));
  EXPECT_EQ(strides_in(Layout::nhwc, {3, 5}), (Dims{5, 1}));
  EXPECT_EQ(strides_in(Layout::nhwc8, {3, 5}), (Dims{8, 1}));
  // Three image axes.
  EXPECT_EQ(strides_in(Layout::nhwc16, {2, 3, 4, 5, 6}), (Dims{1920, 1, 480, 96, 16}));
}

TEST(LayoutTest, ElementsWithPads) {
  EXPECT_EQ(elements_in(Layout::ndarray, {2, 20, 5, 7}), 1400);
  EXPECT_EQ(elements_in(Layout::nhwc, {2, 20, 5, 7}), 1400);
  EXPECT_EQ(elements_in(Layout::nhwc8, {2, 20, 5, 7}), 1680);
  EXPECT_EQ(elements_in(Layout::nhwc16, {2, 20, 5, 7}), 2240);
  EXPECT_EQ(elements_in(Layout::nhwc16, {2, 32, 5, 7}), 2240);
  EXPECT_EQ(elements_in(Layout::nhwc8, {3, 1}), 24);
  EXPECT_EQ(elements_in(Layout::nhwc8, {0, 5, 4}), 0);
  EXPECT_EQ(elements_in(Layout::nhwc16, {2, 0, 4}), 0);
  EXPECT_EQ(elements_in(Layout::nhwc8, {1 << 20, 1, 1 << 20}), std::int64_t{8} << 40);
}

TEST(LayoutTest, ViewsHaveTheLogicalShape) {
  float memory[2 * 3 * 8];
  const TensorView view = view_in(Layout::nhwc8, memory, DType::f32, {2, 5, 3});
  EXPECT_EQ(view.to_string(), "f32[2, 5, 3] strides [24, 1, 8]");
  EXPECT_EQ(view.data(), memory);
  // From the first element to the last; the last pads are not reached.
  EXPECT_EQ(view.byte_range().end, static_cast<std::int64_t>(sizeof(memory)) - 3 * 4);
  for (const Layout layout : kLayouts) {
    EXPECT_EQ(view_in(layout, memory, DType::f32, {2, 3, 0}).elements(), 0) << name_of(layout);
  }
}

TEST(LayoutTest, Errors) {
  for (const Layout layout : kLayouts) {
    expect_error(ErrorCode::rank, {name_of(layout), "[7]"}, [&] { strides_in(layout, {7}); });
    expect_error(ErrorCode::rank, {"[]"}, [&] { view_in(layout, nullptr, DType::f32, {}); });
    expect_error(ErrorCode::rank, {}, [&] { elements_in(layout, Dims(33, 1)); });
    expect_error(ErrorCode::invalid_argument, {"[2, -3, 4]", name_of(layout), "negative"}, [&] {
      strides_in(layout, {2, -3, 4});
    });
    expect_error(ErrorCode::invalid_shape, {}, [&] { elements_in(layout, {1 << 30, 1 << 30, 1 << 30}); });
  }
  expect_error(ErrorCode::invalid_shape, {"channels"}, [] { strides_in(Layout::nhwc8, {1, INT64_MAX}); });
  expect_error(ErrorCode::invalid_shape, {}, [] { elements_in(Layout::nhwc8, {std::int64_t{1} << 60, 1}); });
}

struct LayoutCase {
  DType in_type, out_type;
  Dims shape;
};

std::ostream& operator<<(std::ostream& out, const LayoutCase& c) {
  return out << name_of(c.in_type) << " to " << name_of(c.out_type) << " " << to_string(c.shape);
}

/// Bytes of any view with strides that are not negative, gaps included.
void fill_memory(const TensorView& view, std::uint64_t seed) {
  auto* const bytes = static_cast<unsigned char*>(view.data());
  for (std::int64_t i = 0; i < view.byte_range().end; ++i) {
    bytes[i] = static_cast<unsigned char>(hash(static_cast<std::uint64_t>(i), seed));
  }
}

/// Checks twice: with pads that are NaN in every floating type, and with any bits.
void check(const Stream& stream, const LayoutCase& c, Layout from, Layout to) {
  SCOPED_TRACE(::testing::Message() << c << ", " << name_of(from) << " to " << name_of(to));
  for (const bool junk : {false, true}) {
    GuardedBuffer in(stream, Role::input, c.in_type, c.shape, strides_in(from, c.shape));
    GuardedBuffer out(stream, Role::output, c.out_type, c.shape, strides_in(to, c.shape));
    if (junk) fill_memory(in.host(), 11);
    fill_for(in.host(), c.out_type, 5);
    run_and_compare(
        in, out,
        [&](const TensorView& x, const TensorView& y) {
          if (c.in_type == c.out_type) return copy(stream, x, y);
          cast(stream, x, y);
        },
        [](const TensorView& x, const TensorView& y) { reference::cast(x, y); });
  }
}

class LayoutCopy : public DeviceTest {};
INSTANTIATE_TEST_SUITE_P(Devices, LayoutCopy, ::testing::ValuesIn(test_devices()), device_test_name);

TEST_P(LayoutCopy, EveryMix) {
  const std::vector<LayoutCase> cases{{DType::f16, DType::f16, {2, 20, 5, 7}},
                                      {DType::u8, DType::u8, {3, 8, 33}},
                                      {DType::f32, DType::f16, {2, 17, 6, 4}},
                                      {DType::u8, DType::f32, {1, 3, 9, 11}},
                                      {DType::i64, DType::i64, {5, 13}},
                                      {DType::f64, DType::bf16, {2, 16, 3, 2, 3}},
                                      {DType::e5m2, DType::f32, {2, 9, 3, 1, 2, 4}},
                                      {DType::f32, DType::f32, {4, 1, 5}},
                                      {DType::f16, DType::f32, {0, 5, 4}},
                                      {DType::bool_, DType::i8, {2, 31, 1}}};
  for (const LayoutCase& c : cases) {
    for (const Layout from : kLayouts) {
      for (const Layout to : kLayouts) check(stream(), c, from, to);
    }
  }
}

/// Several tiles along each axis.
TEST_P(LayoutCopy, LargerImages) {
  for (const LayoutCase& c : {LayoutCase{DType::f16, DType::f16, {2, 44, 31, 23}},
                              LayoutCase{DType::f32, DType::f16, {1, 72, 37, 29}},
                              LayoutCase{DType::u8, DType::u8, {2, 3, 65, 67}}}) {
    for (const Layout to : {Layout::nhwc8, Layout::nhwc16}) {
      check(stream(), c, Layout::ndarray, to);
      check(stream(), c, to, Layout::ndarray);
      check(stream(), c, to, Layout::nhwc);
    }
  }
}

/// A scalar, a row of the last logical axis and a value for each channel, in any layout.
TEST_P(LayoutCopy, WhatIsBroadcastAlignsToTheLastLogicalAxis) {
  const Dims shape{2, 11, 3, 5};
  for (const Layout layout : kLayouts) {
    for (const Dims& small : {Dims{}, Dims{5}, Dims{11, 1, 1}, Dims{1, 11, 3, 1}}) {
      SCOPED_TRACE(std::string(name_of(layout)) + " " + to_string(small));
      GuardedBuffer in(stream(), Role::input, DType::f32, small);
      GuardedBuffer out(stream(), Role::output, DType::f32, shape, strides_in(layout, shape));
      fill_bits(in.host(), 3);
      run_and_compare(
          in, out,
          [&](const TensorView& x, const TensorView& y) { copy(stream(), x.broadcast_to(shape), y); },
          [&](const TensorView& x, const TensorView& y) {
            reference::for_each_index(shape, [&](const Dims& index) {
              Dims place(small.size());
              for (std::size_t k = 0; k < small.size(); ++k) {
                place[k] = small[k] == 1 ? 0 : index[shape.size() - small.size() + k];
              }
              reference::store_bits(y, index, reference::load_bits(x, place));
            });
          });
    }
  }
}

}  // namespace
}  // namespace relayout::test
