// The index map of padding against written-out signals and against folding step by step.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <limits>
#include <string>

#include "core/pad_index.hpp"
#include "host/reference/pad.hpp"

namespace relayout {
namespace {

/// The padded signal a, b, c ... as text, '.' for the constant.
std::string padded(PadMode mode, std::int64_t length, std::int64_t left, std::int64_t right,
                   std::int64_t reflect_length) {
  std::string text;
  for (std::int64_t i = -left; i < length + right; ++i) {
    const std::int64_t index = pad_index(mode, i, length, reflect_length);
    text += index < 0 ? '.' : static_cast<char>('a' + index);
  }
  return text;
}

// numpy.pad(list("abcd"), (6, 7), mode=...)
TEST(PadIndex, FourSamples) {
  EXPECT_EQ(padded(PadMode::constant, 4, 6, 7, 4), "......abcd.......");
  EXPECT_EQ(padded(PadMode::replicate, 4, 6, 7, 4), "aaaaaaabcdddddddd");
  EXPECT_EQ(padded(PadMode::reflect, 4, 6, 7, 4), "abcdcbabcdcbabcdc");
  EXPECT_EQ(padded(PadMode::symmetric, 4, 6, 7, 4), "cddcbaabcddcbaabc");
  EXPECT_EQ(padded(PadMode::circular, 4, 6, 7, 4), "cdabcdabcdabcdabc");
}

TEST(PadIndex, OneSample) {
  EXPECT_EQ(padded(PadMode::constant, 1, 2, 2, 1), "..a..");
  EXPECT_EQ(padded(PadMode::replicate, 1, 2, 2, 1), "aaaaa");
  EXPECT_EQ(padded(PadMode::reflect, 1, 2, 2, 1), "aaaaa");
  EXPECT_EQ(padded(PadMode::symmetric, 1, 2, 2, 1), "aaaaa");
  EXPECT_EQ(padded(PadMode::circular, 1, 2, 2, 1), "aaaaa");
}

TEST(PadIndex, TwoSamples) {
  EXPECT_EQ(padded(PadMode::reflect, 2, 3, 3, 2), "babababa");
  EXPECT_EQ(padded(PadMode::symmetric, 2, 3, 3, 2), "bbaabbaa");
  EXPECT_EQ(padded(PadMode::circular, 2, 3, 3, 2), "babababa");
}

// EnCodec's pad1d: "ab" with 3 and 2 is extended to "ab00", reflected to "00bab00ba"[1:] and cut by the two
// zeros.
TEST(PadIndex, ReflectZeroExtended) {
  EXPECT_EQ(padded(PadMode::reflect_zero_extended, 2, 3, 2, 4), "..bab..");
  EXPECT_EQ(padded(PadMode::reflect_zero_extended, 2, 0, 3, 4), "ab...");
  EXPECT_EQ(padded(PadMode::reflect_zero_extended, 1, 2, 0, 3), "..a");
  EXPECT_EQ(padded(PadMode::reflect_zero_extended, 4, 2, 2, 4), "cbabcdcb");
}

TEST(PadIndex, NothingToRead) {
  EXPECT_EQ(pad_index(PadMode::constant, 0, 0, 0), -1);
  EXPECT_EQ(pad_index(PadMode::reflect_zero_extended, -1, 0, 3), -1);
}

TEST(PadIndex, CompileTime) {
  static_assert(pad_index(PadMode::reflect, -1, 4, 4) == 1, "usable where no code runs");
  static_assert(pad_index(PadMode::circular, 4, 4, 4) == 0, "usable where no code runs");
}

TEST(PadIndex, EveryModeAndSizeByFolding) {
  const PadMode modes[] = {PadMode::constant,  PadMode::replicate, PadMode::reflect,
                           PadMode::symmetric, PadMode::circular,  PadMode::reflect_zero_extended};
  for (const PadMode mode : modes) {
    for (std::int64_t length = 1; length <= 9; ++length) {
      for (std::int64_t reach = 0; reach <= 40; reach += 4) {
        PadSpec spec;
        spec.mode = mode;
        spec.left = reach;
        spec.right = reach / 2;
        const std::int64_t reflect_length =
            mode == PadMode::reflect_zero_extended ? std::max(length, reach + 1) : length;
        for (std::int64_t i = -spec.left; i < length + spec.right; ++i) {
          ASSERT_EQ(pad_index(mode, i, length, reflect_length), reference::source_sample(spec, i, length))
              << "mode " << static_cast<int>(mode) << ", length " << length << ", index " << i;
        }
      }
    }
  }
}

TEST(PadIndex, RunsAreTheIndicesOneByOne) {
  const PadMode modes[] = {PadMode::constant,  PadMode::replicate, PadMode::reflect,
                           PadMode::symmetric, PadMode::circular,  PadMode::reflect_zero_extended};
  for (const PadMode mode : modes) {
    for (std::int64_t length = 1; length <= 9; ++length) {
      for (std::int64_t further = 0; further <= 9; further += 3) {
        const std::int64_t reflect_length = length + (mode == PadMode::reflect_zero_extended ? further : 0);
        for (std::int64_t i = -40; i < 40; ++i) {
          for (const std::int64_t most : {1, 2, 7, 100}) {
            const PadRun run = pad_run(mode, i, length, reflect_length, most);
            ASSERT_GE(run.count, 1);
            ASSERT_LE(run.count, most);
            for (std::int64_t n = 0; n < run.count; ++n) {
              const std::int64_t source = run.source < 0 ? -1 : run.source + n * run.step;
              ASSERT_EQ(source, pad_index(mode, i + n, length, reflect_length))
                  << "mode " << static_cast<int>(mode) << ", length " << length << ", index " << i << " + "
                  << n;
            }
          }
        }
      }
    }
  }
  EXPECT_EQ(pad_run(PadMode::constant, 0, 0, 0, 5).source, -1) << "no samples at all";
  const std::int64_t most = std::numeric_limits<std::int64_t>::max();
  for (const PadMode mode : modes) {
    for (const std::int64_t i : {-most, -1 - most, most - 9, std::int64_t{-9}}) {
      const PadRun run = pad_run(mode, i, most - 20, most - 20, 8);
      EXPECT_EQ(run.source, pad_index(mode, i, most - 20, most - 20)) << "mode " << static_cast<int>(mode);
    }
  }
}

TEST(PadIndex, FarIndices) {
  const std::int64_t far = std::int64_t{1} << 61;  // a multiple of 4, of 6: 2^61 mod 6 = 2, of 8
  EXPECT_EQ(pad_index(PadMode::constant, far, 4, 4), -1);
  EXPECT_EQ(pad_index(PadMode::replicate, far, 4, 4), 3);
  EXPECT_EQ(pad_index(PadMode::replicate, -far, 4, 4), 0);
  EXPECT_EQ(pad_index(PadMode::circular, far + 3, 4, 4), 3);
  EXPECT_EQ(pad_index(PadMode::circular, -far - 1, 4, 4), 3);
  EXPECT_EQ(pad_index(PadMode::symmetric, far + 4, 4, 4), 3);
  EXPECT_EQ(pad_index(PadMode::symmetric, -far - 1, 4, 4), 0);
  EXPECT_EQ(pad_index(PadMode::reflect, far, 4, 4), 2);
  EXPECT_EQ(pad_index(PadMode::reflect, -far, 4, 4), 2);
  // Lengths beyond 32 bits.
  const std::int64_t length = (std::int64_t{1} << 40) + 1;
  EXPECT_EQ(pad_index(PadMode::reflect, -5, length, length), 5);
  EXPECT_EQ(pad_index(PadMode::reflect, length + 5, length, length), length - 7);
  EXPECT_EQ(pad_index(PadMode::symmetric, length + 5, length, length), length - 6);
  EXPECT_EQ(pad_index(PadMode::circular, -1, length, length), length - 1);
}

TEST(PadIndex, LengthsAndIndicesNearTheLargestNumber) {
  constexpr std::int64_t kMax = std::numeric_limits<std::int64_t>::max();
  constexpr std::int64_t kLeast = std::numeric_limits<std::int64_t>::min();
  EXPECT_EQ(pad_index(PadMode::reflect, -3, kMax, kMax), 3);
  EXPECT_EQ(pad_index(PadMode::reflect_zero_extended, kMax, 5, kMax), -1);
  EXPECT_EQ(pad_index(PadMode::reflect_zero_extended, -4, 5, kMax), 4);
  EXPECT_EQ(pad_index(PadMode::reflect, kMax, kMax, kMax), kMax - 2);
  EXPECT_EQ(pad_index(PadMode::symmetric, -1, kMax, kMax), 0);
  EXPECT_EQ(pad_index(PadMode::symmetric, kMax, kMax, kMax), kMax - 1);
  EXPECT_EQ(pad_index(PadMode::symmetric, kLeast, kMax, kMax), kMax - 1);
  EXPECT_EQ(pad_index(PadMode::circular, kLeast, kMax, kMax), kMax - 1);
  // 2^63 - 1 and 2^63 are 1 and 2 modulo 3, and modulo 6.
  EXPECT_EQ(pad_index(PadMode::circular, kMax, 3, 3), 1);
  EXPECT_EQ(pad_index(PadMode::circular, kLeast, 3, 3), 1);
  EXPECT_EQ(pad_index(PadMode::symmetric, kMax, 3, 3), 1);
  EXPECT_EQ(pad_index(PadMode::symmetric, kLeast, 3, 3), 1);
}

}  // namespace
}  // namespace relayout
