// Copies between two pieces of memory: every pair of types around the ends of vectors and blocks.
#include <gtest/gtest.h>

#include <utility>
#include <vector>

#include "core/integer_math.hpp"
#include "tests/cases/permute_shorthand.hpp"
#include "tests/support/checks.hpp"
#include "tests/support/copy_by.hpp"
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
  void move_by_stream(const PermuteCase& c) {
    check_copy(stream(), c, [&](const TensorView& in, const TensorView& out) {
      copy_by(stream(), CopyKernel::stream, in.permuted(c.axes), out, {});
    });
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

/// Words as long as both sides' alignment allows; below 4 bytes vectors of the aligned words around them.
TEST_P(StreamTest, MovesInWordsOfBothSides) {
  for (const DType type : cases::kOneTypePerSize) {
    for (const std::int64_t elements : {4099, 40007}) {
      for (const std::int64_t misaligned : {1, 2, 4, 8}) {
        PermuteCase c = move_of(type, {elements}, {0});
        (elements == 4099 ? c.in_misaligned : c.out_misaligned) = misaligned;
        move_by_stream(c);
      }
    }
  }
}

/// Rows of 1 KiB and more with gaps between them; a block has a part of one.
TEST_P(StreamTest, MovesRows) {
  for (const DType type : cases::kOneTypePerSize) {
    const auto size = static_cast<std::int64_t>(size_of(type));
    for (const std::int64_t bytes : {1024, 1100, 16384, 16400, 40004}) {
      const std::int64_t row = divide_up(bytes, size), gap = divide_up(std::int64_t{4}, size);
      for (const std::int64_t pitch : {row + gap, row + 4 * gap, round_up(row, 16 / size) + 16 / size}) {
        PermuteCase c = move_of(type, {3, 2, row}, {0, 1, 2}, {2 * pitch, pitch, 1}, {pitch, 3 * pitch, 1});
        move_by_stream(c);
        c.in_misaligned = gap;
        move_by_stream(c);
      }
      PermuteCase reversed = move_of(type, {3, row}, {0, 1}, {-row - 4 * gap, 1}, {row + 8 * gap, 1});
      move_by_stream(reversed);
      move_by_stream(move_of(type, {3, row}, {0, 1}, {0, 1}, {row + 8 * gap, 1}));
    }
  }
}

/// Rows of 1 and 2 bytes an element that begin anywhere: a vector's elements lie in one word of the input or
/// in two, and rows end inside vectors.
TEST_P(StreamTest, MovesRowsFromAnyAddress) {
  for (const DType type : {DType::u8, DType::f16}) {
    const auto size = static_cast<std::int64_t>(size_of(type));
    for (const std::int64_t bytes : {2048, 2050, 4094, 8190, 8194, 24586}) {
      const std::int64_t row = bytes / size;
      for (const std::int64_t gap : {1, 3, 6}) {
        PermuteCase c = move_of(type, {3, 2, row}, {0, 1, 2}, {2 * row + 2 * gap, row + gap, 1},
                                {row + 1, 3 * row + 5, 1});
        c.in_misaligned = gap;
        c.out_misaligned = gap / 2;
        move_by_stream(c);
      }
      move_by_stream(move_of(type, {3, row}, {0, 1}, {-row - 3, 1}, {row + 5, 1}));
      move_by_stream(move_of(type, {3, row}, {0, 1}, {0, 1}, {row + 1, 1}));
    }
  }
}

TEST_P(StreamTest, CastsRowsFromAnyAddress) {
  using Types = std::pair<DType, DType>;
  for (const auto& [in_type, out_type] : {Types{DType::bf16, DType::f16}, Types{DType::f16, DType::e4m3fn},
                                          Types{DType::i8, DType::bf16}, Types{DType::u16, DType::bool_}}) {
    for (const std::int64_t row : {2048, 2049, 2063, 4095, 9001}) {
      PermuteCase c =
          move_of(in_type, {2, 3, row}, {0, 1, 2}, {3 * row + 9, row + 3, 1}, {3 * row + 4, row + 1, 1});
      c.out_type = out_type;
      c.in_misaligned = 1;
      move_by_stream(c);
      c.out_misaligned = 3;
      move_by_stream(c);
    }
    PermuteCase one = move_of(in_type, {5003}, {0});
    one.out_type = out_type;
    one.in_misaligned = 3;
    move_by_stream(one);
  }
}

/// Large moves, whose lanes have one vector each: in one piece, in words and in long rows.
TEST_P(StreamTest, MovesMuchByShortLanes) {
  for (const DType type : {DType::u8, DType::f16, DType::i64}) {
    const std::int64_t elements = (std::int64_t{640} << 10) / static_cast<std::int64_t>(size_of(type)) + 5;
    move_by_stream(move_of(type, {elements}, {0}));
    PermuteCase words = move_of(type, {elements}, {0});
    words.in_misaligned = words.out_misaligned = type == DType::u8 ? 4 : type == DType::f16 ? 2 : 1;
    move_by_stream(words);
    move_by_stream(move_of(type, {2, elements / 2}, {0, 1}, {elements, 1}, {elements / 2 + 16, 1}));
  }
}

}  // namespace
}  // namespace relayout::test
