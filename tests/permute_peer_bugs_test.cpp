// Faults that are known from other libraries' transposes, with a test for each. More than 65535 blocks are
// tested in many_blocks_test.cpp, more than 2^31 elements in large_test.cpp, on a GPU, and in PermuteFarTest
// here.
#include <gtest/gtest.h>

#include <cstdint>

#include "host/api/copy.hpp"
#include "tests/cases/permute_shorthand.hpp"
#include "tests/support/checks.hpp"
#include "tests/support/devices.hpp"
#include "tests/support/reserved_memory.hpp"

namespace relayout::test {
namespace {

using cases::kOneTypePerSize;
using cases::move_of;
using cases::PermuteCase;

class PermutePeerBugsTest : public DeviceTest {};
INSTANTIATE_TEST_SUITE_P(Devices, PermutePeerBugsTest, ::testing::ValuesIn(test_devices()), device_test_name);

class PermuteOrderTest : public DeviceTest {};
GTEST_ALLOW_UNINSTANTIATED_PARAMETERIZED_TEST(PermuteOrderTest);
INSTANTIATE_TEST_SUITE_P(Devices, PermuteOrderTest, ::testing::ValuesIn(reordered_devices()),
                         device_test_name);

class PermuteFarTest : public DeviceTest {};
INSTANTIATE_TEST_SUITE_P(Devices, PermuteFarTest, ::testing::ValuesIn(host_memory_devices()),
                         device_test_name);

TEST_P(PermutePeerBugsTest, TransposedSourceIntoAStridedDestination) {
  for (const DType type : kOneTypePerSize) {
    check(stream(), move_of(type, {37, 41}, {1, 0}, {1, 37}, {2 * 37, 2}));
    check(stream(), move_of(type, {37, 41}, {0, 1}, {1, 40}, {83, 2}));
    check(stream(), move_of(type, {37, 41}, {1, 0}, {1, 37}, {1, 43}));  // transposed on both sides
    check(stream(), move_of(type, {37, 41}, {0, 1}, {1, 37}, {50, 1}));
    check(stream(), move_of(type, {64, 48}, {0, 1}, {1, 64}, {64, 1}));
    check(stream(), move_of(type, {3, 37, 41}, {0, 1, 2}, {37 * 41, 1, 37}, {37 * 48 + 5, 48, 1}));
  }
}

TEST_P(PermutePeerBugsTest, Pitches) {
  const DType type = DType::f16;
  check(stream(), move_of(type, {37, 41}, {1, 0}, {50, 1}));
  check(stream(), move_of(type, {37, 41}, {1, 0}, {}, {39, 1}));
  check(stream(), move_of(type, {37, 41}, {1, 0}, {128, 3}, {64, 1}));   // no unit stride on the input
  check(stream(), move_of(type, {64, 64}, {1, 0}, {256, 1}, {256, 1}));  // powers of two
  check(stream(), move_of(type, {5, 37, 41}, {0, 2, 1}, {37 * 43 + 3, 43, 1}, {41 * 39 + 5, 39, 1}));
}

TEST_P(PermutePeerBugsTest, ZeroStrides) {
  for (const DType type : {DType::u8, DType::f16, DType::f32}) {
    check(stream(), move_of(type, {37, 41}, {1, 0}, {0, 1}));            // one row for all
    check(stream(), move_of(type, {37, 41}, {1, 0}, {1, 0}));            // one column for all
    check(stream(), move_of(type, {37, 41}, {1, 0}, {0, 0}));            // one value for all
    check(stream(), move_of(type, {4, 37, 41}, {2, 0, 1}, {0, 41, 1}));  // a broadcast batch
    check(stream(), move_of(type, {4, 37, 41}, {0, 1, 2}, {41, 0, 1}));
  }
}

TEST_P(PermutePeerBugsTest, NegativeStrides) {
  for (const DType type : {DType::u8, DType::f16, DType::f32}) {
    check(stream(), move_of(type, {37, 41}, {1, 0}, {-41, 1}));              // rows backwards
    check(stream(), move_of(type, {37, 41}, {1, 0}, {41, -1}));              // columns backwards
    check(stream(), move_of(type, {37, 41}, {1, 0}, {-41, -1}, {-37, -1}));  // everything backwards
    check(stream(), move_of(type, {37, 41}, {1, 0}, {}, {-40, 1}));          // the output along its slow axis
    check(stream(), move_of(type, {37, 41}, {1, 0}, {}, {37, -1}));          // and along its fast one
    check(stream(), move_of(type, {5, 37, 41}, {1, 2, 0}, {41, 5 * 41, 1}, {-41 * 5, 5, -1}));
  }
}

TEST_P(PermutePeerBugsTest, ExtentOneAxesWithOddStrides) {
  PermuteCase c = move_of(DType::f32, {1, 33, 1, 35, 1}, {4, 3, 2, 1, 0});
  c.in_strides = {7, 35, -1, 1, 0};
  c.out_strides = {3, 33, 0, 1, -5};
  check(stream(), c);
  c.in_strides = {std::int64_t{1} << 40, 35, 0, 1, 0};  // an extent of 1 reaches nowhere
  c.out_strides = {0, 33, std::int64_t{1} << 40, 1, 1};
  check(stream(), c);
}

/// Nothing declares the alignment of a pointer: it is found from the pointer, for every element size.
TEST_P(PermutePeerBugsTest, PointersLessAlignedThanVectors) {
  for (const DType type : kOneTypePerSize)
    for (const std::int64_t in : {0, 1, 3})
      for (const std::int64_t out : {0, 1}) {
        PermuteCase c = move_of(type, {40, 66}, {1, 0});
        c.in_misaligned = in;
        c.out_misaligned = out;
        check(stream(), c);
        c.axes = {0, 1};
        check(stream(), c);
        c.shape = {64, 96};  // aligned except for the bases
        check(stream(), c);
        c.axes = {1, 0};
        check(stream(), c);
      }
}

/// A buffer that one thread fills while another still reads it.
TEST_P(PermuteOrderTest, TheOrderOfThreadsDoesNotMatter) {
  for (const DType type : kOneTypePerSize) {
    check(stream(), move_of(type, {3, 33, 66}, {2, 0, 1}));
    check(stream(), move_of(type, {96, 128}, {1, 0}));
    check(stream(), move_of(type, {7, 9, 6, 11}, {3, 1, 2, 0}));
  }
  check(stream(), move_of(DType::f16, {5, 7, 3}, {0, 2, 1}));
}

/// Offsets beyond 2^31 elements and 2^32 bytes between batches, tiles and rows, over address space that is
/// hardly touched.
/// Tiles move it, whether or not another kernel is predicted to take less time.
void copy_by_tiles(const Stream& stream, const TensorView& in, const TensorView& out) {
  if (stream.device().kind() == DeviceKind::cpu) return cast(stream, in, out);
  plan::PlannedCopy copy;
  static_cast<plan::CopyProblem&>(copy) = plan::copy_problem(in, out, {});
  static_cast<plan::CopyCandidate&>(copy) = plan::tile_candidate(copy, stream.device().properties());
  ASSERT_TRUE(copy.possible) << copy.reason;
  launch_copy(stream, copy, {in.data(), out.data()});
}

TEST_P(PermuteFarTest, StridesBeyondThirtyTwoBits) {
  constexpr std::int64_t kFar = (std::int64_t{1} << 31) + 35;
  const Dims shape{2, 70, 130}, in_strides{3 * kFar, kFar / 32, 1}, out_strides{70, 1, kFar / 64};
  const std::int64_t last = 3 * kFar + 69 * (kFar / 32) + 129;  // of the input's elements
  const ReservedMemory source(static_cast<std::size_t>(2 * (last + 1)));
  const ReservedMemory destination(static_cast<std::size_t>(2 * (130 * (kFar / 64) + 140)));
  const TensorView in(source.data(), DType::f16, shape, in_strides);
  const TensorView out(destination.data(), DType::f16, shape, out_strides);
  fill_bits(in);
  cast(stream(), in, out);
  EXPECT_TRUE(same_elements(in, out, NanRule::exact));
  fill_bits(in, 2);
  copy_by_tiles(stream(), in, out);
  EXPECT_TRUE(same_elements(in, out, NanRule::exact));

  // Only the batches are far apart, on both sides: tiles within them.
  const Dims far_in{3 * kFar, 130, 1}, far_out{kFar, 1, 70};
  const TensorView batches(source.data(), DType::f16, shape, far_in);
  const TensorView batches_out(destination.data(), DType::f16, shape, far_out);
  fill_bits(batches, 1);
  cast(stream(), batches, batches_out);
  EXPECT_TRUE(same_elements(batches, batches_out, NanRule::exact));
  fill_bits(batches, 3);
  copy_by_tiles(stream(), batches, batches_out);
  EXPECT_TRUE(same_elements(batches, batches_out, NanRule::exact));

  // One side only, and gaps on both, so that elements move one by one.
  const Dims near{2 * 70 * 130, 2 * 130, 2}, far{kFar, 2 * 130, 2};
  for (const bool is_input : {true, false}) {
    const TensorView from(source.data(), DType::f16, shape, is_input ? far : near);
    const TensorView to(destination.data(), DType::f16, shape, is_input ? near : far);
    fill_bits(from, 4);
    cast(stream(), from, to);
    EXPECT_TRUE(same_elements(from, to, NanRule::exact)) << "the input: " << is_input;
  }

  // The same bytes backwards: the base is the last element, every offset is negative.
  Dims backwards = in_strides;
  for (std::int64_t& stride : backwards) stride = -stride;
  fill_bits(in);
  const TensorView reversed(element_at(in, last), DType::f16, shape, backwards);
  cast(stream(), reversed, out);
  EXPECT_TRUE(same_elements(reversed, out, NanRule::exact));

  // Both sides fastest along one axis, far apart along the others.
  const TensorView rows(destination.data(), DType::f16, shape, {140, kFar / 40, 1});
  cast(stream(), in, rows);
  EXPECT_TRUE(same_elements(in, rows, NanRule::exact));

  // No axis is fastest on either side: one element at a time.
  const TensorView apart_in(source.data(), DType::f16, shape, {3 * kFar, kFar / 32, 2});
  const TensorView apart_out(destination.data(), DType::f16, shape, {140, 2, kFar / 64});
  const CopyPlan plan = plan_cast(device(), apart_in, apart_out);
  if (!is_native()) {
    EXPECT_NE(plan.explain().find("Kernel gather"), std::string::npos) << plan.explain();
  }
  fill_bits(apart_in, 2);
  plan.run(stream());
  EXPECT_TRUE(same_elements(apart_in, apart_out, NanRule::exact));
}

}  // namespace
}  // namespace relayout::test
