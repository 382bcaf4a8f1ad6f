// Small problems, planned as users have them: other test programs plan them as large ones
// (tests/support/plan_as_large.cpp).
#include <gtest/gtest.h>

#include <cstdlib>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "host/plan/copy/copy_plan.hpp"
#include "host/plan/copy/tile_tuning.hpp"
#include "tests/cases/img2col_shorthand.hpp"
#include "tests/cases/pad_case.hpp"
#include "tests/cases/permute_shorthand.hpp"
#include "tests/support/checks.hpp"
#include "tests/support/devices.hpp"
#include "tests/support/elementwise_case.hpp"

namespace relayout::test {
namespace {

using cases::move_of;
using cases::PermuteCase;

class SmallProblemsTest : public DeviceTest {
 protected:
  static void SetUpTestSuite() { unsetenv("RELAYOUT_PLAN_AS_LARGE"); }  // before the first plan reads it
};
INSTANTIATE_TEST_SUITE_P(Devices, SmallProblemsTest, ::testing::ValuesIn(test_devices()), device_test_name);

CopyPlan transpose_of(const Device& device, DType type, std::int64_t rows, std::int64_t columns) {
  const TensorView in(nullptr, type, {rows, columns}), out(nullptr, type, {columns, rows});
  return plan_permute(device, in, {1, 0}, out);
}

TEST_P(SmallProblemsTest, AreCopiedByWhatBeginsSoonest) {
  if (is_native()) GTEST_SKIP() << "native code is one for all sizes";
  const CopyPlan small = transpose_of(device(), DType::f16, 16, 49);
  EXPECT_EQ(small.details().kernel, CopyKernel::gather) << small.explain();
  EXPECT_NE(small.explain().find("no other is predicted to take less time"), std::string::npos)
      << small.explain();
  EXPECT_NE(transpose_of(device(), DType::f32, 4096, 4096).details().kernel, CopyKernel::gather);
  // The window kernel moves its first byte earlier than tiles: 3.1 us and 3.5 on an H200, 37.2 and 36.1 of
  // 4096 rows.
  const TensorView square(nullptr, DType::f32, {512, 512});
  EXPECT_EQ(plan_permute(DeviceProperties::h200(), square, {1, 0}, square).details().kernel,
            CopyKernel::window);
  const TensorView piece(nullptr, DType::f32, {1000});
  EXPECT_EQ(plan_cast(device(), piece, piece).details().kernel, CopyKernel::stream);
  // A few blocks are twice as many of half the threads.
  for (const auto& [rows, threads] : {std::pair(64, 128), std::pair(4096, 256)}) {
    const TensorView in(nullptr, DType::b128, {rows, 13}), out(nullptr, DType::b128, {13, rows});
    const CopyPlan plan = plan_permute(DeviceProperties::h200(), in, {1, 0}, out);
    EXPECT_EQ(plan.details().kernel, CopyKernel::gather) << plan.explain();
    EXPECT_EQ(plan.details().threads, threads) << plan.explain();
  }
}

/// A kernel's start counts in full up to 4 MB, read and written together, and least from 8 MB on.
TEST_P(SmallProblemsTest, CountStartsThatFade) {
  const DeviceProperties device = this->device().properties();
  const auto tile_start = [&](std::int64_t rows) {  // of rows of 1000 elements of 4 bytes, on both sides
    const TensorView in(nullptr, DType::f32, {rows, 1000}), out(nullptr, DType::f32, {1000, rows});
    return plan::tile_candidate(plan::copy_problem(in.permuted({1, 0}), out, {}), device).start;
  };
  const double whole = plan::tile_tuning(device).tile_start;
  EXPECT_EQ(tile_start(20), whole);
  EXPECT_EQ(tile_start(500), whole);
  const double least = whole * plan::tile_tuning(device).least_start;
  EXPECT_LT(least, whole * 0.7);
  EXPECT_NEAR(tile_start(650), whole * 0.7, 1e-9);
  EXPECT_EQ(tile_start(1000), least);
  EXPECT_EQ(tile_start(5000), least);
}

TEST_P(SmallProblemsTest, AreCopiedRight) {
  for (const DType type : cases::kOneTypePerSize) {
    for (const std::vector<std::int64_t>& shape :
         {Dims{7}, Dims{33, 77}, Dims{5, 9, 31}, Dims{2, 3, 4, 5, 6}}) {
      std::vector<int> axes;
      for (int axis = static_cast<int>(shape.size()) - 1; axis >= 0; --axis) axes.push_back(axis);
      for (const std::int64_t misaligned : {0, 1, 3}) {
        PermuteCase c = move_of(type, shape, axes);
        c.in_misaligned = misaligned;
        c.out_misaligned = 3 - misaligned;
        check_copy(stream(), c,
                   [&](const TensorView& in, const TensorView& out) { permute(stream(), in, c.axes, out); });
      }
    }
  }
}

/// Rows of both sides as elements of the bytes that they and their addresses are multiples of.
TEST_P(SmallProblemsTest, MoveNeighboursTogether) {
  for (const DType type : {DType::u8, DType::f16, DType::f32, DType::i64, DType::b128}) {
    const auto size = static_cast<std::int64_t>(size_of(type));
    for (const std::int64_t row : {1, 2, 3, 4, 6, 8, 12, 16, 20}) {
      // Between rows, of the input and of the output.
      for (const auto& [in, out] : {std::pair(row, row), std::pair(2 * row, row), std::pair(row + 1, row),
                                    std::pair(row, row + 1), std::pair<std::int64_t, std::int64_t>(32, 32)}) {
        for (const std::int64_t misaligned : {0, 1, 2}) {
          PermuteCase c = move_of(type, {5, 7, row}, {1, 0, 2}, {7 * in, in, 1}, {5 * out, out, 1});
          c.in_misaligned = misaligned;
          check(stream(), c);
          if (is_native()) continue;
          std::int64_t together = 1;  // the part of all numbers that is a power of two
          while ((row | in | out | misaligned) % (2 * together) == 0 && 2 * together * size <= 16)
            together *= 2;
          const CopyDetails details = cases::plan_of(c, device().properties());
          if (details.kernel != CopyKernel::gather) continue;
          EXPECT_EQ(details.in.vector_bytes, together * size) << c;
          EXPECT_EQ(details.out.vector_bytes, together * size) << c;
        }
      }
    }
  }
}

/// Not of the test's device: an emulated one has few multiprocessors.
TEST_P(SmallProblemsTest, HaveNoTileOfWindows) {
  const auto explained = [](std::int64_t length) {  // to rows off 16-byte boundaries
    const TensorView in(nullptr, DType::f32, {2, 80, length}),
        out(nullptr, DType::f16, {2 * length, 320}, {325, 1});
    return plan_img2col(DeviceProperties::h200(), in, cases::window(4), cases::zeros(3, 0), out).explain();
  };
  EXPECT_NE(explained(20).find("Kernel window:"), std::string::npos) << explained(20);
  EXPECT_NE(explained(2000).find("Kernel window_tile:"), std::string::npos) << explained(2000);
}

TEST_P(SmallProblemsTest, HaveWindowsAndPaddingRight) {
  for (const ColumnOrder order : cases::kOrders) {
    for (const std::int64_t length : {1, 8, 61}) {
      check(stream(), cases::make(2, 6, length, cases::window(3, 2, 1, 1, order), cases::zeros(4, 1)));
      for (const cases::Layout layout : {cases::Layout::ncl, cases::Layout::nlc}) {
        cases::PadCase pad;
        pad.batch = 2;
        pad.channels = 5;
        pad.length = length;
        pad.pad = cases::zeros(3, order == ColumnOrder::tap_outer ? 0 : 2);
        pad.out_layout = layout;
        check(stream(), pad);
      }
    }
  }
}

TEST_P(SmallProblemsTest, GoByStripsInsteadOfUnalignedVectors) {
  if (is_native()) GTEST_SKIP() << "native code is one for all sizes";
  const auto explained = [&](std::int64_t rows) {  // of which each begins elsewhere between multiples of 16
    const TensorView a(nullptr, DType::i8, {rows, 4001}), b(nullptr, DType::i8, {rows, 4001}, {4002, 1});
    return plan_elementwise(device(), Operation::add, {a, b}, a).explain();
  };
  EXPECT_NE(explained(3).find("Kernel typed, strips"), std::string::npos) << explained(3);
  EXPECT_NE(explained(300).find("Kernel typed, unaligned"), std::string::npos) << explained(300);
}

/// Not of the test's device, as above.
TEST_P(SmallProblemsTest, HaveNoTileOfTransposedOperands) {
  const auto explained = [](DType type, std::int64_t side) {
    const TensorView a(nullptr, type, {side, side}), b(nullptr, type, {side, side}, {1, side});
    return plan_elementwise(DeviceProperties::h200(), Operation::add, {a, b}, a).explain();
  };
  for (const DType type : {DType::f16, DType::f32}) {
    EXPECT_NE(explained(type, 512).find("Kernel typed, strips"), std::string::npos) << explained(type, 512);
    EXPECT_NE(explained(type, 8192).find("Kernel transposed"), std::string::npos) << explained(type, 8192);
  }
}

/// Operations that take most instructions have half strips, in the plans for an H200.
TEST_P(SmallProblemsTest, HaveHalfStrips) {
  const auto explained = [](Operation operation, DType type, std::int64_t side) {
    const TensorView a(nullptr, type, {side, side}), b(nullptr, type, {side, side}, {1, side});
    return plan_elementwise(DeviceProperties::h200(), operation, {a, b}, a).explain();
  };
  const auto has = [](const std::string& text, const std::string& words) {
    EXPECT_NE(text.find(words), std::string::npos) << text;
  };
  for (const auto& [type, half, whole] : std::vector<std::tuple<DType, std::string, std::string>>{
           {DType::f64, "strip of 2 elements", "strip of 4 elements"},
           {DType::i64, "strip of 2 elements", "strip of 4 elements"},
           {DType::u32, "strip of 4 elements", "strip of 8 elements"},
           {DType::f32, "strip of 8 elements", "strip of 8 elements"}}) {
    has(explained(Operation::fmod, type, 200), half);
    has(explained(Operation::fmod, type, 2000), whole);
    has(explained(Operation::maximum, type, 200), whole);
  }
}

/// Strips along an operand from any address, along an axis that they do not fill, of elements that lie apart,
/// and between those of other lanes.
TEST_P(SmallProblemsTest, AreComputedRightInHalfStrips) {
  const auto spec = [](DType type, const Dims& shape, const Dims& strides, std::int64_t misaligned) {
    return TensorSpec{type, shape, strides, misaligned};
  };
  for (const DType type : {DType::f64, DType::i64, DType::u64, DType::i32, DType::u32}) {
    for (const std::int64_t misaligned : {0, 1, 3}) {
      for (const auto& [shape, strides] : std::vector<std::pair<Dims, Dims>>{{{33, 70}, {1, 33}},
                                                                             {{64, 64}, {1, 65}},
                                                                             {{5, 7, 9}, {9, 45, 1}},
                                                                             {{3, 5, 7}, {1, 3, 15}},
                                                                             {{96, 8}, {32, 1}},
                                                                             {{80, 16}, {40, 1}},
                                                                             {{203}, {2}}}) {
        ElementwiseCase c;
        c.operations = {Operation::div_floor};
        c.operands = {spec(type, shape, {}, 1), spec(type, shape, strides, misaligned)};
        c.out = spec(type, shape, {}, misaligned);
        c.common = type;
        check(stream(), c);
      }
    }
  }
}

TEST_P(SmallProblemsTest, AreCastByWhatBeginsSoonest) {
  const auto kernel = [](std::int64_t elements) {
    const TensorView in(nullptr, DType::f32, {elements}), out(nullptr, DType::f16, {elements});
    return plan_cast(DeviceProperties::h200(), in, out).details().kernel;
  };
  EXPECT_EQ(kernel(10000), CopyKernel::gather);
  EXPECT_EQ(kernel(10000000), CopyKernel::stream);
}

}  // namespace
}  // namespace relayout::test
