// The oracles against written-out values; everything else is tested against the oracles.
#include <gtest/gtest.h>

#include <cmath>
#include <cstdint>
#include <limits>
#include <vector>

#include "host/reference/compare.hpp"
#include "host/reference/img2col.hpp"
#include "host/reference/pad.hpp"
#include "host/reference/permute.hpp"
#include "host/reference/redistribute.hpp"
#include "tests/support/expect_error.hpp"

namespace relayout::reference {
namespace {

using Floats = std::vector<float>;

TensorView view(const Floats& memory, Dims shape) {
  return TensorView(memory.data(), DType::f32, std::move(shape));
}

/// A signal [1, 1, n] padded by the oracle.
Floats padded(const Floats& signal, PadMode mode, std::int64_t left, std::int64_t right, double value = 0.0) {
  PadSpec spec;
  spec.left = left;
  spec.right = right;
  spec.mode = mode;
  spec.value = value;
  const std::int64_t length = static_cast<std::int64_t>(signal.size());
  Floats out(static_cast<std::size_t>(length + left + right), -99.0f);
  pad(view(signal, {1, 1, length}), spec, view(out, {1, 1, length + left + right}));
  return out;
}

TEST(Encode, F16) {
  EXPECT_EQ(encode(DType::f16, 0.0), 0x0000u);
  EXPECT_EQ(encode(DType::f16, -0.0), 0x8000u);
  EXPECT_EQ(encode(DType::f16, 1.0), 0x3c00u);
  EXPECT_EQ(encode(DType::f16, -2.0), 0xc000u);
  EXPECT_EQ(encode(DType::f16, 0.1), 0x2e66u);
  EXPECT_EQ(encode(DType::f16, 65504.0), 0x7bffu);
  EXPECT_EQ(encode(DType::f16, 65519.999), 0x7bffu);
  EXPECT_EQ(encode(DType::f16, 65520.0), 0x7c00u);
  EXPECT_EQ(encode(DType::f16, -1e300), 0xfc00u);
  EXPECT_EQ(encode(DType::f16, std::ldexp(1.0, -14)), 0x0400u);
  EXPECT_EQ(encode(DType::f16, std::ldexp(1.0, -24)), 0x0001u);
  EXPECT_EQ(encode(DType::f16, std::ldexp(1.0, -25)), 0x0000u);
  EXPECT_EQ(encode(DType::f16, std::ldexp(1.0, -25) + std::ldexp(1.0, -60)), 0x0001u);
  EXPECT_EQ(encode(DType::f16, std::ldexp(1023.5, -24)), 0x0400u);  // up from the largest subnormal
  EXPECT_EQ(encode(DType::f16, 1.0 + std::ldexp(1.0, -11)), 0x3c00u);
  EXPECT_EQ(encode(DType::f16, 1.0 + std::ldexp(3.0, -11)), 0x3c02u);
  EXPECT_EQ(encode(DType::f16, std::numeric_limits<double>::infinity()), 0x7c00u);
  EXPECT_EQ(encode(DType::f16, std::numeric_limits<double>::quiet_NaN()), 0x7e00u);
}

TEST(Encode, OtherTypes) {
  EXPECT_EQ(encode(DType::bf16, 1.0), 0x3f80u);
  EXPECT_EQ(encode(DType::bf16, -3.14159265), 0xc049u);
  EXPECT_EQ(encode(DType::bf16, 1.0 + std::ldexp(1.0, -8)), 0x3f80u);
  EXPECT_EQ(encode(DType::bf16, 1.0 + std::ldexp(3.0, -8)), 0x3f82u);
  EXPECT_EQ(encode(DType::bf16, 3.4e38), 0x7f80u);
  EXPECT_EQ(encode(DType::bf16, std::ldexp(1.0, -133)), 0x0001u);
  EXPECT_EQ(encode(DType::bf16, std::ldexp(1.0, -134)), 0x0000u);
  EXPECT_EQ(encode(DType::f32, 1.0), 0x3f800000u);
  EXPECT_EQ(encode(DType::f32, 0.1), 0x3dcccccdu);
  EXPECT_EQ(encode(DType::f32, std::ldexp(1.0, -149)), 0x00000001u);
  EXPECT_EQ(encode(DType::f32, 1e39), 0x7f800000u);
  EXPECT_EQ(encode(DType::f64, 1.0), 0x3ff0000000000000u);
  EXPECT_EQ(encode(DType::f64, -0.1), 0xbfb999999999999au);
  EXPECT_EQ(encode(DType::f64, std::numeric_limits<double>::denorm_min()), 1u);
  EXPECT_EQ(encode(DType::f64, std::numeric_limits<double>::max()), 0x7fefffffffffffffu);
}

TEST(Decode, HandWritten) {
  EXPECT_EQ(decode(DType::f16, 0x3555), 0.333251953125);
  EXPECT_EQ(decode(DType::f16, 0x0001), std::ldexp(1.0, -24));
  EXPECT_EQ(decode(DType::f16, 0x83ff), -std::ldexp(1023.0, -24));
  EXPECT_EQ(decode(DType::f16, 0xfbff), -65504.0);
  EXPECT_EQ(decode(DType::f16, 0xfc00), -std::numeric_limits<double>::infinity());
  EXPECT_TRUE(std::isnan(decode(DType::f16, 0x7c01)));
  EXPECT_TRUE(std::signbit(decode(DType::f16, 0x8000)));
  EXPECT_EQ(decode(DType::bf16, 0x4049), 3.140625);
  EXPECT_EQ(decode(DType::f32, 0x40490fdb), 3.1415927410125732);
  EXPECT_EQ(decode(DType::f64, 0x400921fb54442d18), 3.141592653589793);
}

TEST(Permute, ThreeAxes) {
  const Floats in{0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11};
  Floats out(12, -1);
  permute(view(in, {2, 3, 2}), {2, 0, 1}, view(out, {2, 2, 3}));
  EXPECT_EQ(out, (Floats{0, 2, 4, 6, 8, 10, 1, 3, 5, 7, 9, 11}));
}

TEST(Permute, StridesOnBothSides) {
  const Floats in{0, 1, 2, 3, 4, 5};
  Floats out(8, -1);
  // in: every second element backwards, repeated; out: with a gap.
  permute(TensorView(in.data() + 4, DType::f32, {3, 2}, {-2, 0}), {1, 0},
          TensorView(out.data(), DType::f32, {2, 3}, {4, 1}));
  EXPECT_EQ(out, (Floats{4, 2, 0, -1, 4, 2, 0, -1}));
}

TEST(Copy, ByFlatIndex) {
  const Floats in{0, 1, 2, -1, 3, 4, 5, -1};
  Floats out(8, -1);
  // Two rows of three with a gap -> three rows of two, stored column by column.
  copy(TensorView(in.data(), DType::f32, {2, 3}, {4, 1}), TensorView(out.data(), DType::f32, {3, 2}, {1, 4}));
  EXPECT_EQ(out, (Floats{0, 2, 4, -1, 1, 3, 5, -1}));
}

TEST(Cast, ConvertsAndMoves) {
  const Floats in{1.0f, 65520.0f, -0.0f, 0.1f};
  std::vector<std::uint16_t> out(4, 0x1234);
  cast(view(in, {4}), TensorView(out.data(), DType::f16, {4}));
  EXPECT_EQ(out, (std::vector<std::uint16_t>{0x3c00, 0x7c00, 0x8000, 0x2e66}));
  // A move keeps a NaN's payload.
  const std::vector<std::uint16_t> nans{0x7c01, 0xffff};
  cast(TensorView(nans.data(), DType::f16, {2}), TensorView(out.data(), DType::f16, {2}));
  EXPECT_EQ(out[0], 0x7c01);
  EXPECT_EQ(out[1], 0xffff);
}

TEST(Scale, SumsAndZeros) {
  const float nan = std::numeric_limits<float>::quiet_NaN();
  const Floats in{1, -2, 3};
  Floats out{10, 20, nan};
  cast(view(in, {3}), view(out, {3}), {2, 0.5});
  EXPECT_EQ(out[0], 7);
  EXPECT_EQ(out[1], 6);
  EXPECT_TRUE(std::isnan(out[2]));
  cast(view(in, {3}), view(out, {3}), {-3, 0});
  EXPECT_EQ(out, (Floats{-3, 6, -9}));
  permute(view(in, {3, 1}), {1, 0}, view(out, {1, 3}), {1, 1});
  EXPECT_EQ(out, (Floats{-2, 4, -6}));
  copy(view(in, {3, 1}), view(out, {3}), {0, 2});
  EXPECT_EQ(out, (Floats{-4, 8, -12}));
}

/// (1 + 2^-12)^2 = 1 + 2^-11 + 2^-24, whose last term f32 has no room for.
TEST(Scale, TheSumIsFusedAndTheProductIsRounded) {
  const float a = 1.0f + 0x1p-12f;
  Floats in{-1}, out{a};
  cast(view(in, {1}), view(out, {1}), {1, a});
  EXPECT_EQ(out[0], 0x1p-11f + 0x1p-24f);
  in = {a};
  out = {-1};
  cast(view(in, {1}), view(out, {1}), {a, 1});
  EXPECT_EQ(out[0], 0x1p-11f);
  const double wide = a;
  double sum = -1;
  cast(TensorView(&wide, DType::f64, {1}), TensorView(&sum, DType::f64, {1}), {a, 1});
  EXPECT_EQ(sum, 0x1p-11 + 0x1p-24);
}

TEST(Scale, HalvesAreScaledInSingle) {
  const f16 in{0x67ff};  // 2047; 1.0003 as f16 would be 1
  f16 out{0};
  cast(TensorView(&in, DType::f16, {1}), TensorView(&out, DType::f16, {1}), {1.0003, 0});
  EXPECT_EQ(out.bits, 0x6800);  // 2047.61: 2048
}

TEST(Pad, EveryModeAsNumpy) {
  const Floats abcd{1, 2, 3, 4};
  EXPECT_EQ(padded(abcd, PadMode::constant, 2, 3, 7.5), (Floats{7.5, 7.5, 1, 2, 3, 4, 7.5, 7.5, 7.5}));
  EXPECT_EQ(padded(abcd, PadMode::replicate, 2, 3), (Floats{1, 1, 1, 2, 3, 4, 4, 4, 4}));
  EXPECT_EQ(padded(abcd, PadMode::reflect, 2, 3), (Floats{3, 2, 1, 2, 3, 4, 3, 2, 1}));
  EXPECT_EQ(padded(abcd, PadMode::reflect, 6, 7),
            (Floats{1, 2, 3, 4, 3, 2, 1, 2, 3, 4, 3, 2, 1, 2, 3, 4, 3}));
  EXPECT_EQ(padded(abcd, PadMode::symmetric, 2, 3), (Floats{2, 1, 1, 2, 3, 4, 4, 3, 2}));
  EXPECT_EQ(padded(abcd, PadMode::symmetric, 6, 7),
            (Floats{3, 4, 4, 3, 2, 1, 1, 2, 3, 4, 4, 3, 2, 1, 1, 2, 3}));
  EXPECT_EQ(padded(abcd, PadMode::circular, 2, 3), (Floats{3, 4, 1, 2, 3, 4, 1, 2, 3}));
  EXPECT_EQ(padded(abcd, PadMode::circular, 6, 7),
            (Floats{3, 4, 1, 2, 3, 4, 1, 2, 3, 4, 1, 2, 3, 4, 1, 2, 3}));
  EXPECT_EQ(padded({5}, PadMode::reflect, 2, 1), (Floats{5, 5, 5, 5}));
}

TEST(Pad, ReflectZeroExtendedAsEncodec) {
  // 1 2 -> 1 2 0 0 -> 0 0 2 1 2 0 0 0 2 -> without the last two
  EXPECT_EQ(padded({1, 2}, PadMode::reflect_zero_extended, 3, 2, 9.0), (Floats{0, 0, 2, 1, 2, 0, 0}));
  EXPECT_EQ(padded({1, 2, 3}, PadMode::reflect_zero_extended, 2, 1), (Floats{3, 2, 1, 2, 3, 2}));
}

TEST(Pad, NegativePadsCut) {
  EXPECT_EQ(padded({1, 2, 3, 4}, PadMode::constant, -1, -2), Floats{2});
  EXPECT_EQ(padded({1, 2, 3, 4}, PadMode::reflect, 2, -3), (Floats{3, 2, 1}));
  EXPECT_EQ(padded({1, 2, 3, 4}, PadMode::circular, -2, 3), (Floats{3, 4, 1, 2, 3}));
}

TEST(Pad, ConstantOfTheOutputsType) {
  const Floats in{1};
  PadSpec spec;
  spec.left = 1;
  spec.value = 0.1;
  std::vector<std::uint16_t> half(2);
  pad(view(in, {1, 1, 1}), spec, TensorView(half.data(), DType::f16, {1, 1, 2}));
  EXPECT_EQ(half, (std::vector<std::uint16_t>{0x2e66, 0x3c00}));
  const std::vector<std::int8_t> bytes{5};
  std::vector<std::int8_t> out(2);
  spec.value = -3;
  pad(TensorView(bytes.data(), DType::i8, {1, 1, 1}), spec, TensorView(out.data(), DType::i8, {1, 1, 2}));
  EXPECT_EQ(out, (std::vector<std::int8_t>{-3, 5}));
}

TEST(Pad, BatchesAndChannelsStayApart) {
  const Floats in{1, 2, 3, 4, 5, 6, 7, 8};
  PadSpec spec;
  spec.left = 1;
  spec.mode = PadMode::replicate;
  Floats out(12, -1);
  pad(view(in, {2, 2, 2}), spec, view(out, {2, 2, 3}));
  EXPECT_EQ(out, (Floats{1, 1, 2, 3, 3, 4, 5, 5, 6, 7, 7, 8}));
}

Floats unfolded(const Floats& in, Dims shape, const Window& window, const PadSpec& pad, Dims out_shape) {
  Floats out(static_cast<std::size_t>(TensorView(nullptr, DType::f32, out_shape).elements()), -99.0f);
  img2col(view(in, std::move(shape)), window, pad, view(out, out_shape));
  return out;
}

// Two channels 1 2 3 4 and 5 6 7 8, two taps, padded by one zero on the left.
TEST(Img2col, BothOrders) {
  const Floats in{1, 2, 3, 4, 5, 6, 7, 8};
  Window window;
  window.taps = 2;
  PadSpec pad;
  pad.left = 1;
  EXPECT_EQ(unfolded(in, {1, 2, 4}, window, pad, {4, 4}),
            (Floats{0, 0, 1, 5, 1, 5, 2, 6, 2, 6, 3, 7, 3, 7, 4, 8}));
  window.order = ColumnOrder::channel_outer;
  EXPECT_EQ(unfolded(in, {1, 2, 4}, window, pad, {4, 4}),
            (Floats{0, 1, 0, 5, 1, 2, 5, 6, 2, 3, 6, 7, 3, 4, 7, 8}));
}

TEST(Img2col, StrideAndDilation) {
  const Floats in{1, 2, 3, 4, 5, 6, 7};
  Window window;
  window.taps = 3;
  window.stride = 2;
  window.dilation = 2;
  EXPECT_EQ(unfolded(in, {1, 1, 7}, window, PadSpec(), {2, 3}), (Floats{1, 3, 5, 3, 5, 7}));
}

TEST(Img2col, BatchesAreStackedRows) {
  const Floats in{1, 2, 3, 4, 5, 6};
  Window window;
  window.taps = 2;
  EXPECT_EQ(unfolded(in, {2, 1, 3}, window, PadSpec(), {4, 2}), (Floats{1, 2, 2, 3, 4, 5, 5, 6}));
}

TEST(Img2col, GroupsAreBlocks) {
  const Floats in{1, 2, 3, 4, 5, 6, 7, 8};  // four channels of two samples
  Window window;
  window.groups = 2;
  window.taps = 2;
  EXPECT_EQ(unfolded(in, {1, 4, 2}, window, PadSpec(), {2, 1, 4}), (Floats{1, 3, 2, 4, 5, 7, 6, 8}));
  window.order = ColumnOrder::channel_outer;
  EXPECT_EQ(unfolded(in, {1, 4, 2}, window, PadSpec(), {2, 1, 4}), (Floats{1, 2, 3, 4, 5, 6, 7, 8}));
}

TEST(Img2col, CountPositions) {
  Window window;
  window.taps = 4;
  PadSpec pad;
  EXPECT_EQ(count_positions(3, window, pad), 0);
  EXPECT_EQ(count_positions(4, window, pad), 1);
  pad.left = 3;
  EXPECT_EQ(count_positions(2048, window, pad), 2048);
  window.stride = 2;
  EXPECT_EQ(count_positions(7, window, pad), 4);
  window.dilation = 3;
  EXPECT_EQ(count_positions(7, window, pad), 1);
  window.stride = std::numeric_limits<std::int64_t>::max();
  EXPECT_EQ(count_positions(7, window, pad), 1);
}

TEST(Weights, BothOrders) {
  const Floats in{1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12};  // [2, 2, 3]
  Floats out(12, -1);
  rearrange_weights(view(in, {2, 2, 3}), ColumnOrder::tap_outer, view(out, {2, 6}));
  EXPECT_EQ(out, (Floats{1, 4, 2, 5, 3, 6, 7, 10, 8, 11, 9, 12}));
  rearrange_weights(view(in, {2, 2, 3}), ColumnOrder::channel_outer, view(out, {2, 6}));
  EXPECT_EQ(out, in);
}

TEST(Redistribute, RowsToRowsOfTheTranspose) {
  // [3, 2] by rows {0, 1} and {2}, to [2, 3] by rows {0} and {1}
  const Floats first{1, 2, 3, 4}, second{5, 6};
  Floats upper(3), lower(3);
  redistribute(Distribution::split({3, 2}, 0, 2), {view(first, {2, 2}), view(second, {1, 2})}, {1, 0},
               Distribution::split({2, 3}, 0, 2), {view(upper, {1, 3}), view(lower, {1, 3})});
  EXPECT_EQ(upper, (Floats{1, 3, 5}));
  EXPECT_EQ(lower, (Floats{2, 4, 6}));
}

TEST(Redistribute, ReplicasAndEmptyBoxes) {
  const Floats whole{1, 2, 3};
  Floats middle(1);
  const Distribution in({3}, {{{3}, {3}}, {{0}, {3}}, {{1}, {2}}}),
      out({3}, {{{1}, {2}}, {{0}, {3}}, {{0}, {0}}});
  Floats all(3);
  redistribute(in, {TensorView(nullptr, DType::f32, {0}), view(whole, {3}), view(whole, {1})}, {0}, out,
               {view(middle, {1}), view(all, {3}), TensorView(nullptr, DType::f32, {0})});
  EXPECT_EQ(middle, (Floats{2}));
  EXPECT_EQ(all, whole);
}

TEST(CountMismatches, BitsApartFromNaN) {
  const std::vector<std::uint16_t> a{0x3c00, 0x7e00, 0x0000, 0x7c00}, b{0x3c00, 0xfc01, 0x8000, 0x7e00};
  const TensorView left(a.data(), DType::f16, {4}), right(b.data(), DType::f16, {4});
  EXPECT_EQ(count_mismatches(left, left), 0);
  EXPECT_EQ(count_mismatches(left, right), 2);  // the two zeros differ, infinity is no NaN
  const TensorView bits_left(a.data(), DType::u16, {4}), bits_right(b.data(), DType::u16, {4});
  EXPECT_EQ(count_mismatches(bits_left, bits_right), 3);
  test::expect_error(ErrorCode::shape, {}, [&] { count_mismatches(left, bits_left); });
}

}  // namespace
}  // namespace relayout::reference
