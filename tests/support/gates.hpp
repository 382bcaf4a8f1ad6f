// The three gates of a sum of products of real numbers.
#pragma once

#include <gtest/gtest.h>

#include "host/reference/gemm.hpp"

namespace relayout::test {

/// few: of so few results shares say nothing, and only the bound of each counts.
inline void expect_gates(const reference::GemmCheck& gates, bool few = false) {
  EXPECT_TRUE(gates.bound_ok()) << "|y - r| = " << gates.worst_error << " against " << gates.worst_bound;
  if (few) return;
  EXPECT_TRUE(gates.rms_ok()) << "relative RMS " << gates.rms << " above " << gates.rms_limit;
  EXPECT_TRUE(gates.share_ok()) << "only " << gates.share << " of the results are the rounded exact ones";
}

}  // namespace relayout::test
