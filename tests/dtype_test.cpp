// relayout's conversions, bit for bit: against hand-written values and, at every f16 and bf16 value, its
// neighbours and its midpoints, against the exact arithmetic of host/reference/scalar.hpp.
#include <gtest/gtest.h>

#include <cmath>
#include <cstdint>
#include <limits>
#include <random>
#include <string>

#include "host/reference/scalar.hpp"
#include "tests/support/random.hpp"

#include <relayout/dtype.hpp>

namespace relayout {
namespace {

float float_of(std::uint32_t bits) { return detail::bit_cast<float>(bits); }
double power(int exponent) { return std::ldexp(1.0, exponent); }
float powerf(int exponent) { return std::ldexp(1.0f, exponent); }

std::uint16_t f16_bits(float value) { return to_f16(value).bits; }
std::uint16_t f16_bits(double value) { return to_f16(value).bits; }
std::uint16_t bf16_bits(float value) { return to_bf16(value).bits; }
std::uint16_t bf16_bits(double value) { return to_bf16(value).bits; }

TEST(DType, SizesAndNames) {
  struct Row {
    DType type;
    std::size_t bytes;
    const char* name;
  };
  const Row rows[] = {{DType::bool_, 1, "bool"}, {DType::u8, 1, "u8"},     {DType::u16, 2, "u16"},
                      {DType::u32, 4, "u32"},    {DType::u64, 8, "u64"},   {DType::i8, 1, "i8"},
                      {DType::i16, 2, "i16"},    {DType::i32, 4, "i32"},   {DType::i64, 8, "i64"},
                      {DType::f16, 2, "f16"},    {DType::bf16, 2, "bf16"}, {DType::f32, 4, "f32"},
                      {DType::f64, 8, "f64"},    {DType::tf32, 4, "tf32"}, {DType::e4m3fn, 1, "e4m3fn"},
                      {DType::e5m2, 1, "e5m2"}};
  for (const Row& row : rows) {
    EXPECT_EQ(size_of(row.type), row.bytes) << row.name;
    EXPECT_STREQ(name_of(row.type), row.name);
    const std::string name = row.name;
    EXPECT_TRUE(is_castable(row.type)) << name;
    EXPECT_EQ(is_floating(row.type), name == "f16" || name == "bf16" || name == "f32" || name == "f64")
        << name;
    EXPECT_EQ(is_restricted(row.type), name == "tf32" || name == "e4m3fn" || name == "e5m2") << name;
    EXPECT_EQ(is_unsigned(row.type), name[0] == 'u') << name;
    EXPECT_EQ(is_signed(row.type), name[0] == 'i') << name;
    EXPECT_EQ(is_integral(row.type), name[0] == 'u' || name[0] == 'i') << name;
  }
  EXPECT_FALSE(is_castable(DType::b128));
  EXPECT_EQ(dtype_of<f16>, DType::f16);
  EXPECT_EQ(dtype_of<double>, DType::f64);
  EXPECT_EQ(dtype_of<std::int64_t>, DType::i64);
}

TEST(F16, Overflow) {
  EXPECT_EQ(f16_bits(65504.0f), 0x7bff);
  EXPECT_EQ(f16_bits(std::nextafter(65520.0f, 0.0f)), 0x7bff);
  EXPECT_EQ(f16_bits(65520.0f), 0x7c00);  // the tie goes to the even side: infinity
  EXPECT_EQ(f16_bits(-65520.0f), 0xfc00);
  EXPECT_EQ(f16_bits(-65519.0f), 0xfbff);
  EXPECT_EQ(f16_bits(std::numeric_limits<float>::max()), 0x7c00);
  EXPECT_EQ(f16_bits(std::numeric_limits<float>::infinity()), 0x7c00);
  EXPECT_EQ(f16_bits(-std::numeric_limits<float>::infinity()), 0xfc00);
  EXPECT_EQ(f16_bits(std::nextafter(65520.0, 0.0)), 0x7bff);
  EXPECT_EQ(f16_bits(65520.0), 0x7c00);
  EXPECT_EQ(f16_bits(1e300), 0x7c00);
  EXPECT_EQ(f16_bits(-1e300), 0xfc00);
}

TEST(F16, SubnormalsAndZeros) {
  EXPECT_EQ(f16_bits(powerf(-14)), 0x0400);
  EXPECT_EQ(f16_bits(powerf(-14) - powerf(-24)), 0x03ff);
  EXPECT_EQ(f16_bits(powerf(-24)), 0x0001);
  EXPECT_EQ(f16_bits(powerf(-25)), 0x0000);  // the tie goes to the even side: zero
  EXPECT_EQ(f16_bits(-powerf(-25)), 0x8000);
  EXPECT_EQ(f16_bits(std::nextafter(powerf(-25), 1.0f)), 0x0001);
  EXPECT_EQ(f16_bits(std::nextafter(power(-25), 1.0)), 0x0001);
  EXPECT_EQ(f16_bits(3 * powerf(-25)), 0x0002);  // between 1 and 2 units
  EXPECT_EQ(f16_bits(float_of(0x00000001)), 0x0000);
  EXPECT_EQ(f16_bits(float_of(0x80000001)), 0x8000);
  EXPECT_EQ(f16_bits(0.0f), 0x0000);
  EXPECT_EQ(f16_bits(-0.0f), 0x8000);
  EXPECT_EQ(f16_bits(-0.0), 0x8000);
  EXPECT_EQ(f16_bits(std::numeric_limits<double>::denorm_min()), 0x0000);
  EXPECT_EQ(f16_bits(-std::numeric_limits<double>::denorm_min()), 0x8000);
}

TEST(F16, TiesToEven) {
  EXPECT_EQ(f16_bits(1.0f), 0x3c00);
  EXPECT_EQ(f16_bits(1.0f + powerf(-11)), 0x3c00);
  EXPECT_EQ(f16_bits(1.0f + 3 * powerf(-11)), 0x3c02);
  EXPECT_EQ(f16_bits(2.0f - powerf(-11)), 0x4000);  // the carry goes into the exponent
  EXPECT_EQ(f16_bits(0.1f), 0x2e66);
  EXPECT_EQ(f16_bits(-1.0f / 3.0f), 0xb555);
}

TEST(F16, DoublesAreRoundedOnce) {
  // Through f32 the small term is lost first, and the tie then goes the wrong way.
  EXPECT_EQ(f16_bits(1.0 + power(-11) + power(-40)), 0x3c01);
  EXPECT_EQ(f16_bits(1.0 + 3 * power(-11) - power(-40)), 0x3c01);
  EXPECT_EQ(f16_bits(-(1.0 + power(-11) + power(-50))), 0xbc01);
  EXPECT_EQ(f16_bits(65520.0 - power(-30)), 0x7bff);
  EXPECT_EQ(f16_bits(power(-25) + power(-70)), 0x0001);
  EXPECT_EQ(bf16_bits(1.0 + power(-8) + power(-40)), 0x3f81);
  EXPECT_EQ(bf16_bits(1.0 + 3 * power(-8) - power(-40)), 0x3f81);
}

TEST(BF16, HandWritten) {
  EXPECT_EQ(bf16_bits(1.0f), 0x3f80);
  EXPECT_EQ(bf16_bits(1.0f + powerf(-8)), 0x3f80);
  EXPECT_EQ(bf16_bits(1.0f + 3 * powerf(-8)), 0x3f82);
  EXPECT_EQ(bf16_bits(3.14159265f), 0x4049);
  EXPECT_EQ(bf16_bits(-0.0f), 0x8000);
  EXPECT_EQ(bf16_bits(float_of(0x7f7f0000)), 0x7f7f);  // 3.3895e38, the largest
  EXPECT_EQ(bf16_bits(float_of(0x7f7f7fff)), 0x7f7f);
  EXPECT_EQ(bf16_bits(float_of(0x7f7f8000)), 0x7f80);
  EXPECT_EQ(bf16_bits(float_of(0x00000001)), 0x0000);
  EXPECT_EQ(bf16_bits(float_of(0x00008000)), 0x0000);  // half of the smallest subnormal
  EXPECT_EQ(bf16_bits(float_of(0x00008001)), 0x0001);
  EXPECT_EQ(bf16_bits(float_of(0x00018000)), 0x0002);
  EXPECT_EQ(bf16_bits(1e300), 0x7f80);
  EXPECT_EQ(bf16_bits(-std::numeric_limits<double>::infinity()), 0xff80);
}

TEST(NaN, StaysNaN) {
  const std::uint32_t patterns[] = {0x7f800001u, 0xff800001u, 0x7fc00000u, 0x7fffffffu,
                                    0xffffffffu, 0x7f801fffu, 0x7f80ffffu, 0xffc12345u};
  for (const std::uint32_t bits : patterns) {
    const float value = float_of(bits);
    const std::uint16_t half = f16_bits(value), brain = bf16_bits(value);
    EXPECT_TRUE(std::isnan(reference::decode(DType::f16, half))) << std::hex << bits;
    EXPECT_TRUE(std::isnan(reference::decode(DType::bf16, brain))) << std::hex << bits;
    EXPECT_EQ(half >> 15, bits >> 31);
    EXPECT_EQ(brain >> 15, bits >> 31);
    EXPECT_NE(half & 0x0200, 0) << "not quiet";
    EXPECT_NE(brain & 0x0040, 0) << "not quiet";
  }
  const double nan = std::numeric_limits<double>::quiet_NaN();
  EXPECT_TRUE(std::isnan(to_float(to_f16(nan))));
  EXPECT_TRUE(std::isnan(to_float(to_bf16(-nan))));
}

/// Compares both conversions of a value that is a float with the oracle.
void expect_as_oracle(float value) {
  ASSERT_EQ(f16_bits(value), reference::encode(DType::f16, value)) << value;
  ASSERT_EQ(bf16_bits(value), reference::encode(DType::bf16, value)) << value;
  ASSERT_EQ(f16_bits(static_cast<double>(value)), reference::encode(DType::f16, value)) << value;
  ASSERT_EQ(bf16_bits(static_cast<double>(value)), reference::encode(DType::bf16, value)) << value;
}

/// A value with its neighbours in f32 and f64, of either sign.
void expect_neighbourhood_as_oracle(double magnitude) {
  for (const double sign : {1.0, -1.0}) {
    const float value = static_cast<float>(sign * magnitude);
    for (const float towards : {-INFINITY, INFINITY}) {
      expect_as_oracle(value);
      expect_as_oracle(std::nextafter(value, towards));
      const double neighbour = std::nextafter(sign * magnitude, static_cast<double>(towards));
      ASSERT_EQ(f16_bits(neighbour), reference::encode(DType::f16, neighbour)) << neighbour;
      ASSERT_EQ(bf16_bits(neighbour), reference::encode(DType::bf16, neighbour)) << neighbour;
    }
  }
}

/// All finite values of a 16-bit type, and the points half way to the next value (past the largest: the tie
/// to inf).
void expect_every_value_as_oracle(DType type, std::uint32_t infinity) {
  for (std::uint32_t bits = 0; bits < infinity; ++bits) {
    const double value = reference::decode(type, bits);
    const double unit = bits + 1 < infinity ? reference::decode(type, bits + 1) - value
                                            : value - reference::decode(type, bits - 1);
    expect_neighbourhood_as_oracle(value);
    expect_neighbourhood_as_oracle(value + unit / 2);
    if (testing::Test::HasFatalFailure()) return;
  }
}

TEST(F16, EveryValueItsNeighboursAndMidpoints) { expect_every_value_as_oracle(DType::f16, 0x7c00); }
TEST(BF16, EveryValueItsNeighboursAndMidpoints) { expect_every_value_as_oracle(DType::bf16, 0x7f80); }

TEST(ToFloat, EveryValueAndBack) {
  for (std::uint32_t bits = 0; bits <= 0xffff; ++bits) {
    const std::uint16_t narrow = static_cast<std::uint16_t>(bits);
    const float half = to_float(f16{narrow}), brain = to_float(bf16{narrow});
    const double half_oracle = reference::decode(DType::f16, bits),
                 brain_oracle = reference::decode(DType::bf16, bits);
    ASSERT_EQ(std::isnan(half), std::isnan(half_oracle)) << bits;
    ASSERT_EQ(std::isnan(brain), std::isnan(brain_oracle)) << bits;
    ASSERT_EQ(std::signbit(half), bits >> 15 != 0);
    ASSERT_EQ(std::signbit(brain), bits >> 15 != 0);
    if (!std::isnan(half)) {
      ASSERT_EQ(static_cast<double>(half), half_oracle) << bits;
      ASSERT_EQ(f16_bits(half), narrow);
    }
    if (!std::isnan(brain)) {
      ASSERT_EQ(static_cast<double>(brain), brain_oracle) << bits;
      ASSERT_EQ(bf16_bits(brain), narrow);
    }
  }
}

TEST(Random, FloatsAndDoublesAsOracle) {
  for (const std::uint64_t seed : test::random_seeds(4)) {
    SCOPED_TRACE(test::reproduce(seed));
    std::mt19937_64 random(seed);
    for (int i = 0; i < 50000; ++i) {
      const float narrow = float_of(static_cast<std::uint32_t>(random()));
      if (!std::isnan(narrow)) expect_as_oracle(narrow);
      // Exponents around those of f16, so that most values are neither zero nor infinite.
      const double significand = 1.0 + static_cast<double>(random() >> 12) * power(-52);
      const double wide = std::ldexp(significand, static_cast<int>(random() % 50) - 30);
      ASSERT_EQ(f16_bits(wide), reference::encode(DType::f16, wide)) << wide;
      ASSERT_EQ(bf16_bits(-wide), reference::encode(DType::bf16, -wide)) << wide;
    }
  }
}

}  // namespace
}  // namespace relayout
