// The oracle of conversions against values worked out by hand.
#include <gtest/gtest.h>

#include <cmath>

#include "host/reference/convert.hpp"
#include "tests/cases/conversion_table.hpp"

namespace relayout {
namespace {

TEST(ReferenceConvert, ByHand) {
  for (const cases::Conversion& row : cases::conversion_table()) {
    EXPECT_EQ(reference::convert_bits(row.bits, row.from, row.to, row.options), row.expected)
        << std::hex << name_of(row.from) << " 0x" << row.bits << " to " << name_of(row.to);
  }
}

/// Every number of a narrow type is exact in f64 and comes back from there in every rounding.
TEST(ReferenceConvert, ThereAndBack) {
  for (const DType type : {DType::f16, DType::bf16, DType::e4m3fn, DType::e5m2, DType::u16, DType::i16}) {
    const std::uint64_t count = size_of(type) == 1 ? 256 : 65536;
    for (std::uint64_t bits = 0; bits < count; ++bits) {
      const std::uint64_t wide = reference::convert_bits(bits, type, DType::f64);
      if (std::isnan(reference::exact_value(type, bits))) continue;
      for (int mode = 0; mode < 5; ++mode) {
        CastOptions options = cases::unsaturated(static_cast<Rounding>(mode));
        ASSERT_EQ(reference::convert_bits(wide, DType::f64, type, options), bits) << name_of(type);
      }
    }
  }
}

/// Around every power of two, and where an f64 has no exponent for the number or rounds it up to a power.
TEST(ReferenceConvert, ExponentsAreThoseOfTheLibrary) {
  for (int power = -16445; power <= 16383; ++power) {
    for (const long double significand :
         {1.0L, 1.0L + 0x1p-63L, 1.5L, 2.0L - 0x1p-52L, 2.0L - 0x1p-54L, 2.0L - 0x1p-63L}) {
      const long double value = std::ldexp(significand, power);
      if (value == 0 || std::isinf(value)) continue;
      ASSERT_EQ(reference::exponent_of(value), std::ilogb(value)) << power << ' ' << significand;
      ASSERT_EQ(reference::exponent_of(-value), std::ilogb(value)) << power << ' ' << significand;
    }
  }
}

}  // namespace
}  // namespace relayout
