// copy and contiguous: elements by flat index between any two shapes and layouts, bit for bit against plain
// loops.
#include <gtest/gtest.h>

#include <cstdint>
#include <ostream>
#include <utility>
#include <vector>

#include "host/reference/permute.hpp"
#include "tests/cases/permute_shorthand.hpp"
#include "tests/support/checks.hpp"
#include "tests/support/devices.hpp"
#include "tests/support/element_types.hpp"
#include "tests/support/expect_error.hpp"
#include "tests/support/random_strides.hpp"

namespace relayout::test {
namespace {

/// Empty strides: contiguous.
struct CopyCase {
  DType in_type = DType::f32, out_type = DType::f32;
  Dims in_shape, in_strides, out_shape, out_strides;
  std::int64_t in_misaligned = 0, out_misaligned = 0;  // elements
};

std::ostream& operator<<(std::ostream& out, const CopyCase& c) {
  return out << "copy " << cases::describe(c.in_type, c.in_shape, c.in_strides, c.in_misaligned) << " to "
             << cases::describe(c.out_type, c.out_shape, c.out_strides, c.out_misaligned);
}

void check(const Stream& stream, const CopyCase& c, std::uint64_t seed = 1) {
  SCOPED_TRACE(::testing::Message() << c);
  GuardedBuffer in(stream, Role::input, c.in_type, c.in_shape, c.in_strides, c.in_misaligned);
  GuardedBuffer out(stream, Role::output, c.out_type, c.out_shape, c.out_strides, c.out_misaligned);
  fill_for(in.host(), c.out_type, seed);
  run_and_compare(
      in, out, [&](const TensorView& from, const TensorView& to) { copy(stream, from, to); },
      [](const TensorView& from, const TensorView& to) { reference::copy(from, to); });
}

CopyCase move_of(DType type, Dims in_shape, Dims in_strides, Dims out_shape, Dims out_strides) {
  CopyCase c;
  c.in_type = c.out_type = type;
  c.in_shape = std::move(in_shape);
  c.in_strides = std::move(in_strides);
  c.out_shape = std::move(out_shape);
  c.out_strides = std::move(out_strides);
  return c;
}

class CopyTest : public DeviceTest {};
INSTANTIATE_TEST_SUITE_P(Devices, CopyTest, ::testing::ValuesIn(test_devices()), device_test_name);

TEST_P(CopyTest, HeadsToRows) {
  // Byte strides (106496, 512, 6656, 4) and (8192, 4).
  check(stream(), move_of(DType::f32, {1, 13, 16, 128}, {26624, 128, 1664, 1}, {13, 2048}, {2048, 1}));
}

TEST_P(CopyTest, ShapesWithANestInCommon) {
  for (const DType type : {DType::u8, DType::f16, DType::f32, DType::i64}) {
    check(stream(), move_of(type, {4, 6}, {}, {6, 4}, {}));
    check(stream(), move_of(type, {4, 6}, {10, 1}, {2, 12}, {20, 1}));
    check(stream(), move_of(type, {4, 6}, {1, 4}, {24}, {}));
    check(stream(), move_of(type, {24}, {3}, {2, 3, 4}, {1, 10, 40}));
    check(stream(), move_of(type, {60, 35}, {36, 1}, {3, 20, 5, 7}, {1, 5 * 63, 63, 3}));
    check(stream(), move_of(type, {60, 32}, {1, 64}, {3, 20, 4, 8}, {}));
    check(stream(), move_of(type, {1, 64, 1, 48}, {5, 1, 7, 64}, {64, 6, 8, 1}, {}));
    check(stream(), move_of(type, {64, 48}, {0, 1}, {8, 8, 48}, {}));
    check(stream(), move_of(type, {64, 48}, {-48, -1}, {3072}, {-2}));
  }
}

/// Boundaries that cross: the place of every element is computed on both sides.
TEST_P(CopyTest, ShapesWithoutANestInCommon) {
  for (const DType type : {DType::u8, DType::f16, DType::f32, DType::i64}) {
    check(stream(), move_of(type, {4, 6}, {7, 1}, {6, 4}, {5, 1}));
    check(stream(), move_of(type, {4, 6}, {1, 5}, {6, 4}, {1, 7}));
    check(stream(), move_of(type, {3, 4, 6}, {50, 7, 1}, {3, 6, 4}, {40, 5, 1}));
    check(stream(), move_of(type, {35, 33}, {34, 1}, {33, 35}, {36, 1}));
    check(stream(), move_of(type, {35, 33}, {-34, 2}, {33, 35}, {1, 40}));
    check(stream(), move_of(type, {6, 35}, {0, 1}, {14, 15}, {-16, 1}));
    check(stream(), move_of(type, {2, 3, 5, 7}, {1, 2, 7, 36}, {7, 5, 3, 2}, {1, 8, 41, 130}));
  }
}

TEST_P(CopyTest, ShortRowsOfEveryLength) {
  for (std::int64_t row = 1; row <= 50; ++row) {
    for (const DType type : {DType::u8, DType::f32}) {
      check(stream(), move_of(type, {5, 7, row}, {7 * row + 30, row + 3, 1}, {5, 7, row}, {}));
      check(stream(),
            move_of(type, {5, 7, row}, {row, 5 * row, 1}, {5, 7, row}, {8 * (row + 2), row + 2, 1}));
    }
  }
}

TEST_P(CopyTest, RowsOfEveryStep) {
  for (const DType type : {DType::u8, DType::f16, DType::f32, DType::f64}) {
    for (const std::int64_t step : {-4, -2, -1, 0, 2, 3, 4, 5, 17}) {
      check(stream(), move_of(type, {9, 50}, {5 * 50 * 17, step}, {9, 50}, {}));
      check(stream(), move_of(type, {3, 9, 50}, {1, 50 * 17, 3 * step}, {3, 9, 50}, {9 * 53, 53, 1}));
    }
  }
}

/// Planes of the output's fastest axis and of several short ones that the input has side by side.
TEST_P(CopyTest, ShortAxesThatLieSideBySide) {
  for (const DType type : {DType::u8, DType::f16, DType::f32, DType::f64}) {
    check(stream(), move_of(type, {3, 20, 33}, {1, 3, 60}, {3, 20, 33}, {}));
    check(stream(), move_of(type, {5, 4, 3, 6, 33}, {72 * 33, 3, 1, 12, 72}, {5, 4, 3, 6, 33}, {}));
    check(stream(), move_of(type, {3, 20, 2, 33}, {2, 6, 1, 125}, {3, 20, 2, 33}, {20 * 2 * 35, 70, 35, 1}));
    check(stream(), move_of(type, {3, 20, 32}, {-1, -3, -60}, {3, 20, 32}, {}));
  }
}

/// Rows of 2 to 16 bytes are moved as one element each, where they begin on multiples of their size.
TEST_P(CopyTest, ShortestRowsAreMovedAsElements) {
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
TEST_P(CopyTest, CastsOfShortRows) {
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

/// Rows that lie further apart than a line, in several boxes, to rows that begin on a line and to others.
TEST_P(CopyTest, RowsThatLieFarApart) {
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

/// Enough for the native code to use all its threads, each of which starts in the middle of rows.
TEST_P(CopyTest, ManyElementsWithoutANestInCommon) {
  check(stream(), move_of(DType::f16, {301, 307}, {311, 1}, {307, 301}, {302, 1}));
}

/// Runs of 700 and 1400 elements.
TEST_P(CopyTest, ScaledLongRuns) {
  for (const DType from : {DType::f16, DType::bf16, DType::f32})
    for (const DType to : {DType::f16, DType::f32}) {
      GuardedBuffer in(stream(), Role::input, from, {3, 1400}, {1500, 1}),
          out(stream(), Role::output, to, {2, 2100}, {2200, 1});
      fill_values(in.host());
      fill_values(out.host(), 2);
      in.upload();
      out.upload();
      copy(stream(), in.device(), out.device(), {0.1, -3});
      reference::copy(in.host(), out.host(), {0.1, -3});
      EXPECT_TRUE(out.check()) << name_of(from) << " to " << name_of(to);
    }
}

TEST_P(CopyTest, Casts) {
  const std::vector<DType> floats{DType::f16, DType::bf16, DType::f32, DType::f64};
  for (const DType from : floats) {
    for (const DType to : floats) {
      CopyCase c = move_of(from, {12, 10}, {11, 1}, {10, 12}, {13, 1});
      c.out_type = to;
      check(stream(), c);
      c = move_of(from, {12, 10}, {1, 12}, {4, 3, 10}, {});
      c.out_type = to;
      check(stream(), c);
    }
  }
}

TEST_P(CopyTest, OneElementAndNone) {
  check(stream(), move_of(DType::f32, {}, {}, {1, 1, 1}, {}));
  check(stream(), move_of(DType::f32, {1, 1}, {5, 7}, {}, {}));
  check(stream(), move_of(DType::f32, {0, 3}, {}, {2, 0, 5}, {}));
  EXPECT_NO_THROW(
      copy(stream(), TensorView(nullptr, DType::f32, {0, 3}), TensorView(nullptr, DType::f32, {0})));
}

/// Every element type moves as bytes.
TEST_P(CopyTest, EveryType) {
  for (const DType type : kCastableTypes) check(stream(), move_of(type, {33, 36}, {1, 34}, {12, 99}, {}));
}

/// The same memory as 16-byte elements; the last axis of u64 pairs goes.
TensorView as_pairs(const TensorView& halves) {
  Dims shape = halves.shape(), strides = halves.strides();
  shape.pop_back();
  strides.pop_back();
  for (std::int64_t& stride : strides) stride /= 2;
  return TensorView(halves.data(), DType::b128, shape, strides);
}

TEST_P(CopyTest, SixteenBytes) {
  struct Case {
    Dims shape, in_strides, out_shape, out_strides;  // of u64 halves
    std::int64_t misaligned;
  };
  for (const Case& c :
       {Case{{37, 41, 2}, {82, 2, 1}, {37, 41, 2}, {2, 74, 1}, 0},
        Case{{64, 32, 2}, {2, 128, 1}, {64, 32, 2}, {}, 0},
        Case{{64, 32, 2}, {2, 130, 1}, {64, 32, 2}, {68, 2, 1}, 1},
        Case{{5, 6, 7, 2}, {-84, 2, 12, 1}, {7, 30, 2}, {}, 0}, Case{{300, 2}, {}, {300, 2}, {}, 0},
        Case{{4, 6, 2}, {14, 2, 1}, {6, 4, 2}, {10, 2, 1}, 1}}) {
    SCOPED_TRACE(to_string(c.shape) + " strides " + to_string(c.in_strides));
    GuardedBuffer in(stream(), Role::input, DType::u64, c.shape, c.in_strides, c.misaligned),
        out(stream(), Role::output, DType::u64, c.out_shape, c.out_strides, c.misaligned);
    fill_bits(in.host());
    run_and_compare(
        in, out,
        [&](const TensorView& from, const TensorView& to) { copy(stream(), as_pairs(from), as_pairs(to)); },
        [](const TensorView& from, const TensorView& to) { reference::copy(from, to); });
  }
  const TensorView pairs(nullptr, DType::b128, {2, 3});
  expect_error(ErrorCode::dtype, {"b128", "u64"}, [&] {
    copy(stream(), pairs, TensorView(nullptr, DType::u64, {2, 3}));
  });
  expect_error(ErrorCode::dtype, {"b128"}, [&] {
    pad(stream(), TensorView(nullptr, DType::b128, {1, 2, 3}), PadSpec(), pairs);
  });
}

Dims random_shape(Random& random, std::int64_t elements) {
  Dims shape;
  std::int64_t factor = 2;
  while (elements > 1) {
    while (elements % factor != 0) ++factor;
    elements /= factor;
    if (!shape.empty() && random.chance(0.4)) {
      shape.back() *= factor;
    } else {
      shape.push_back(factor);
    }
    if (random.chance(0.1)) shape.push_back(1);
  }
  random.shuffle(shape);
  return shape;
}

/// The axes in C order, or shuffled.
Dims strides_of(Random& random, const Dims& shape, bool input) {
  std::vector<int> order = cases::identity(static_cast<int>(shape.size()));
  if (random.chance(0.5)) random.shuffle(order);
  return random_strides(random, shape, order, input);
}

/// The two halves of an element are an axis: 32 axes fit where some can be merged, and have an error of their
/// own else.
TEST_P(CopyTest, SixteenBytesOf32Axes) {
  const Dims shape(kMaxRank, 1);
  Dims two = shape;
  two[3] = two[31] = 2;
  std::vector<std::uint64_t> in{1, 2, 3, 4, 5, 6, 7, 8}, out(8);
  if (device().kind() != DeviceKind::gpu) {
    copy(stream(), TensorView(in.data(), DType::b128, two), TensorView(out.data(), DType::b128, two));
    EXPECT_EQ(out, in);
  }
  Dims spread(kMaxRank), full(kMaxRank, 2);
  for (int axis = 0; axis < kMaxRank; ++axis)
    spread[static_cast<std::size_t>(axis)] = std::int64_t{1} << axis;
  const TensorView turned(nullptr, DType::b128, full, spread);
  expect_error(ErrorCode::rank, {"b128", "32 axes", "merged"},
               [&] { plan_copy(device(), turned, TensorView(nullptr, DType::b128, full)); });
}

TEST_P(CopyTest, RandomShapesAndLayouts) {
  const std::vector<DType> types{DType::u8, DType::f16, DType::f32, DType::i64};
  const std::vector<DType> floats{DType::f16, DType::bf16, DType::f32, DType::f64};
  for (const std::uint64_t seed : random_seeds(80)) {
    SCOPED_TRACE(reproduce(seed));
    Random random(seed);
    CopyCase c;
    c.in_type = c.out_type = random.pick(types);
    if (random.chance(0.3)) {
      c.in_type = random.pick(floats);
      c.out_type = random.pick(floats);
    }
    const std::int64_t elements =
        random.pick(std::vector<std::int64_t>{24, 36, 210, 256, 720, 1001, 1536, 2310, 3600, 4096});
    c.in_shape = random_shape(random, elements);
    c.out_shape = random_shape(random, elements);
    c.in_strides = strides_of(random, c.in_shape, true);
    c.out_strides = strides_of(random, c.out_shape, false);
    c.in_misaligned = random.integer(0, 3);
    c.out_misaligned = random.integer(0, 3);
    check(stream(), c, seed);
  }
}

TEST_P(CopyTest, Contiguous) {
  GuardedBuffer in(stream(), Role::input, DType::f16, {5, 18, 7}, {1, 37, 5});
  GuardedBuffer out(stream(), Role::output, DType::f16, {5, 18, 7});
  fill_bits(in.host());
  in.upload();
  const TensorView view = contiguous(stream(), in.device(), out.device().data());
  EXPECT_EQ(view.data(), out.device().data());
  EXPECT_EQ(view.dtype(), DType::f16);
  EXPECT_EQ(view.shape(), in.device().shape());
  EXPECT_TRUE(view.is_contiguous());
  reference::cast(in.host(), out.host());
  EXPECT_TRUE(out.check(NanRule::exact));
  expect_error(ErrorCode::null_pointer, {}, [&] { contiguous(stream(), in.device(), nullptr); });
  expect_error(ErrorCode::partial_overlap, {},
               [&] { contiguous(stream(), in.device(), in.device().data()); });
}

TEST_P(CopyTest, Errors) {
  GuardedBuffer in(stream(), Role::input, DType::f32, {4, 6}),
      out(stream(), Role::output, DType::f32, {6, 4});
  in.upload();
  void* const memory = out.device().data();
  const auto expect = [&](ErrorCode code, const std::vector<std::string>& words, const TensorView& from,
                          const TensorView& to) {
    expect_error(code, words, [&] { copy(stream(), from, to); });
    EXPECT_TRUE(out.check()) << "something was written before the error";
  };
  expect(ErrorCode::shape, {"[4, 6]", "24", "[5, 5]", "25"}, in.device(),
         TensorView(memory, DType::f32, {5, 5}));
  expect(ErrorCode::shape, {"[0]"}, in.device(), TensorView(memory, DType::f32, {0}));
  expect(ErrorCode::dtype, {"f32", "b128"}, in.device(), TensorView(nullptr, DType::b128, {6, 4}));
  expect(ErrorCode::output_overlap, {}, in.device(), TensorView(memory, DType::f32, {6, 4}, {3, 1}));
  expect(ErrorCode::partial_overlap, {}, TensorView(memory, DType::f32, {2, 6}),
         TensorView(static_cast<float*>(memory) + 6, DType::f32, {12}));
  expect(ErrorCode::null_pointer, {"input"}, TensorView(nullptr, DType::f32, {4, 6}), out.device());
  expect(ErrorCode::null_pointer, {"output"}, in.device(), TensorView(nullptr, DType::f32, {6, 4}));
}

}  // namespace
}  // namespace relayout::test
