// copy of rows: short ones of every length and step, those that are moved as elements, casts of them, and
// rows that lie far apart, bit for bit against plain loops.
#include <gtest/gtest.h>

#include <cstdint>
#include <utility>

#include "tests/support/copy_case.hpp"

namespace relayout::test {
namespace {

class CopyRowsTest : public DeviceTest {};
INSTANTIATE_TEST_SUITE_P(Devices, CopyRowsTest, ::testing::ValuesIn(test_devices()), device_test_name);

TEST_P(CopyRowsTest, ShortRowsOfEveryLength) {
  for (std::int64_t row = 1; row <= 50; ++row) {
    for (const DType type : {DType::u8, DType::f32}) {
      check(stream(), move_of(type, {5, 7, row}, {7 * row + 30, row + 3, 1}, {5, 7, row}, {}));
      check(stream(),
            move_of(type, {5, 7, row}, {row, 5 * row, 1}, {5, 7, row}, {8 * (row + 2), row + 2, 1}));
    }
  }
}

TEST_P(CopyRowsTest, RowsOfEveryStep) {
  for (const DType type : {DType::u8, DType::f16, DType::f32, DType::f64}) {
    for (const std::int64_t step : {-4, -2, -1, 0, 2, 3, 4, 5, 17}) {
      check(stream(), move_of(type, {9, 50}, {5 * 50 * 17, step}, {9, 50}, {}));
      check(stream(), move_of(type, {3, 9, 50}, {1, 50 * 17, 3 * step}, {3, 9, 50}, {9 * 53, 53, 1}));
    }
  }
}

/// Planes of the output's fastest axis and of several short ones that the input has side by side.
TEST_P(CopyRowsTest, ShortAxesThatLieSideBySide) {
  for (const DType type : {DType::u8, DType::f16, DType::f32, DType::f64}) {
    check(stream(), move_of(type, {3, 20, 33}, {1, 3, 60}, {3, 20, 33}, {}));
    check(stream(), move_of(type, {5, 4, 3, 6, 33}, {72 * 33, 3, 1, 12, 72}, {5, 4, 3, 6, 33}, {}));
    check(stream(), move_of(type, {3, 20, 2, 33}, {2, 6, 1, 125}, {3, 20, 2, 33}, {20 * 2 * 35, 70, 35, 1}));
    check(stream(), move_of(type, {3, 20, 32}, {-1, -3, -60}, {3, 20, 32}, {}));
  }
}

/// Rows of 2 to 16 bytes are moved as one element each, where they begin on multiples of their size.
TEST_P(CopyRowsTest, ShortestRowsAreMovedAsElements) {
  for (const DType type : {DType::u8, DType::f16, DType::f32, DType::f64}) {
    for (const std::int64_t row : {2, 3, 4, 8, 16}) {
      const auto nest = [&](std::int64_t step, std::int64_t pitch) {
        return move_of(type, {21, 17, row}, {step, 21 * pitch, 1}, {21, 17, row}, {});
      };
      check(stream(), nest(row, row));
      check(stream(), nest(2 * row, 2 * row));
      check(stream(), nest(row + 1, row + 1));  // rows that begin inside an element
      check(stream(), nest(row, row + 1));
      check(stream(), nest(-row, 2 * row));
      check(stream(), nest(0, row));
      CopyCase misaligned = nest(row, row);
      misaligned.in_misaligned = 1;
      check(stream(), misaligned);
      misaligned.out_misaligned = 1;
      check(stream(), misaligned);
      CopyCase spread = nest(row, row);
      spread.out_strides = {17 * 2 * row, 2 * row, 1};
      check(stream(), spread);
      spread.out_strides = {17 * (row + 1), row + 1, 1};
      check(stream(), spread);
    }
  }
}

/// Short rows that are converted: from one piece of memory, which is not gathered first, and from rows with
/// gaps, turned around and repeated ones.
TEST_P(CopyRowsTest, CastsOfShortRows) {
  const std::pair<DType, DType> casts[] = {
      {DType::f32, DType::f16}, {DType::u8, DType::i64}, {DType::f64, DType::i16}};
  for (const auto& [from, to] : casts) {
    for (const std::int64_t row : {1, 5, 16, 31, 63}) {
      for (const std::int64_t gap : {0, 1, 3}) {
        for (const std::int64_t step : {row + gap, -(row + gap), std::int64_t{0}}) {
          CopyCase c = move_of(from, {9, 33, row}, {34 * (row + gap), step, 1}, {9, 33, row},
                               {33 * (row + 2), row + 2, 1});
          c.out_type = to;
          c.in_misaligned = gap;
          check(stream(), c);
          c.in_strides[0] = 33 * step;
          check(stream(), c);
        }
      }
    }
  }
}

/// Strided rows that are converted together where they follow each other in the output, in several pieces, or
/// that are long, in several pieces each.
TEST_P(CopyRowsTest, CastsOfStridedRows) {
  const std::pair<DType, DType> casts[] = {
      {DType::f64, DType::f32}, {DType::u16, DType::u8}, {DType::u8, DType::i64}, {DType::f32, DType::f16}};
  for (const auto& [from, to] : casts) {
    for (const std::int64_t row : {7, 8, 13, 64, 200, 1100}) {
      for (const std::int64_t step : {-3, -1, 2, 3, 5}) {
        const std::int64_t pitch = row * (step < 0 ? -step : step) + 3, rows = row < 64 ? 30 : 3;
        for (const std::int64_t gap : {0, 1}) {
          CopyCase c = move_of(from, {3, rows, row}, {(rows + 1) * pitch, pitch, step}, {3, rows, row},
                               {rows * (row + gap), row + gap, 1});
          c.out_type = to;
          check(stream(), c);
        }
      }
    }
  }
}

/// Several boxes of short strided rows that follow each other within a line, to one piece and to rows with
/// gaps.
TEST_P(CopyRowsTest, ShortStridedRowsThatFollowEachOther) {
  for (const DType type : {DType::u8, DType::f16, DType::f32, DType::f64}) {
    for (const std::int64_t row : {2, 5, 7, 9}) {
      for (const std::int64_t step : {2, 3, 5}) {
        const std::int64_t pitch = row * step + 1;
        check(stream(), move_of(type, {9, 500, row}, {500 * pitch, pitch, step}, {9, 500, row}, {}));
        check(stream(), move_of(type, {9, 500, row}, {500 * pitch, pitch, step}, {9, 500, row},
                                {500 * row + 1, row, 1}));
      }
    }
  }
}

/// Rows that begin at every place of a line, or at most of them.
TEST_P(CopyRowsTest, LongRowsToEveryPlace) {
  for (const std::int64_t row : {1000, 1024, 1152, 1200, 2500}) {
    check(stream(), move_of(DType::u8, {64, row}, {row + 3, 1}, {64, row}, {row + 63, 1}));
    check(stream(), move_of(DType::f16, {8, row}, {row, 1}, {8, row}, {row + 5, 1}));
  }
}

/// Rows that lie further apart than a line, in several boxes, to rows that begin on a line and to others.
TEST_P(CopyRowsTest, RowsThatLieFarApart) {
  for (const DType type : {DType::u8, DType::f16, DType::f32, DType::f64}) {
    const auto size = static_cast<std::int64_t>(size_of(type));
    for (const std::int64_t bytes : {120, 128, 136, 200, 256, 520}) {
      const std::int64_t row = bytes / size, pitch = row + 64 / size;
      check(stream(), move_of(type, {150, row}, {pitch, 1}, {150, row}, {}));
      check(stream(), move_of(type, {150, row}, {pitch - 1, 1}, {150, row}, {}));
      CopyCase turned = move_of(type, {3, 50, row}, {-51 * pitch, 2 * pitch, 1}, {3, 50, row}, {});
      turned.in_misaligned = turned.out_misaligned = 1;
      check(stream(), turned);
      check(stream(), move_of(type, {3, 50, row}, {0, pitch, 1}, {3, 50, row}, {51 * pitch, pitch, 1}));
    }
  }
}

}  // namespace
}  // namespace relayout::test
