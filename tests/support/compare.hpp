// Bit-for-bit comparison of host views, with a message that says where and what.
#pragma once

#include <gtest/gtest.h>

#include <string>

#include "tests/support/elements.hpp"

namespace relayout::test {

/// When two NaNs of floating types count as equal.
enum class NanRule {
  any,    // casts: back ends differ in the payload they give a NaN
  exact,  // moves: bytes are bytes
};

bool same_element(std::uint64_t expected, std::uint64_t actual, DType type, NanRule rule);

std::string describe(std::uint64_t bits, DType type);

/// Every element of `actual` against the one of `expected` at the same index.
::testing::AssertionResult same_elements(const TensorView& expected, const TensorView& actual,
                                         NanRule rule = NanRule::any);

}  // namespace relayout::test
