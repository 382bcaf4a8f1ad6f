// The oracle of sums, products, quotients, remainders and roots of floating types against values worked out
// by hand, and against the processor's own f32 and f64.
#include <gtest/gtest.h>

#include <cmath>
#include <type_traits>

#include "tests/support/arithmetic_inputs.hpp"
#include "tests/support/reference_rows.hpp"

namespace relayout {
namespace {

using namespace test::rows;

TEST(ReferenceArithmetic, SumsProductsQuotients) {
  expect_rows({{O::add, 1.5, 2, 3.5},          {O::add, 0.0, -0.0, 0.0},    {O::add, -0.0, -0.0, -0.0},
               {O::add, 3, -3, 0.0},           {O::add, kInf, -kInf, kNan}, {O::add, kInf, 1, kInf},
               {O::add, kNan, 1, kNan},        {O::sub, 3, 3, 0.0},         {O::sub, -0.0, 0.0, -0.0},
               {O::sub, kInf, kInf, kNan},     {O::mul, -2, 0.0, -0.0},     {O::mul, -0.0, -3, 0.0},
               {O::mul, kInf, 0, kNan},        {O::mul, -kInf, 2, -kInf},   {O::square, -3, 0, 9},
               {O::square, -0.0, 0, 0.0},      {O::neg, 0.0, 0, -0.0},      {O::neg, -kInf, 0, kInf},
               {O::neg, kNan, 0, kNan},        {O::abs, -0.0, 0, 0.0},      {O::abs, -kInf, 0, kInf},
               {O::abs, kNan, 0, kNan},        {O::reciprocal, 4, 0, 0.25}, {O::reciprocal, -0.0, 0, -kInf},
               {O::reciprocal, -kInf, 0, -0.0}});
  for (const O division : {O::div, O::truediv}) {
    expect_rows({{division, 7, 2, 3.5},
                 {division, 1, 0.0, kInf},
                 {division, 1, -0.0, -kInf},
                 {division, 0.0, 0.0, kNan},
                 {division, kInf, kInf, kNan},
                 {division, -1, kInf, -0.0},
                 {division, kInf, -2, -kInf},
                 {division, kInf, 0.0, kInf}});
  }
  EXPECT_EQ(bits_of(O::div, DType::f16, 1, 3), 0x3555u);
  EXPECT_EQ(bits_of(O::div, DType::bf16, 1, 3), 0x3eabu);
  EXPECT_EQ(bits_of(O::div, DType::f32, 1, 3), 0x3eaaaaabu);
  EXPECT_EQ(bits_of(O::div, DType::f64, 1, 3), 0x3fd5555555555555u);
  // Overflow, and the half ulp above the largest number under which it does not.
  EXPECT_EQ(bits_of(O::add, DType::f16, 65504, 16), 0x7c00u);
  EXPECT_EQ(bits_of(O::add, DType::f16, 65504, 15.9921875), 0x7bffu);
  EXPECT_EQ(bits_of(O::mul, DType::f64, -0x1p1023, 2), 0xfff0000000000000u);
  // Subnormals are kept, their products are rounded once: 2^-25 is a tie, 3 * 2^-25 one too, up to 2^-23.
  EXPECT_EQ(bits_of(O::mul, DType::f16, 0x1p-24, 0.5), 0u);
  EXPECT_EQ(bits_of(O::mul, DType::f16, -0x1p-24, 0.5), 0x8000u);
  EXPECT_EQ(bits_of(O::mul, DType::f16, 0x3p-24, 0.5), 2u);
  EXPECT_EQ(bits_of(O::sub, DType::f64, 0x1p-1022, 0x1p-1074), 0x000fffffffffffffu);
  EXPECT_EQ(bits_of(O::mul, DType::f32, 0x1p-100, 0x1.4p-49), 1u);
  EXPECT_EQ(bits_of(O::mul, DType::f32, 0x1p-100, 0x1.8p-49), 2u);
  // A tie, and a number beside one, which for f64 is further down than 64 bits reach.
  EXPECT_EQ(bits_of(O::add, DType::f32, 1, 0x1p-24), 0x3f800000u);
  EXPECT_EQ(bits_of(O::add, DType::f32, 1, 0x1.000002p-24), 0x3f800001u);
  EXPECT_EQ(bits_of(O::add, DType::f64, 1, 0x1p-53), 0x3ff0000000000000u);
  EXPECT_EQ(bits_of(O::add, DType::f64, 1, 0x1.0000000000001p-53), 0x3ff0000000000001u);
  // (1 + 2^-52)(1 - 2^-53) is 1 + 2^-53 - 2^-105: below the tie by what 64 bits lose.
  EXPECT_EQ(bits_of(O::mul, DType::f64, 0x1.0000000000001p0, 0x1.fffffffffffffp-1), 0x3ff0000000000000u);
}

TEST(ReferenceArithmetic, Roots) {
  expect_rows({{O::sqrt, 2.25, 0, 1.5},
               {O::sqrt, -0.0, 0, -0.0},
               {O::sqrt, -1, 0, kNan},
               {O::sqrt, kInf, 0, kInf},
               {O::rsqrt, 4, 0, 0.5},
               {O::rsqrt, 0.0, 0, kInf},
               {O::rsqrt, -0.0, 0, -kInf},
               {O::rsqrt, kInf, 0, 0.0},
               {O::rsqrt, -1, 0, kNan}});
  EXPECT_EQ(bits_of(O::sqrt, DType::f16, 2), 0x3da8u);
  EXPECT_EQ(bits_of(O::sqrt, DType::f32, 2), 0x3fb504f3u);
  EXPECT_EQ(bits_of(O::sqrt, DType::f64, 2), 0x3ff6a09e667f3bcdu);
}

TEST(ReferenceArithmetic, WholeQuotients) {
  for (const O division : {O::div_trunc, O::div_floor}) {
    const bool floor = division == O::div_floor;
    expect_rows({{division, 7, 2, 3},
                 {division, -7, 2, floor ? -4.0 : -3.0},
                 {division, 7, -2, floor ? -4.0 : -3.0},
                 {division, -7, -2, 3},
                 {division, -6, 2, -3},
                 {division, 1, 4, 0.0},
                 {division, -1, 4, floor ? -1.0 : -0.0},
                 {division, 0.0, -2, -0.0},
                 {division, 1, 0.0, kInf},
                 {division, 1, -0.0, -kInf},
                 {division, 0.0, 0.0, kNan},
                 {division, kInf, 0.0, kInf},
                 {division, kInf, 2, kNan},
                 {division, kInf, kInf, kNan},
                 {division, 1, kInf, 0.0},
                 {division, -1, kInf, floor ? -1.0 : -0.0},
                 {division, 1, -kInf, floor ? -1.0 : -0.0},
                 {division, -1, -kInf, 0.0},
                 {division, 0.0, -kInf, -0.0},
                 {division, kNan, 2, kNan},
                 {division, 2, kNan, kNan}});
    expect_row(DType::f64, {division, 1.0, 0.1, 9});  // 0.1 is above a tenth; the rounded quotient is 10
    expect_row(DType::f64, {division, 0x1p-1074, 0x1p1023, 0.0});
    expect_row(DType::f64, {division, -0x1p-1074, 0x1p1023, floor ? -1.0 : -0.0});
    // (2^20 - 1) * (2^53 - 1) - 1 by 2^53 - 1: below 2^20 - 1 by less than 64 bits tell.
    expect_row(DType::f64, {division, 0x1p73 - 0x1p53 - 0x1p20, 0x1.fffffffffffffp52, 1048574});
    // Quotients of 2^53 - 1 and 2^60: the first is exact, the second rounded.
    expect_row(DType::f64, {division, 0x1.fffffffffffffp52, 3, 3002399751580330});
    expect_row(DType::f64, {division, 0x1p60, 3, 384307168202282304});
    expect_row(DType::f32, {division, 16777215, 0.5, 33554430});
    expect_row(DType::f16, {division, 65504, 0.0625, kInf});
  }
}

TEST(ReferenceArithmetic, Remainders) {
  expect_rows({{O::mod, 5.5, 2, 1.5},     {O::mod, -5.5, 2, 0.5},  {O::mod, 5.5, -2, -0.5},
               {O::mod, -5.5, -2, -1.5},  {O::mod, 4, -2, -0.0},   {O::mod, -4, 2, 0.0},
               {O::mod, 0.0, -2, -0.0},   {O::mod, -0.0, 2, 0.0},  {O::mod, 1, 0.0, kNan},
               {O::mod, kInf, 2, kNan},   {O::mod, 3, kInf, 3},    {O::mod, -3, kInf, kInf},
               {O::mod, 3, -kInf, -kInf}, {O::mod, -3, -kInf, -3}, {O::mod, 0.0, -kInf, -0.0},
               {O::mod, kNan, 2, kNan},   {O::mod, 2, kNan, kNan}, {O::fmod, 5.5, 2, 1.5},
               {O::fmod, -5.5, 2, -1.5},  {O::fmod, 5.5, -2, 1.5}, {O::fmod, -4, 2, -0.0},
               {O::fmod, 4, -2, 0.0},     {O::fmod, 1, 0.0, kNan}, {O::fmod, kInf, 2, kNan},
               {O::fmod, -3, kInf, -3},   {O::fmod, kNan, 2, kNan}});
  expect_row(DType::f64, {O::fmod, 1.0, 0.1, 0x1.9999999999996p-4});  // 1 - 9 * 0.1 without rounding
  expect_row(DType::f32, {O::mod, -0x1p-30, 1, 1});                   // 1 - 2^-30 rounded
  expect_row(DType::f64, {O::fmod, 0x1p1000, 3, 1});
}

TEST(ReferenceArithmetic, DirectedRounding) {
  const auto of = [](O operation, DType type, double a, double b, Rounding rounding) {
    return bits_of(operation, type, a, b, 0, rounding);
  };
  const Rounding zero = Rounding::toward_zero, down = Rounding::down, up = Rounding::up;
  EXPECT_EQ(of(O::div, DType::f32, 1, 3, up), 0x3eaaaaabu);
  EXPECT_EQ(of(O::div, DType::f32, 1, 3, down), 0x3eaaaaaau);
  EXPECT_EQ(of(O::truediv, DType::f32, -1, 3, up), 0xbeaaaaaau);
  EXPECT_EQ(of(O::truediv, DType::f32, -1, 3, down), 0xbeaaaaabu);
  EXPECT_EQ(of(O::div, DType::f32, -1, 3, zero), 0xbeaaaaaau);
  EXPECT_EQ(of(O::div, DType::f64, 1, 3, up), 0x3fd5555555555556u);
  EXPECT_EQ(of(O::sqrt, DType::f64, 2, 0, down), 0x3ff6a09e667f3bccu);
  EXPECT_EQ(of(O::sqrt, DType::f64, 2, 0, up), 0x3ff6a09e667f3bcdu);
  EXPECT_EQ(of(O::sqrt, DType::f16, 2, 0, zero), 0x3da8u);
  EXPECT_EQ(of(O::sqrt, DType::f16, 2, 0, up), 0x3da9u);
  // Terms that lie far below the last place.
  EXPECT_EQ(of(O::add, DType::f64, 1, 0x1p-1074, up), 0x3ff0000000000001u);
  EXPECT_EQ(of(O::add, DType::f64, 1, -0x1p-1074, zero), 0x3fefffffffffffffu);
  EXPECT_EQ(of(O::sub, DType::f64, 1, 0x1p-1074, down), 0x3fefffffffffffffu);
  EXPECT_EQ(of(O::sub, DType::f64, 1, 0x1p-1074, up), 0x3ff0000000000000u);
  EXPECT_EQ(of(O::add, DType::f64, 0x1p60, -0x1p-500, down), 0x43afffffffffffffu);
  EXPECT_EQ(of(O::mul, DType::f64, 0x1p-1074, 0x1p-1074, up), 1u);
  EXPECT_EQ(of(O::mul, DType::f64, 0x1p-1074, -0x1p-1074, down), 0x8000000000000001u);
  EXPECT_EQ(of(O::mul, DType::f64, 0x1p-1074, -0x1p-1074, up), 0x8000000000000000u);
  // Overflow is cut where the rounding leads away from infinity.
  EXPECT_EQ(of(O::add, DType::f16, 65504, 65504, down), 0x7bffu);
  EXPECT_EQ(of(O::add, DType::f16, 65504, 1, up), 0x7c00u);
  EXPECT_EQ(of(O::mul, DType::f64, -0x1p1023, 2, zero), 0xffefffffffffffffu);
  EXPECT_EQ(of(O::mul, DType::f64, -0x1p1023, 2, up), 0xffefffffffffffffu);
  EXPECT_EQ(of(O::mul, DType::f64, -0x1p1023, 2, down), 0xfff0000000000000u);
  EXPECT_EQ(of(O::add, DType::f32, kInf, 1, down), 0x7f800000u);
  // A zero of two signs.
  EXPECT_EQ(of(O::sub, DType::f32, 3, 3, down), 0x80000000u);
  EXPECT_EQ(of(O::sub, DType::f32, 3, 3, up), 0u);
  EXPECT_EQ(of(O::add, DType::f32, 0.0, -0.0, down), 0x80000000u);
  EXPECT_EQ(of(O::add, DType::f32, 0.0, 0.0, down), 0u);
}

/// In round-to-nearest the processor's f32 and f64 are IEEE's.
TEST(ReferenceArithmetic, ProcessorAgrees) {
  const auto native = [](O operation, auto a, auto b) -> decltype(a) {
    switch (operation) {
      case O::add:
        return a + b;
      case O::sub:
        return a - b;
      case O::mul:
        return a * b;
      case O::div:
        return a / b;
      case O::fmod:
        return std::fmod(a, b);
      default:
        return std::sqrt(a);
    }
  };
  const auto check = [&](auto number, std::uint64_t a, std::uint64_t b) {
    using T = decltype(number);
    using Bits = std::conditional_t<sizeof(T) == 8, std::uint64_t, std::uint32_t>;
    const T x = detail::bit_cast<T>(static_cast<Bits>(a)), y = detail::bit_cast<T>(static_cast<Bits>(b));
    for (const O operation : {O::add, O::sub, O::mul, O::div, O::fmod, O::sqrt}) {
      const T expected = native(operation, x, y);
      const T got = detail::bit_cast<T>(static_cast<Bits>(reference::apply(operation, dtype_of<T>, a, b)));
      if (std::isnan(expected)) {
        ASSERT_TRUE(std::isnan(got)) << name_of(operation) << " of " << x << ", " << y;
      } else {
        ASSERT_EQ(detail::bit_cast<Bits>(got), detail::bit_cast<Bits>(expected))
            << name_of(operation) << " of " << x << ", " << y << " is " << got;
      }
    }
  };
  for (const std::uint64_t a : test::interesting(DType::f32)) {
    for (const std::uint64_t b : test::interesting(DType::f32)) check(0.0f, a, b);
  }
  for (const std::uint64_t a : test::interesting(DType::f64)) {
    for (const std::uint64_t b : test::interesting(DType::f64)) check(0.0, a, b);
  }
}

}  // namespace
}  // namespace relayout
