// The rows kernel, whatever the planner prefers: rows of every length around a vector's, from every place of
// a 16-byte word to every other one, steps, gaps on both sides, and casts between all sizes.
#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "tests/cases/permute_shorthand.hpp"
#include "tests/support/checks.hpp"
#include "tests/support/copy_by.hpp"
#include "tests/support/devices.hpp"
#include "tests/support/element_types.hpp"
#include "tests/support/guarded_memory.hpp"

namespace relayout::test {
namespace {

using cases::identity;
using cases::move_of;
using cases::PermuteCase;

class RowsTest : public DeviceTest {
 protected:
  /// Checks the case by this kernel, and says how it reads.
  RowsRead check_rows(const PermuteCase& c) {
    RowsRead read = RowsRead::elements;
    check_copy(stream(), c, [&](const TensorView& in, const TensorView& out) {
      const plan::CopyCandidate taken =
          copy_by(stream(), CopyKernel::rows, in.permuted(c.axes), out, {c.scale, c.indirect, c.options});
      if (const auto* rows = std::get_if<RowsParams>(&taken.params)) read = rows->read;
    });
    return read;
  }
  /// The same by neighbouring lanes for neighbouring elements.
  void check_lanes(const PermuteCase& c) {
    SCOPED_TRACE(std::string(name_of(c.in_type)) + " to " + name_of(c.out_type));
    check_copy(stream(), c, [&](const TensorView& in, const TensorView& out) {
      launch_lanes(in.permuted(c.axes), out, {c.scale, c.indirect, c.options});
    });
  }
  void launch_lanes(const TensorView& in, const TensorView& out, const CopyPlanOptions& options) {
    plan::PlannedCopy planned = plan_copy_of("copy", device(), in, out, options);
    if (!is_native()) {
      const plan::CopyCandidate lanes = plan::rows_candidate(planned, device().properties(), true);
      ASSERT_TRUE(lanes.possible) << lanes.reason;
      EXPECT_EQ(std::get<RowsParams>(lanes.params).read, RowsRead::lanes);
      static_cast<plan::CopyCandidate&>(planned) = lanes;
    }
    launch_copy(stream(), planned, {in.data(), out.data()});
  }
};
INSTANTIATE_TEST_SUITE_P(Devices, RowsTest, ::testing::ValuesIn(test_devices()), device_test_name);

/// A slice of `columns` of a matrix of `pitch`.
PermuteCase slice_of(DType type, std::int64_t rows, std::int64_t columns, std::int64_t pitch) {
  return move_of(type, {rows, columns}, {0, 1}, {pitch, 1});
}

TEST_P(RowsTest, OfEveryLengthFromEveryPlace) {
  for (const DType type : cases::kOneTypePerSize) {
    const auto vector = static_cast<std::int64_t>(16 / size_of(type));
    for (const std::int64_t columns : {2, 3, 4, 5, 7, 8, 9, 15, 16, 17, 31, 33}) {
      for (std::int64_t in = 0; in < vector; in += std::max<std::int64_t>(1, vector / 5)) {
        PermuteCase c = slice_of(type, 41, columns, columns + 1 + in % 7);
        c.in_misaligned = in;
        c.out_misaligned = (3 * in + columns) % vector;
        const RowsRead read = check_rows(c);
        EXPECT_EQ(read == RowsRead::pieces, !is_native() && columns >= vector);
      }
    }
  }
}

TEST_P(RowsTest, OnePieceOfMemoryAroundTheEndsOfBlocks) {
  for (const DType type : cases::kOneTypePerSize) {
    const std::int64_t block = std::int64_t{kRowsThreads} * rows_vectors_per_thread(RowsRead::pieces) * 16 /
                               static_cast<std::int64_t>(size_of(type));
    for (const std::int64_t extent : {std::int64_t{2}, block - 1, block, block + 1, 2 * block + 1}) {
      for (const std::int64_t misaligned : {0, 1}) {
        PermuteCase c = move_of(type, {extent}, {0});
        c.in_misaligned = 1;
        c.out_misaligned = misaligned;
        check_rows(c);
      }
    }
  }
}

TEST_P(RowsTest, VectorsInFrontOfTheFirstRowOfABlock) {
  for (const DType type : cases::kOneTypePerSize) {
    const std::int64_t block = std::int64_t{kRowsThreads} * rows_vectors_per_thread(RowsRead::pieces) * 16 /
                               static_cast<std::int64_t>(size_of(type));
    PermuteCase c = slice_of(type, 3, block, block + 1);
    c.out_misaligned = 1;
    check_rows(c);
  }
}

TEST_P(RowsTest, OfStepsAndRepeats) {
  for (const DType type : cases::kOneTypePerSize) {
    for (const std::int64_t step : {2, 3, -1, -2, 0, 40}) {
      PermuteCase c = move_of(type, {515}, {0}, {step});
      c.in_misaligned = 1;
      c.out_misaligned = 1;
      check_rows(c);
      check_rows(move_of(type, {7, 13}, {0, 1}, {step == 0 ? 0 : 13 * step + 1, step}));
    }
    check_rows(move_of(type, {9, 20}, {0, 1}, {-23, 1}));
    check_rows(move_of(type, {9, 20}, {0, 1}, {0, 1}));
    check_rows(move_of(type, {13, 19}, {1, 0}));
    check_rows(move_of(type, {3, 5, 7, 11}, {2, 0, 1, 3}, {5 * 7 * 13, 7 * 13, 13, 1}));
  }
}

TEST_P(RowsTest, ToRunsWithGaps) {
  for (const DType type : cases::kOneTypePerSize) {
    for (const std::int64_t columns : {2, 3, 5, 8, 16, 29, 64}) {
      for (const std::int64_t gap : {1, 8, 16}) {
        PermuteCase c = move_of(type, {37, columns}, {0, 1}, {}, {columns + gap, 1});
        check_rows(c);
        c.in_strides = {columns + 3, 1};
        c.out_misaligned = columns == 16 && gap == 16 ? 0 : 1;
        check_rows(c);
      }
    }
    check_rows(move_of(type, {3, 4, 5, 6}, identity(4), {151, 37, 7, 1}, {200, 40, 6, 1}));
    check_rows(move_of(type, {3, 4, 5, 6}, {1, 3, 0, 2}, {}, {99, 16, 5, 1}));
  }
}

TEST_P(RowsTest, CastBetweenAllSizes) {
  const std::vector<DType> types{DType::u8,   DType::bool_, DType::e4m3fn, DType::i16, DType::f16,
                                 DType::bf16, DType::i32,   DType::f32,    DType::u64, DType::f64};
  for (const DType from : types) {
    for (const DType to : types) {
      if (from == to) continue;
      for (const std::int64_t columns : {3, 6, 21}) {
        PermuteCase c = slice_of(from, 33, columns, columns + 2);
        c.out_type = to;
        c.in_misaligned = 1;
        c.out_misaligned = columns % 2;
        check_rows(c);
      }
    }
  }
}

TEST_P(RowsTest, CastByLanesBetweenAllTypes) {
  for (const DType from : kCastableTypes) {
    for (const DType to : kCastableTypes) {
      if (from == to || size_of(from) == size_of(to)) continue;
      PermuteCase c = slice_of(from, 23, 13, 15);
      c.out_type = to;
      c.out_strides = {14, 1};
      c.in_misaligned = 1;
      c.out_misaligned = 3;
      check_lanes(c);
    }
  }
}

TEST_P(RowsTest, CastByLanesOfRowsOfEveryLength) {
  const std::vector<std::pair<DType, DType>> pairs{{DType::u8, DType::e4m3fn}, {DType::e5m2, DType::f16},
                                                   {DType::u16, DType::u8},    {DType::f16, DType::i32},
                                                   {DType::f32, DType::bf16},  {DType::i32, DType::f32},
                                                   {DType::i64, DType::bool_}, {DType::i8, DType::f64}};
  for (const auto& pair : pairs) {
    for (const std::int64_t columns : {2, 5, 31, 32, 33, 223, 224, 225, 1024, 4099}) {
      PermuteCase c = slice_of(pair.first, 1 + 5000 / columns, columns, columns + 3);
      c.out_type = pair.second;
      c.in_misaligned = columns % 3;
      c.out_misaligned = columns % 5;
      check_lanes(c);
      c.out_strides = {columns + 1, 1};
      check_lanes(c);
    }
  }
}

TEST_P(RowsTest, CastByLanesAroundTheEndsOfBlocks) {
  for (const DType to : {DType::e4m3fn, DType::i64}) {
    const std::int64_t lane = to == DType::i64 ? 4 : 8;
    const std::int64_t block = lane * kRowsThreads * rows_vectors_per_thread(RowsRead::lanes);
    for (const std::int64_t extent :
         {std::int64_t{1}, std::int64_t{2}, block - 1, block, block + 1, 2 * block + 33}) {
      PermuteCase c = move_of(DType::u8, {extent}, {0});
      c.out_type = to;
      c.in_misaligned = 1;
      c.out_misaligned = 1;
      if (extent > 1) check_lanes(c);
      c = move_of(DType::u8, {extent, 3}, {0, 1}, {5, 1}, {4, 1});
      c.out_type = to;
      check_lanes(c);
    }
  }
}

TEST_P(RowsTest, CastByLanesOfStepsAndManyAxes) {
  for (const DType to : {DType::bool_, DType::f16, DType::f32, DType::i64}) {
    const auto cast_to = [&](PermuteCase c) {
      c.out_type = to;
      check_lanes(c);
    };
    for (const std::int64_t step : {2, 3, -1, 0, 40}) {
      cast_to(move_of(DType::u16, {515}, {0}, {step}));
      cast_to(move_of(DType::u16, {7, 13}, {0, 1}, {step == 0 ? 0 : 13 * step + 1, step}));
    }
    cast_to(move_of(DType::i8, {9, 20}, {0, 1}, {-23, 1}));
    cast_to(move_of(DType::i8, {13, 19}, {1, 0}));
    cast_to(move_of(DType::i8, {3, 4, 5, 6}, identity(4), {151, 37, 7, 1}, {200, 40, 6, 1}));
    cast_to(move_of(DType::i8, {3, 4, 5, 6}, {1, 3, 0, 2}, {}, {99, 16, 5, 1}));
  }
}

TEST_P(RowsTest, CastByLanesThroughSlots) {
  PermuteCase c = slice_of(DType::u16, 41, 17, 23);
  c.out_type = DType::u8;
  c.in_misaligned = c.out_misaligned = 1;
  const plan::CopyProblem problem =
      plan::copy_problem(TensorView(nullptr, DType::u16, {41, 17}, {23, 1}),
                         TensorView(nullptr, DType::u8, {41, 17}, {19, 1}), {c.scale, true});
  const plan::CopyCandidate taken = plan::rows_candidate(problem, DeviceProperties::h200());
  EXPECT_EQ(std::get<RowsParams>(taken.params).read, RowsRead::lanes);
  c.indirect = true;
  c.out_strides = {19, 1};
  check(stream(), c);
}

TEST_P(RowsTest, ThroughSlots) {
  for (const DType type : cases::kOneTypePerSize) {
    PermuteCase c = slice_of(type, 41, 17, 23);
    c.indirect = true;
    c.in_misaligned = 1;
    c.out_misaligned = 1;
    const plan::CopyProblem problem = plan::copy_problem(
        TensorView(nullptr, type, {41, 17}, {23, 1}), TensorView(nullptr, type, {41, 17}), {c.scale, true});
    EXPECT_TRUE(plan::rows_candidate(problem, DeviceProperties::h200()).possible);
    check(stream(), c);
  }
}

/// Inputs and outputs of which no byte beyond an end may be touched.
class GuardedRowsTest : public RowsTest {};
INSTANTIATE_TEST_SUITE_P(Devices, GuardedRowsTest, ::testing::ValuesIn(host_memory_devices()),
                         device_test_name);

TEST_P(GuardedRowsTest, NothingIsReadOrWrittenPastTheEnds) {
  for (const DType type : cases::kOneTypePerSize) {
    const std::size_t size = size_of(type);
    for (const GuardedEnd end : {GuardedEnd::before_first, GuardedEnd::behind_last}) {
      for (const std::int64_t columns : {3, 17, 33}) {
        for (const bool backwards : {false, true}) {
          const std::int64_t rows = 21, pitch = columns + 2;
          const GuardedMemory source(static_cast<std::size_t>((rows - 1) * pitch + columns) * size, end);
          const GuardedMemory destination(static_cast<std::size_t>(rows * columns) * size, end);
          TensorView in(source.data(), type, {rows, columns}, {pitch, 1});
          const TensorView out(destination.data(), type, {rows, columns});
          fill_bits(in);
          if (backwards) in = TensorView(element_at(in, (rows - 1) * pitch), type, in.shape(), {-pitch, 1});
          copy_by(stream(), CopyKernel::rows, in, out, {});
          EXPECT_TRUE(same_elements(in, out, NanRule::exact)) << columns << " columns of " << name_of(type);
        }
      }
    }
  }
}

TEST_P(GuardedRowsTest, LanesReadAndWriteNothingPastTheEnds) {
  for (const GuardedEnd end : {GuardedEnd::before_first, GuardedEnd::behind_last}) {
    for (const std::int64_t columns : {3, 17, 300, 2100}) {
      const std::int64_t rows = 21, pitch = columns + 2;
      const GuardedMemory source(static_cast<std::size_t>((rows - 1) * pitch + columns) * 2, end);
      const GuardedMemory destination(static_cast<std::size_t>((rows - 1) * pitch + columns), end);
      const TensorView in(source.data(), DType::u16, {rows, columns}, {pitch, 1});
      const TensorView out(destination.data(), DType::u8, {rows, columns}, {pitch, 1});
      fill_bits(in);
      launch_lanes(in, out, {});
      stream().synchronize();
      for (std::int64_t row = 0; row < rows; ++row) {
        for (std::int64_t column = 0; column < columns; ++column) {
          const std::int64_t at = row * pitch + column;
          ASSERT_EQ(static_cast<const std::uint8_t*>(destination.data())[at],
                    reinterpret_cast<const std::uint16_t*>(source.data())[at] & 0xff);
        }
      }
    }
  }
}

TEST(RowsPlan, SaysWhatItDoesNotTake) {
  DeviceProperties gpu;
  const auto reason = [&](const TensorView& in, const TensorView& out, const CopyPlanOptions& options) {
    const plan::CopyCandidate rows = plan::rows_candidate(plan::copy_problem(in, out, options), gpu);
    EXPECT_FALSE(rows.possible);
    return std::string(rows.reason);
  };
  const TensorView matrix(nullptr, DType::f32, {8, 8}), columns(nullptr, DType::f32, {8, 8}, {16, 2});
  EXPECT_NE(reason(matrix, columns, {}).find("follow each other"), std::string::npos);
  CopyPlanOptions scaled;
  scaled.scale = {2, 0};
  EXPECT_NE(reason(matrix, matrix, scaled).find("alpha"), std::string::npos);
  CopyPlanOptions rounded;
  rounded.cast.rounding = Rounding::up;
  EXPECT_NE(reason(matrix, TensorView(nullptr, DType::i32, {8, 8}), rounded).find("default"),
            std::string::npos);
}

}  // namespace
}  // namespace relayout::test
