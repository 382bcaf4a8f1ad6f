// Division of sizes, on both sides of 32 bits.
#include "core/integer_math.hpp"

#include <gtest/gtest.h>

namespace relayout::test {
namespace {

constexpr std::int64_t kTwoTo32 = std::int64_t{1} << 32;

static_assert(divide_up(7, 4) == 2 && divide_up(8, 4) == 2 && divide_up(0, 4) == 0, "as constants, too");
static_assert(std::is_same_v<decltype(divide_up(7, std::int64_t{4})), std::int64_t>, "the wider type");

TEST(IntegerMath, DividesUp) {
  for (const std::int64_t by :
       {std::int64_t{1}, std::int64_t{2}, std::int64_t{7}, kTwoTo32 - 1, kTwoTo32, kTwoTo32 + 1}) {
    for (const std::int64_t parts : {std::int64_t{1}, std::int64_t{3}, std::int64_t{1} << 29}) {
      EXPECT_EQ(divide_up(parts * by, by), parts) << by;
      EXPECT_EQ(divide_up(parts * by + 1, by), parts + 1) << by;
      EXPECT_EQ(divide_up(parts * by - 1, by), by == 1 ? parts - 1 : parts) << by;
      EXPECT_EQ(divide(parts * by - 1, by), parts - 1) << by;
      EXPECT_EQ(round_up(parts * by - (by - 1), by), parts * by) << by;
    }
  }
}

TEST(IntegerMath, StepsCoverAnAxis) {
  EXPECT_EQ(steps_along(kTwoTo32, 1), kTwoTo32);
  EXPECT_EQ(steps_along(kTwoTo32, kTwoTo32), 1);
  EXPECT_EQ(steps_along(10, 4), 3);
}

}  // namespace
}  // namespace relayout::test
