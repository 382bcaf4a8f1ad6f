// Copies between two pieces of memory: every pair of types around the ends of vectors and blocks.
#include <gtest/gtest.h>

#include <vector>

#include "tests/cases/permute_shorthand.hpp"
#include "tests/support/checks.hpp"
#include "tests/support/devices.hpp"

namespace relayout::test {
namespace {

using cases::move_of;
using cases::PermuteCase;

const std::vector<std::int64_t> kExtents{2,    3,    7,    8,    9,     15,    16,    17,    2047, 2048,
                                         2049, 4095, 4096, 4097, 16383, 16384, 16385, 40000, 49153};

class StreamTest : public DeviceTest {
 protected:
  void check_all(DType in_type, DType out_type) {
    for (const std::int64_t extent : kExtents) {
      PermuteCase c = move_of(in_type, {extent}, {0});
      c.out_type = out_type;
      EXPECT_EQ(cases::plan_of(c, device().properties()).kernel, CopyKernel::stream);
      check(stream(), c);
    }
  }
};
INSTANTIATE_TEST_SUITE_P(Devices, StreamTest, ::testing::ValuesIn(test_devices()), device_test_name);

TEST_P(StreamTest, Moves) {
  for (const DType type : cases::kOneTypePerSize) check_all(type, type);
}

TEST_P(StreamTest, Casts) {
  const std::vector<DType> floats{DType::f16, DType::bf16, DType::f32, DType::f64};
  for (const DType in_type : floats) {
    for (const DType out_type : floats) {
      if (in_type != out_type) check_all(in_type, out_type);
    }
  }
}

TEST_P(StreamTest, AxesInOnePieceAreOne) {
  const PermuteCase c = move_of(DType::f16, {1, 6, 1, 40, 11}, {2, 1, 0, 3, 4});
  EXPECT_EQ(cases::plan_of(c, device().properties()).kernel, CopyKernel::stream);
  check(stream(), c);
}

TEST_P(StreamTest, OtherKernelsTakeWhatIsNotAligned) {
  for (const DType type : cases::kOneTypePerSize) {
    PermuteCase c = move_of(type, {4099}, {0});
    c.in_misaligned = 1;
    EXPECT_NE(cases::plan_of(c, device().properties()).kernel, CopyKernel::stream);
    check(stream(), c);
    c.in_misaligned = 0;
    c.out_misaligned = 1;
    EXPECT_NE(cases::plan_of(c, device().properties()).kernel, CopyKernel::stream);
    check(stream(), c);
  }
}

}  // namespace
}  // namespace relayout::test
