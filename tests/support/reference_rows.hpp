// Tables of operands and results of floating types, for the tests of the oracle.
#pragma once

#include <gtest/gtest.h>

#include <cmath>
#include <cstdint>
#include <limits>
#include <string>
#include <vector>

#include "host/reference/arithmetic.hpp"
#include "tests/support/element_types.hpp"

namespace relayout::test::rows {

using O = Operation;
using reference::decode;
using reference::encode;

constexpr double kInf = std::numeric_limits<double>::infinity();
constexpr double kNan = std::numeric_limits<double>::quiet_NaN();
constexpr DType kFloats[] = {DType::f16, DType::bf16, DType::f32, DType::f64};

/// The bits of the result for operands that the type has.
inline std::uint64_t bits_of(O operation, DType type, double a, double b = 0, double c = 0,
                             Rounding rounding = Rounding::nearest_even) {
  for (const double operand : {a, b, c})
    EXPECT_TRUE(std::isnan(operand) || decode(type, encode(type, operand)) == operand) << "of another type";
  return reference::apply(operation, type, encode(type, a), encode(type, b), encode(type, c), {}, rounding);
}

struct Row {
  O operation;
  double a, b, expected;
};

inline std::string text(const Row& row) {
  return std::string(name_of(row.operation)) + " of " + std::to_string(row.a) + ", " + std::to_string(row.b);
}

/// Equal bits, where NaNs of any payload and sign are equal; -0 is not +0.
inline void expect_row(DType type, const Row& row) {
  const double got = decode(type, bits_of(row.operation, type, row.a, row.b));
  if (std::isnan(row.expected)) {
    EXPECT_TRUE(std::isnan(got)) << text(row) << " in " << name_of(type) << " is " << got;
  } else {
    EXPECT_TRUE(got == row.expected && std::signbit(got) == std::signbit(row.expected))
        << text(row) << " in " << name_of(type) << " is " << got << ", not " << row.expected;
  }
}

/// Rows whose operands and results all four types have.
inline void expect_rows(const std::vector<Row>& rows) {
  for (const DType type : kFloats) {
    for (const Row& row : rows) expect_row(type, row);
  }
}

inline void expect_bools(O operation, const std::vector<Row>& rows) {
  for (const DType type : kFloats) {
    for (const Row& row : rows) {
      EXPECT_EQ(bits_of(operation, type, row.a, row.b), row.expected != 0 ? 1u : 0u)
          << name_of(operation) << " of " << row.a << ", " << row.b << " in " << name_of(type);
    }
  }
}

}  // namespace relayout::test::rows
