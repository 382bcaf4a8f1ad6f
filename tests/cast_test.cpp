// Conversions among f16, bf16, f32 and f64: rounding boundaries from their definition, then any layout.
#include <gtest/gtest.h>

#include <cmath>
#include <cstdint>
#include <limits>
#include <vector>

#include "host/reference/permute.hpp"
#include "tests/cases/cast_case.hpp"
#include "tests/cases/permute_case.hpp"
#include "tests/support/checks.hpp"
#include "tests/support/devices.hpp"
#include "tests/support/expect_error.hpp"

namespace relayout::test {
namespace {

using cases::CastCase;
using cases::Layout;
using cases::PermuteCase;

const std::vector<DType> kFloats{DType::f16, DType::bf16, DType::f32, DType::f64};

class CastTest : public DeviceTest {
 protected:
  /// Casts bit patterns of `from` to `to` and compares with the bit patterns that are expected.
  void expect(DType from, const std::vector<std::uint64_t>& inputs, DType to,
              const std::vector<std::uint64_t>& outputs) {
    SCOPED_TRACE(std::string(name_of(from)) + " to " + name_of(to));
    const Dims shape{static_cast<std::int64_t>(inputs.size())};
    GuardedBuffer in(stream(), Role::input, from, shape), out(stream(), Role::output, to, shape);
    for (std::size_t i = 0; i < inputs.size(); ++i) {
      store_bits(element_at(in.host(), static_cast<std::int64_t>(i)), from, inputs[i]);
      store_bits(element_at(out.host(), static_cast<std::int64_t>(i)), to, outputs[i]);
    }
    in.upload();
    EXPECT_NO_THROW(cast(stream(), in.device(), out.device()));
    EXPECT_TRUE(out.check());
    EXPECT_TRUE(in.check());
  }
};
INSTANTIATE_TEST_SUITE_P(Devices, CastTest, ::testing::ValuesIn(test_devices()), device_test_name);

std::uint64_t f32_bits(float value) { return detail::bit_cast<std::uint32_t>(value); }

TEST_P(CastTest, F32ToF16ByHand) {
  const float inf = std::numeric_limits<float>::infinity(), tiny = 0x1p-25f;
  const float above_tie = std::nextafter(tiny, 1.0f), below_overflow = std::nextafter(65520.0f, 0.0f);
  const std::vector<std::pair<float, std::uint64_t>> table{
      {0.0f, 0x0000},     {-0.0f, 0x8000},          {1.0f, 0x3c00},      {-2.0f, 0xc000},
      {65504.0f, 0x7bff}, {below_overflow, 0x7bff}, {65520.0f, 0x7c00},  {-65520.0f, 0xfc00},
      {65536.0f, 0x7c00}, {3e38f, 0x7c00},          {inf, 0x7c00},       {-inf, 0xfc00},
      {tiny, 0x0000},     {-tiny, 0x8000},          {above_tie, 0x0001}, {-above_tie, 0x8001},
      {0x1p-24f, 0x0001}, {0x1.8p-24f, 0x0002},     {0x1p-14f, 0x0400},  {0x1.ff8p-15f, 0x03ff},
      {1e-40f, 0x0000},   {-1e-40f, 0x8000},        {2049.0f, 0x6800},   {2051.0f, 0x6802},
      {0x1p-149f, 0x0000}};
  std::vector<std::uint64_t> inputs{0x7fc00000u, 0xffc00001u, 0x7f800001u}, outputs{0x7e00, 0xfe00, 0x7e00};
  for (const auto& [value, bits] : table) {
    inputs.push_back(f32_bits(value));
    outputs.push_back(bits);
  }
  expect(DType::f32, inputs, DType::f16, outputs);
}

TEST_P(CastTest, F32ToBf16ByHand) {
  expect(DType::f32,
         {0x00000000, 0x80000000, 0x3f800000, 0x3f808000, 0x3f818000, 0x3f808001, 0x7f7f7fff, 0x7f7f8000,
          0xff7fffff, 0x7f800000, 0x00000001, 0x00008000, 0x00008001, 0x00018000, 0x7f800001, 0xffc00000},
         DType::bf16,
         {0x0000, 0x8000, 0x3f80, 0x3f80, 0x3f82, 0x3f81, 0x7f7f, 0x7f80, 0xff80, 0x7f80, 0x0000, 0x0000,
          0x0001, 0x0002, 0x7fc0, 0xffc0});
}

TEST_P(CastTest, EveryF16IsExactInTheWiderTypes) {
  std::vector<std::uint64_t> inputs, f32_outputs, f64_outputs;
  for (std::uint64_t bits = 0; bits < 65536; ++bits) {
    const int exponent = static_cast<int>(bits >> 10) & 31, fraction = static_cast<int>(bits & 1023u);
    double value = exponent == 0 ? std::ldexp(fraction, -24) : std::ldexp(1024 + fraction, exponent - 25);
    if (exponent == 31)
      value =
          fraction == 0 ? std::numeric_limits<double>::infinity() : std::numeric_limits<double>::quiet_NaN();
    if (bits & 0x8000u) value = -value;
    inputs.push_back(bits);
    f32_outputs.push_back(bits_of(value, DType::f32));
    f64_outputs.push_back(bits_of(value, DType::f64));
  }
  expect(DType::f16, inputs, DType::f32, f32_outputs);
  expect(DType::f16, inputs, DType::f64, f64_outputs);
}

TEST_P(CastTest, EveryBf16IsTheUpperHalfOfItsF32) {
  std::vector<std::uint64_t> inputs, outputs;
  for (std::uint64_t bits = 0; bits < 65536; ++bits) {
    inputs.push_back(bits);
    outputs.push_back(bits << 16);
  }
  expect(DType::bf16, inputs, DType::f32, outputs);
}

/// Inputs of type `from` at every step-th value v of the 16-bit type `to`: v itself, the midpoint between v
/// and its successor w, and the numbers just below and above that midpoint. They round to v, to the even one
/// of v and w, to v and to w: the definition of round to nearest, without a conversion in sight. `overflow`
/// is infinity's magnitude.
struct Boundaries {
  std::vector<std::uint64_t> inputs, outputs;
};

Boundaries boundaries(DType from, DType to, std::uint64_t overflow, std::uint64_t step) {
  Boundaries result;
  const auto add = [&](double value, std::uint64_t magnitude) {
    for (const std::uint64_t sign : {0u, 0x8000u}) {
      result.inputs.push_back(bits_of(sign ? -value : value, from));
      result.outputs.push_back(magnitude | sign);
    }
  };
  const auto next = [&](double value, double toward) {
    if (from == DType::f64) return std::nextafter(value, toward);
    return static_cast<double>(std::nextafter(static_cast<float>(value), static_cast<float>(toward)));
  };
  for (std::uint64_t v = 0; v < overflow; v += step) {
    const std::uint64_t w = v + 1;
    const double low = value_of(v, to), below = v == 0 ? -value_of(1, to) : value_of(v - 1, to);
    // Above the largest finite value the spacing stays what it was below it.
    const double high = w == overflow ? low + (low - below) : value_of(w, to), middle = (low + high) / 2;
    add(low, v);
    add(next(middle, 0.0), v);
    add(middle, v % 2 == 0 ? v : w);
    add(next(middle, 1e300), w);
  }
  return result;
}

TEST_P(CastTest, F32RoundsToNearestEvenAtEveryF16) {
  const Boundaries all = boundaries(DType::f32, DType::f16, 0x7c00, 1);
  expect(DType::f32, all.inputs, DType::f16, all.outputs);
}

TEST_P(CastTest, F32RoundsToNearestEvenAtEveryBf16) {
  const Boundaries all = boundaries(DType::f32, DType::bf16, 0x7f80, 1);
  expect(DType::f32, all.inputs, DType::bf16, all.outputs);
}

/// A double just beside a midpoint: rounding to f32 on the way would land on the midpoint and break the tie
/// wrongly.
TEST_P(CastTest, F64RoundsOnce) {
  const Boundaries halves = boundaries(DType::f64, DType::f16, 0x7c00, 5);
  expect(DType::f64, halves.inputs, DType::f16, halves.outputs);
  const Boundaries brains = boundaries(DType::f64, DType::bf16, 0x7f80, 7);
  expect(DType::f64, brains.inputs, DType::bf16, brains.outputs);
  const double above = 1.0 + 0x1p-24 + 0x1p-52, overflow = std::ldexp(1.0, 128) - std::ldexp(1.0, 103);
  const auto bits = [](double value) { return detail::bit_cast<std::uint64_t>(value); };
  expect(DType::f64,
         {bits(1.0 + 0x1p-24), bits(above), bits(1.0 + 0x3p-24), bits(overflow),
          bits(std::nextafter(overflow, 0.0)), bits(0x1p-150), bits(std::nextafter(0x1p-150, 1.0)),
          bits(-0.0), bits(-1e300)},
         DType::f32,
         {0x3f800000, 0x3f800001, 0x3f800002, 0x7f800000, 0x7f7fffff, 0, 1, 0x80000000, 0xff800000});
}

TEST_P(CastTest, SpecialValuesBetweenAllTypes) {
  const double inf = std::numeric_limits<double>::infinity(), nan = std::numeric_limits<double>::quiet_NaN();
  const std::vector<double> values{
      0.0,     -0.0,    1.0,       -1.0,      inf,      -inf,  nan,      65504.0,  65519.0,  65520.0,
      -65520., 0x1p-24, 0x1p-25,   0x1.8p-25, -0x1p-26, 1e-45, 0x1p-133, 0x1p-149, 3.4e38,   3.39e38,
      -3.4e38, 1e300,   0x1p-1074, -1e-310,   1.0 / 3,  0.1,   2049.0,   0x1p-126, 0x1p-127, 6e-8};
  for (const DType from : kFloats)
    for (const DType to : kFloats) {
      SCOPED_TRACE(std::string(name_of(from)) + " to " + name_of(to));
      const Dims shape{static_cast<std::int64_t>(values.size())};
      GuardedBuffer in(stream(), Role::input, from, shape), out(stream(), Role::output, to, shape);
      fill_with(in.host(), [&](std::uint64_t i) { return values[i]; });
      run_and_compare(
          in, out, [&](const TensorView& a, const TensorView& b) { cast(stream(), a, b); },
          [](const TensorView& a, const TensorView& b) { reference::cast(a, b); });
    }
}

TEST_P(CastTest, EqualTypesAreCopiedByteByByte) {
  for (int type = 0; type <= static_cast<int>(DType::e5m2); ++type) {
    CastCase c;
    c.in_type = c.out_type = static_cast<DType>(type);
    c.shape = {3, 5, 17};
    check(stream(), c);
    c.out_layout = Layout::nlc_gaps;
    check(stream(), c);
  }
}

TEST_P(CastTest, EveryPairOfTypesInEveryLayout) {
  const std::vector<Layout> layouts{Layout::ncl, Layout::nlc, Layout::gaps, Layout::every_second,
                                    Layout::reversed};
  std::size_t turn = 0;
  for (const DType from : kFloats)
    for (const DType to : kFloats)
      for (const Layout in : layouts) {
        CastCase c;
        c.in_type = from;
        c.out_type = to;
        c.shape = {2, 19, 35};
        c.in_layout = in;
        c.out_layout = layouts[turn++ % layouts.size()];
        c.in_misaligned = static_cast<std::int64_t>(turn % 3);
        c.out_misaligned = static_cast<std::int64_t>(turn / 3 % 2);
        check(stream(), c);
      }
}

TEST_P(CastTest, FusedWithATranspose) {
  for (const DType from : kFloats)
    for (const DType to : kFloats) {
      PermuteCase c;
      c.in_type = from;
      c.out_type = to;
      c.shape = {2, 33, 67};
      c.axes = {0, 2, 1};
      check(stream(), c);
      c.shape = {2, 64, 96};  // whole vectors on both sides
      check(stream(), c);
      c.shape = {66, 3};
      c.axes = {1, 0};
      check(stream(), c);
    }
}

TEST_P(CastTest, OverflowsAndNansInEveryKernel) {
  const double inf = std::numeric_limits<double>::infinity(), nan = std::numeric_limits<double>::quiet_NaN();
  const std::vector<double> values{1.0, 65504.0, 65519.0, 65520.0, -65520.0, 1e30,
                                   inf, -inf,    nan,     -0.0,    2049.0};
  const Dims shape{67, 35};
  for (const DType to : {DType::f16, DType::bf16})
    for (const Layout from : {Layout::ncl, Layout::every_second})  // transposed, gathered
    {
      SCOPED_TRACE(std::string(name_of(to)) + " from " + name_of(from));
      GuardedBuffer in(stream(), Role::input, DType::f32, shape, strides_of(from, shape));
      GuardedBuffer out(stream(), Role::output, to, shape, strides_of(Layout::nlc, shape));
      fill_with(in.host(), [&](std::uint64_t i) { return values[i % values.size()]; });
      run_and_compare(
          in, out, [&](const TensorView& a, const TensorView& b) { cast(stream(), a, b); },
          [](const TensorView& a, const TensorView& b) { reference::cast(a, b); });
    }
}

TEST_P(CastTest, BroadcastInputs) {
  for (const Layout in : {Layout::one_batch, Layout::one_channel, Layout::one_sample})
    for (const Layout out : {Layout::ncl, Layout::nlc}) {
      CastCase c;
      c.shape = {3, 18, 35};
      c.in_layout = in;
      c.out_layout = out;
      check(stream(), c);
    }
}

TEST_P(CastTest, Sizes) {
  for (const std::int64_t size : {0, 1, 2, 3, 7, 8, 31, 255, 256, 257, 1023, 4099, 16385}) {
    CastCase c;
    c.shape = {size};
    check(stream(), c);
    c.in_misaligned = 1;
    check(stream(), c);
    c.in_type = DType::bf16;
    c.out_type = DType::f32;
    c.out_misaligned = 1;
    check(stream(), c);
  }
}

/// Enough for the native code to split the row and use all its threads.
TEST_P(CastTest, OneLongRow) {
  CastCase c;
  c.shape = {70001};
  check(stream(), c);
}

TEST_P(CastTest, Errors) {
  GuardedBuffer in(stream(), Role::input, DType::f32, {2, 3}),
      out(stream(), Role::output, DType::f16, {2, 3});
  fill_values(in.host());
  in.upload();
  const auto output = [&](DType type, const Dims& shape) {
    return TensorView(out.device().data(), type, shape);
  };
  const auto expect_cast = [&](ErrorCode code, const std::vector<std::string>& words, const TensorView& from,
                               const TensorView& to) {
    expect_error(code, words, [&] { cast(stream(), from, to); });
    EXPECT_TRUE(out.check()) << "something was written before the error";
  };
  expect_cast(ErrorCode::shape, {"[2, 3]", "[3, 2]"}, in.device(), output(DType::f16, {3, 2}));
  expect_cast(ErrorCode::shape, {"[2, 3]", "[6]"}, in.device(), output(DType::f16, {6}));
  expect_cast(ErrorCode::shape, {"[2, 3]", "[1, 2, 3]"}, in.device(), output(DType::f16, {1, 2, 3}));
  expect_cast(ErrorCode::dtype, {"f32", "b128"}, in.device(), TensorView(nullptr, DType::b128, {2, 3}));
  expect_cast(ErrorCode::dtype, {"b128", "f16"}, TensorView(nullptr, DType::b128, {2, 3}), out.device());
  expect_cast(ErrorCode::output_overlap, {}, in.device(),
              TensorView(out.device().data(), DType::f16, {2, 3}, {0, 1}));
  expect_cast(ErrorCode::partial_overlap, {}, TensorView(out.device().data(), DType::f32, {1, 3}),
              output(DType::f16, {1, 3}));
  expect_cast(ErrorCode::null_pointer, {}, TensorView(nullptr, DType::f32, {2, 3}), out.device());
  expect_cast(ErrorCode::null_pointer, {}, in.device(), TensorView(nullptr, DType::f16, {2, 3}));
}

}  // namespace
}  // namespace relayout::test
