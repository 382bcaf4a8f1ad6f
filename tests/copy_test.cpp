// copy and contiguous: elements by flat index between any two shapes and layouts, bit for bit against plain
// loops.
#include <gtest/gtest.h>

#include <cstdint>
#include <vector>

#include "host/reference/permute.hpp"
#include "tests/support/checks.hpp"
#include "tests/support/copy_case.hpp"
#include "tests/support/devices.hpp"
#include "tests/support/element_types.hpp"
#include "tests/support/expect_error.hpp"
#include "tests/support/random_strides.hpp"

namespace relayout::test {
namespace {

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
