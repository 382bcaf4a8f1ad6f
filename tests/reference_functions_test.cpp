// The oracle of the functions that are not exact against values from computations with 60 digits, and how far
// off it lets a result be.
#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "host/reference/accuracy.hpp"
#include "tests/support/reference_rows.hpp"

namespace relayout {
namespace {

using namespace test::rows;
using reference::agrees;
using reference::ulp_bound;
using reference::ulps_between;

/// The nearest number of each type.
TEST(ReferenceFunctions, Values) {
  const std::vector<Row> rows{{O::pow, 3, 0.5, 1.7320508075688772935},
                              {O::pow, 0.75, -20, 315.33685520121724326},
                              {O::hypot, 1, 2, 2.2360679774997896964},
                              {O::atan2, 1, -2, 2.6779450445889871222},
                              {O::rsqrt, 3, 0, 0.57735026918962576451},
                              {O::exp, 1, 0, 2.7182818284590452354},
                              {O::exp, -7.5, 0, 0.0005530843701478335831},
                              {O::exp2, 0.5, 0, 1.4142135623730950488},
                              {O::exp2, -1.5, 0, 0.3535533905932737622},
                              {O::expm1, 0.0625, 0, 0.064494458917859429563},
                              {O::expm1, -5, 0, -0.9932620530009145329},
                              {O::log, 2, 0, 0.69314718055994530942},
                              {O::log, 0.75, 0, -0.28768207245178092744},
                              {O::log2, 3, 0, 1.5849625007211561815},
                              {O::log1p, 1, 0, 0.69314718055994530942},
                              {O::log1p, -0.0625, 0, -0.064538521137571171673},
                              {O::sin, 1, 0, 0.84147098480789650665},
                              {O::sin, -100, 0, 0.50636564110975879366},
                              {O::cos, 1, 0, 0.5403023058681397174},
                              {O::cos, -100, 0, 0.8623188722876839341},
                              {O::tan, 1, 0, 1.5574077246549022305},
                              {O::tan, 100, 0, -0.58721391515692907668},
                              {O::sinh, -3, 0, -10.017874927409901899},
                              {O::cosh, 2, 0, 3.7621956910836314596},
                              {O::tanh, 0.25, 0, 0.24491866240370912928},
                              {O::asin, -0.75, 0, -0.84806207898148100805},
                              {O::acos, -0.75, 0, 2.4188584057763776273},
                              {O::atan, -8, 0, -1.4464413322481351842},
                              {O::erf, 0.25, 0, 0.27632639016823693299},
                              {O::erf, -1, 0, -0.84270079294971486934},
                              {O::sigmoid, 1, 0, 0.73105857863000487925},
                              {O::sigmoid, -6, 0, 0.0024726231566347743341},
                              {O::silu, -6, 0, -0.014835738939808646004},
                              {O::gelu, 1, 0, 0.84134474606854294859},
                              {O::gelu, -6, 0, -5.9195258702261888442e-9},
                              {O::gelu_tanh, 1, 0, 0.84119199060827670478},
                              {O::gelu_tanh, -6, 0, -8.4396467007622970837e-11},
                              {O::softplus, 1, 0, 1.313261687518222834},
                              {O::softplus, -8, 0, 0.00033540637289576883157},
                              {O::elu, 2, 0, 2},
                              {O::elu, -1, 0, -0.6321205588285576784},
                              {O::hardswish, 1, 0, 0.66666666666666666667},
                              {O::hardswish, -1, 0, -0.33333333333333333333},
                              {O::hardswish, 4, 0, 4},
                              {O::hardsigmoid, 1, 0, 0.66666666666666666667},
                              {O::hardsigmoid, -1, 0, 0.33333333333333333333}};
  for (const DType type : kFloats) {
    for (const Row& row : rows) {
      EXPECT_EQ(bits_of(row.operation, type, row.a, row.b), encode(type, row.expected))
          << text(row) << " in " << name_of(type);
    }
  }
  EXPECT_EQ(bits_of(O::sin, DType::f64, 1e22), encode(DType::f64, -0.85220084976718880177));
  // Where a formula in f32 has nothing left: a subnormal, 2655 units of 2^-149.
  EXPECT_EQ(bits_of(O::silu, DType::f32, -100), 0x80000a5fu);
}

TEST(ReferenceFunctions, SpecialValues) {
  expect_rows({{O::exp, -kInf, 0, 0.0},
               {O::exp, kInf, 0, kInf},
               {O::exp, -0.0, 0, 1},
               {O::expm1, -0.0, 0, -0.0},
               {O::expm1, -kInf, 0, -1},
               {O::exp2, -3, 0, 0.125},
               {O::log, 0.0, 0, -kInf},
               {O::log, -0.0, 0, -kInf},
               {O::log, -1, 0, kNan},
               {O::log, 1, 0, 0.0},
               {O::log2, 8, 0, 3},
               {O::log1p, -1, 0, -kInf},
               {O::log1p, -2, 0, kNan},
               {O::log1p, -0.0, 0, -0.0},
               {O::sin, -0.0, 0, -0.0},
               {O::sin, kInf, 0, kNan},
               {O::cos, kInf, 0, kNan},
               {O::cos, 0.0, 0, 1},
               {O::tan, -kInf, 0, kNan},
               {O::sinh, -kInf, 0, -kInf},
               {O::cosh, -kInf, 0, kInf},
               {O::tanh, -kInf, 0, -1},
               {O::tanh, -0.0, 0, -0.0},
               {O::asin, 1.5, 0, kNan},
               {O::acos, 1, 0, 0.0},
               {O::acos, -1.5, 0, kNan},
               {O::atan, -0.0, 0, -0.0},
               {O::erf, -kInf, 0, -1},
               {O::sigmoid, -kInf, 0, 0.0},
               {O::sigmoid, kInf, 0, 1},
               {O::sigmoid, 0.0, 0, 0.5},
               {O::silu, kInf, 0, kInf},
               {O::silu, -kInf, 0, kNan},
               {O::silu, -0.0, 0, -0.0},
               {O::gelu, kInf, 0, kInf},
               {O::gelu, -kInf, 0, kNan},
               {O::gelu, -0.0, 0, -0.0},
               {O::gelu, -4096, 0, -0.0},
               {O::gelu_tanh, kInf, 0, kInf},
               {O::gelu_tanh, -kInf, 0, kNan},
               {O::gelu_tanh, -4096, 0, -0.0},
               {O::softplus, -kInf, 0, 0.0},
               {O::softplus, kInf, 0, kInf},
               {O::softplus, 4096, 0, 4096},
               {O::elu, -kInf, 0, -1},
               {O::elu, -0.0, 0, -0.0},
               {O::elu, kInf, 0, kInf},
               {O::hardswish, kInf, 0, kInf},
               {O::hardswish, -4, 0, -0.0},
               {O::hardswish, -kInf, 0, kNan},
               {O::hardsigmoid, -kInf, 0, 0.0},
               {O::hardsigmoid, kInf, 0, 1},
               {O::hardsigmoid, kNan, 0, kNan},
               {O::pow, -kInf, -3, -0.0},
               {O::pow, kInf, kNan, kNan},
               {O::pow, kInf, 0, 1},
               {O::hypot, kInf, kNan, kInf},
               {O::hypot, 3, -4, 5},
               {O::hypot, -0.0, -0.0, 0.0},
               {O::atan2, 0.0, 1, 0.0},
               {O::atan2, -0.0, 1, -0.0},
               {O::atan2, kNan, 1, kNan},
               {O::hypot, kNan, 1, kNan}});
  for (int i = static_cast<int>(O::sqrt); i < kOperations; ++i)
    expect_rows({{static_cast<O>(i), kNan, 0, kNan}});
  // The least i64, as in chains with a float.
  for (const DType type : {DType::bf16, DType::f32, DType::f64}) {
    EXPECT_EQ(bits_of(O::pow, type, -kInf, -0x1p63), 0u) << name_of(type);
    EXPECT_EQ(bits_of(O::pow, type, -kInf, 0x1p63), encode(type, kInf)) << name_of(type);
  }
  // The sum of squares overflows, the root does not; the product x * 6 neither.
  EXPECT_EQ(bits_of(O::hypot, DType::f64, 0x3p1000, 0x4p1000), encode(DType::f64, 0x5p1000));
  EXPECT_EQ(bits_of(O::hardswish, DType::f64, 0x1p1023), encode(DType::f64, 0x1p1023));
}

TEST(ReferenceFunctions, UlpsBetween) {
  const std::int64_t farthest = std::numeric_limits<std::int64_t>::max();
  EXPECT_EQ(ulps_between(DType::f32, 0x3f800000, 0x3f800001), 1);
  EXPECT_EQ(ulps_between(DType::f32, 0x3f800000, 0x3f7fffff), 1);
  EXPECT_EQ(ulps_between(DType::f32, 0x00000000, 0x80000000), 0);
  EXPECT_EQ(ulps_between(DType::f32, 0x00000001, 0x80000001), 2);
  EXPECT_EQ(ulps_between(DType::f32, 0x7f7fffff, 0x7f800000), 1);
  EXPECT_EQ(ulps_between(DType::f32, 0xbf800000, 0xbf800003), 3);
  EXPECT_EQ(ulps_between(DType::f16, 0x3c00, 0x4000), 1024);
  EXPECT_EQ(ulps_between(DType::bf16, 0x4000, 0x3f80), 128);
  EXPECT_EQ(ulps_between(DType::f64, 0x3ff0000000000000, 0x4000000000000000), std::int64_t{1} << 52);
  EXPECT_EQ(ulps_between(DType::f64, 0xffefffffffffffff, 0x7fefffffffffffff), farthest);
  EXPECT_EQ(ulps_between(DType::f32, 0x7fc00000, 0xff800001), 0);
  EXPECT_EQ(ulps_between(DType::f32, 0x7fc00000, 0x7f800000), farthest);
  EXPECT_EQ(ulps_between(DType::f16, 0x3c00, 0x7e00), farthest);
}

TEST(ReferenceFunctions, Bounds) {
  EXPECT_EQ(ulp_bound(O::add, DType::f32), 0);
  EXPECT_EQ(ulp_bound(O::pow, DType::i32), 0);
  EXPECT_EQ(ulp_bound(O::isclose, DType::f32), 0);
  EXPECT_EQ(ulp_bound(O::pow, DType::f32), 2);
  EXPECT_EQ(ulp_bound(O::exp, DType::f64), 2);
  EXPECT_EQ(ulp_bound(O::erf, DType::f32), 2);
  EXPECT_EQ(ulp_bound(O::gelu, DType::f32), 4);
  EXPECT_EQ(ulp_bound(O::gelu, DType::f64), 2);
  EXPECT_EQ(ulp_bound(O::sinh, DType::f64), 2);
  EXPECT_EQ(ulp_bound(O::sinh, DType::f32), 4);
  EXPECT_EQ(ulp_bound(O::sinh, DType::f16), 1);
  EXPECT_EQ(ulp_bound(O::erf, DType::bf16), 1);
}

TEST(ReferenceFunctions, Agreement) {
  const DType f32 = DType::f32;
  const std::uint64_t one = 0x3f800000, nan = 0x7fc00000, infinity = 0x7f800000, minus_zero = 0x80000000;
  EXPECT_TRUE(agrees(O::add, f32, one, one));
  EXPECT_FALSE(agrees(O::add, f32, one + 1, one));
  EXPECT_TRUE(agrees(O::add, f32, 0xffc00001, nan));
  EXPECT_FALSE(agrees(O::exp, f32, nan, one));
  EXPECT_FALSE(agrees(O::exp, f32, one, nan));
  EXPECT_TRUE(agrees(O::exp, f32, one + 2, one));
  EXPECT_FALSE(agrees(O::exp, f32, one + 3, one));
  EXPECT_TRUE(agrees(O::exp, f32, infinity - 1, infinity));
  EXPECT_FALSE(agrees(O::sin, f32, 0, minus_zero));
  EXPECT_TRUE(agrees(O::maximum, f32, minus_zero, 0));
  EXPECT_FALSE(agrees(O::maximum, f32, one + 1, one));
  EXPECT_FALSE(agrees(O::add, DType::i32, 2, 3));
  EXPECT_FALSE(agrees(O::equal, f32, 0, 1));
  // 33554432 is 2^25.
  EXPECT_TRUE(agrees(O::div_floor, f32, 0x4c000001, 0x4c000000));
  EXPECT_FALSE(agrees(O::div_floor, f32, 0x4c000002, 0x4c000000));
  EXPECT_FALSE(agrees(O::div_floor, f32, one + 1, one));
  // gelu(-6) is -5.9e-9, in the tail, where the bound holds as elsewhere.
  const auto bits = [](double value) { return encode(DType::f32, value); };
  const std::uint64_t tail = bits(-5.9195258702261888442e-9);
  EXPECT_TRUE(agrees(O::gelu, f32, tail + 4, tail));
  EXPECT_FALSE(agrees(O::gelu, f32, tail + 5, tail));
  EXPECT_FALSE(agrees(O::gelu, f32, minus_zero, tail));
  EXPECT_FALSE(agrees(O::gelu, f32, infinity, bits(6)));
  EXPECT_FALSE(agrees(O::gelu, DType::f16, 0x8002, minus_zero >> 16));
  EXPECT_FALSE(agrees(O::exp, DType::f16, 2, 0));
  const std::uint64_t f64_tail = encode(DType::f64, -5.9195258702261888442e-9);
  EXPECT_TRUE(agrees(O::gelu, DType::f64, f64_tail + 2, f64_tail));
  EXPECT_FALSE(agrees(O::gelu, DType::f64, f64_tail + 3, f64_tail));
  EXPECT_FALSE(agrees(O::sigmoid, f32, 0, bits(2.0611536181902037e-9)));
}

}  // namespace
}  // namespace relayout
