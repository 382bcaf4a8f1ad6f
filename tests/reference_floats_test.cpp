// The oracle of the other operations of floating types against values worked out by hand.
#include <gtest/gtest.h>

#include <cmath>

#include "tests/support/reference_rows.hpp"

namespace relayout {
namespace {

using namespace test::rows;

TEST(ReferenceFloats, Powers) {
  expect_rows({{O::pow, 2, 3, 8},
               {O::pow, 2, -2, 0.25},
               {O::pow, -2, 3, -8},
               {O::pow, -8, 0.25, kNan},
               {O::pow, kNan, 0.0, 1},
               {O::pow, 1, kNan, 1},
               {O::pow, kNan, 1, kNan},
               {O::pow, 0.0, 0.0, 1},
               {O::pow, 0.0, -1, kInf},
               {O::pow, -0.0, -1, -kInf},
               {O::pow, -0.0, 3, -0.0},
               {O::pow, -0.0, 2, 0.0},
               {O::pow, -1, kInf, 1},
               {O::pow, 0.5, kInf, 0.0},
               {O::pow, 2, -kInf, 0.0},
               {O::pow, -kInf, 3, -kInf},
               {O::pow, -kInf, -3, -0.0},
               {O::pow, kInf, 0.5, kInf}});
}

TEST(ReferenceFloats, Extremes) {
  expect_rows({{O::maximum, 1, 2, 2},          {O::maximum, -1, -2, -1},     {O::maximum, kNan, 1, kNan},
               {O::maximum, 1, kNan, kNan},    {O::maximum, 0.0, -0.0, 0.0}, {O::maximum, -0.0, 0.0, 0.0},
               {O::maximum, -0.0, -0.0, -0.0}, {O::maximum, -kInf, 1, 1},    {O::minimum, 1, 2, 1},
               {O::minimum, kNan, 1, kNan},    {O::minimum, 1, kNan, kNan},  {O::minimum, 0.0, -0.0, -0.0},
               {O::minimum, -0.0, 0.0, -0.0},  {O::minimum, 0.0, 0.0, 0.0},  {O::minimum, -kInf, 1, -kInf},
               {O::fmax, kNan, 1, 1},          {O::fmax, 1, kNan, 1},        {O::fmax, kNan, kNan, kNan},
               {O::fmax, -0.0, 0.0, 0.0},      {O::fmax, 1, 2, 2},           {O::fmin, kNan, -kInf, -kInf},
               {O::fmin, 1, kNan, 1},          {O::fmin, kNan, kNan, kNan},  {O::fmin, 1, 2, 1}});
  // A signalling NaN is ignored too.
  EXPECT_EQ(reference::apply(O::fmax, DType::f32, 0x7f800001, 0x3f800000), 0x3f800000u);
  EXPECT_EQ(reference::apply(O::fmin, DType::f16, 0x3c00, 0xfc01), 0x3c00u);
  const auto clip = [](double a, double low, double high) {
    return decode(DType::f32, bits_of(O::clip, DType::f32, a, low, high));
  };
  EXPECT_EQ(clip(5, -1, 3), 3);
  EXPECT_EQ(clip(-5, -1, 3), -1);
  EXPECT_EQ(clip(2, -1, 3), 2);
  EXPECT_EQ(clip(7, 9, 1), 1);
  EXPECT_EQ(clip(kInf, -1, 3), 3);
  EXPECT_TRUE(std::isnan(clip(kNan, -1, 3)));
  EXPECT_TRUE(std::isnan(clip(1, kNan, 3)));
  EXPECT_TRUE(std::isnan(clip(1, -1, kNan)));
}

TEST(ReferenceFloats, Pieces) {
  expect_rows({{O::prelu, 2, 0.5, 2},
               {O::prelu, -2, 0.5, -1},
               {O::prelu, -0.0, 0.5, -0.0},
               {O::prelu, 0.0, -1, -0.0},
               {O::prelu, kNan, 1, kNan},
               {O::prelu, 1, kNan, 1},
               {O::prelu, -kInf, 0, kNan},
               {O::relu, -1, 0, 0.0},
               {O::relu, -0.0, 0, 0.0},
               {O::relu, 3, 0, 3},
               {O::relu, kNan, 0, kNan},
               {O::relu, kInf, 0, kInf},
               {O::sign, -3, 0, -1},
               {O::sign, kInf, 0, 1},
               {O::sign, -0.0, 0, 0.0},
               {O::sign, kNan, 0, kNan},
               {O::step, 2, 0, 1},
               {O::step, -0.0, 0, 0.0},
               {O::step, 0.0, 0, 0.0},
               {O::step, kNan, 0, 0.0},
               {O::copysign, 2, -0.0, -2},
               {O::copysign, -2, 1, 2},
               {O::copysign, -kInf, 1, kInf},
               {O::copysign, 0.0, -1, -0.0},
               {O::abs_diff, 2, 5, 3},
               {O::abs_diff, 2, 2, 0.0},
               {O::abs_diff, kInf, -kInf, kInf},
               {O::abs_diff, kInf, kInf, kNan}});
  const std::uint64_t negative_nan = reference::apply(O::copysign, DType::f32, 0x7fc00000, 0x80000000);
  EXPECT_EQ(negative_nan, 0xffc00000u);
}

TEST(ReferenceFloats, WholeNumbers) {
  expect_rows({{O::floor, 1.5, 0, 1},       {O::floor, -1.5, 0, -2},   {O::floor, -0.0, 0, -0.0},
               {O::floor, -0.25, 0, -1},    {O::floor, kInf, 0, kInf}, {O::floor, kNan, 0, kNan},
               {O::ceil, 1.5, 0, 2},        {O::ceil, -1.5, 0, -1},    {O::ceil, -0.5, 0, -0.0},
               {O::trunc, 1.5, 0, 1},       {O::trunc, -1.5, 0, -1},   {O::trunc, -0.5, 0, -0.0},
               {O::trunc, -kInf, 0, -kInf}, {O::round, 0.5, 0, 0.0},   {O::round, 1.5, 0, 2},
               {O::round, 2.5, 0, 2},       {O::round, -0.5, 0, -0.0}, {O::round, -1.5, 0, -2},
               {O::round, -2.75, 0, -3},    {O::round, -0.0, 0, -0.0}, {O::round, -kInf, 0, -kInf},
               {O::round, kNan, 0, kNan}});
}

TEST(ReferenceFloats, Relations) {
  expect_bools(O::equal, {{{}, 0.0, -0.0, 1}, {{}, kInf, kInf, 1}, {{}, kNan, kNan, 0}, {{}, 1, 1.5, 0}});
  expect_bools(O::not_equal, {{{}, 0.0, -0.0, 0}, {{}, kNan, kNan, 1}, {{}, kNan, 1, 1}, {{}, 1, 1.5, 1}});
  expect_bools(O::less, {{{}, 1, 2, 1}, {{}, -0.0, 0.0, 0}, {{}, kNan, 1, 0}, {{}, -kInf, -1, 1}});
  expect_bools(O::less_equal, {{{}, 2, 2, 1}, {{}, 3, 2, 0}, {{}, 1, kNan, 0}});
  expect_bools(O::greater, {{{}, 3, 2, 1}, {{}, 2, 2, 0}, {{}, kNan, 1, 0}});
  expect_bools(O::greater_equal, {{{}, 0.0, -0.0, 1}, {{}, 2, 3, 0}, {{}, kNan, kNan, 0}});
  // No tolerance: one subnormal step apart.
  for (const DType type : kFloats) EXPECT_EQ(reference::apply(O::equal, type, 1, 2), 0u) << name_of(type);
  expect_bools(O::isnan, {{{}, kNan, 0, 1}, {{}, kInf, 0, 0}, {{}, 1, 0, 0}});
  expect_bools(O::isinf, {{{}, kNan, 0, 0}, {{}, -kInf, 0, 1}, {{}, 1, 0, 0}});
  expect_bools(O::isfinite, {{{}, kNan, 0, 0}, {{}, -kInf, 0, 0}, {{}, -0.0, 0, 1}});
}

TEST(ReferenceFloats, Closeness) {
  const auto close = [](DType type, double a, double b, const reference::IsCloseTolerance& tolerance) {
    return reference::apply(O::isclose, type, encode(type, a), encode(type, b), 0, tolerance) == 1;
  };
  for (const DType type : kFloats) {
    EXPECT_TRUE(close(type, 1, 1.5, {0.25, 0.125, false}));   // 0.5 <= 0.125 + 0.375
    EXPECT_FALSE(close(type, 1.5, 1, {0.25, 0.125, false}));  // 0.5 > 0.125 + 0.25
    EXPECT_TRUE(close(type, -1, -1.5, {0.25, 0.125, false}));
    EXPECT_TRUE(close(type, kInf, kInf, {0, 0, false}));
    EXPECT_FALSE(close(type, kInf, -kInf, {1, 1, false}));
    EXPECT_FALSE(close(type, 1, kInf, {1, 1, false}));
    EXPECT_FALSE(close(type, kInf, 1, {1, 1, false}));
    EXPECT_FALSE(close(type, kNan, kNan, {1, 1, false}));
    EXPECT_TRUE(close(type, kNan, kNan, {0, 0, true}));
    EXPECT_FALSE(close(type, kNan, 1, {1, 1, true}));
    EXPECT_TRUE(close(type, 0.0, -0.0, {0, 0, false}));
  }
  // 1 + 2^-30 rounded to f32 is 1: 2 - 1 <= 1 + 0; and in f64 it is not.
  EXPECT_TRUE(close(DType::f32, 2, 1, {0, 1 - 0x1p-30, false}));
  EXPECT_FALSE(close(DType::f64, 2, 1, {0, 1 - 0x1p-30, false}));
  // 1 + 2^-24 is rounded down to 1, though not with the 2^-60 that atol has lost before.
  EXPECT_FALSE(close(DType::f32, -0x1p-23, 1, {1, 0x1p-24 + 0x1p-60, false}));
  // The defaults: 1e-8 + 1e-5 * 100.
  EXPECT_TRUE(close(DType::f64, 100.001, 100, {}));
  EXPECT_FALSE(close(DType::f64, 100.0011, 100, {}));
}

/// f16 and bf16 take their steps in f32 and are rounded once.
TEST(ReferenceFloats, Steps) {
  expect_rows({{O::squared_diff, 1.5, 4, 6.25}, {O::squared_diff, kInf, kInf, kNan}});
  const auto lerp = [](DType type, double a, double b, double c) {
    return decode(type, bits_of(O::lerp, type, a, b, c));
  };
  for (const DType type : kFloats) {
    EXPECT_EQ(lerp(type, 1, 5, 0.25), 2);
    EXPECT_EQ(lerp(type, 1, 5, 0), 1);
    EXPECT_EQ(lerp(type, 1, 5, -1), -3);
  }
  // 2^24 + 2 - 1 is a tie in f32, which goes to 2^24: then its square; in one rounding it were another
  // number.
  EXPECT_EQ(decode(DType::f32, bits_of(O::squared_diff, DType::f32, 16777218, 1)), 0x1p48);
  // b - a = -16777217 is rounded to -2^24, so a is not brought to b.
  EXPECT_EQ(lerp(DType::f32, 16777216, -1, 1), 0);
  EXPECT_EQ(lerp(DType::f32, 16777216, -1, 3), -33554432);
  EXPECT_EQ(lerp(DType::f64, 16777216, -1, 1), -1);
  // b - a = 2049 is no f16, but the f32 in which it is held.
  EXPECT_EQ(lerp(DType::f16, 0, 2048, 0.5), 1024);
  EXPECT_EQ(lerp(DType::f16, -1, 2048, 0.5), 1023.5);
}

}  // namespace
}  // namespace relayout
