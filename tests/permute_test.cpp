// permute and transpose between any layouts, bit for bit against plain loops.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <vector>

#include "host/reference/permute.hpp"
#include "tests/cases/permute_shorthand.hpp"
#include "tests/support/checks.hpp"
#include "tests/support/devices.hpp"
#include "tests/support/expect_error.hpp"
#include "tests/support/random_strides.hpp"

namespace relayout::test {
namespace {

using cases::identity;
using cases::kOneTypePerSize;
using cases::move_of;
using cases::PermuteCase;
using cases::reversal;

class PermuteTest : public DeviceTest {};
INSTANTIATE_TEST_SUITE_P(Devices, PermuteTest, ::testing::ValuesIn(test_devices()), device_test_name);

TEST_P(PermuteTest, EveryPermutationOfRanksTwoToFive) {
  for (const DType type : kOneTypePerSize)
    for (const Dims& shape : {Dims{11, 9}, Dims{5, 9, 11}, Dims{3, 9, 2, 11}, Dims{2, 3, 5, 3, 4}}) {
      std::vector<int> axes = identity(static_cast<int>(shape.size()));
      do check(stream(), move_of(type, shape, axes));
      while (std::next_permutation(axes.begin(), axes.end()));
    }
}

TEST_P(PermuteTest, ExtentsAroundTheTiles) {
  const Dims extents{1, 16, 17, 31, 33, 63, 64, 65, 129};
  for (const std::int64_t rows : extents)
    for (const std::int64_t columns : extents) check(stream(), move_of(DType::f16, {rows, columns}, {1, 0}));
  for (const DType type : {DType::u8, DType::f32, DType::f64})
    for (const Dims& shape : {Dims{15, 65}, Dims{31, 33}, Dims{32, 32}, Dims{67, 32}, Dims{64, 127}})
      check(stream(), move_of(type, shape, {1, 0}));
}

TEST_P(PermuteTest, BatchesOfTiles) {
  for (const DType type : {DType::f16, DType::f32}) {
    check(stream(), move_of(type, {3, 33, 65}, {0, 2, 1}));
    check(stream(), move_of(type, {3, 33, 65}, {2, 0, 1}));
    check(stream(), move_of(type, {33, 3, 65}, {2, 1, 0}));
    check(stream(), move_of(type, {2, 3, 34, 5, 35}, {4, 1, 3, 0, 2}));
    check(stream(), move_of(type, {2, 3, 32, 5, 48}, {4, 1, 3, 0, 2}));  // whole vectors on both sides
  }
}

/// Enough for the native code to use all its threads.
TEST_P(PermuteTest, ManyTiles) { check(stream(), move_of(DType::f16, {3, 150, 151}, {2, 0, 1})); }

TEST_P(PermuteTest, LongAndThin) {
  for (const DType type : {DType::u8, DType::f32}) {
    check(stream(), move_of(type, {2, 4099}, {1, 0}));
    check(stream(), move_of(type, {4099, 3}, {1, 0}));
    check(stream(), move_of(type, {1009, 2, 3}, {0, 2, 1}));
    check(stream(), move_of(type, {2, 3, 1009}, {1, 0, 2}));
    check(stream(), move_of(type, {5000}, {0}));
  }
}

TEST_P(PermuteTest, NothingToDo) {
  check(stream(), move_of(DType::f32, {0, 5}, {1, 0}));
  check(stream(), move_of(DType::f32, {5, 0, 7}, {2, 0, 1}));
  check(stream(), move_of(DType::f32, {}, {}));  // a scalar
  EXPECT_NO_THROW(permute(stream(), TensorView(nullptr, DType::f32, {0, 3}), {1, 0},
                          TensorView(nullptr, DType::f32, {3, 0})));
}

TEST_P(PermuteTest, ManyAxes) {
  check(stream(), move_of(DType::u8, Dims(16, 2), reversal(16)));
  Dims shape(kMaxRank, 1);
  for (const std::size_t axis : {0u, 3u, 9u, 17u, 30u, 31u}) shape[axis] = 3;
  check(stream(), move_of(DType::f16, shape, reversal(kMaxRank)));
}

TEST_P(PermuteTest, RandomLayouts) {
  const std::vector<DType> floats{DType::f16, DType::bf16, DType::f32, DType::f64};
  for (const std::uint64_t seed : random_seeds(60)) {
    SCOPED_TRACE(reproduce(seed));
    Random random(seed);
    PermuteCase c;
    c.in_type = random.pick(kOneTypePerSize);
    c.out_type = c.in_type;
    if (random.chance(0.3)) {
      c.in_type = random.pick(floats);
      c.out_type = random.pick(floats);
    }
    draw_layout(random, 6, c);
    check(stream(), c, seed);
  }
}

TEST_P(PermuteTest, QueuedCallsRunInOrder) {
  const Dims shape{65, 33}, swapped{33, 65};
  GuardedBuffer in(stream(), Role::input, DType::f32, shape),
      once(stream(), Role::output, DType::f32, swapped), out(stream(), Role::output, DType::f32, shape);
  for (std::uint64_t round = 0; round < 3; ++round) {
    fill_bits(in.host(), round);
    in.upload();
    transpose(stream(), in.device(), once.device());
    transpose(stream(), once.device(), out.device());
    reference::permute(in.host(), {1, 0}, once.host());
    reference::cast(in.host(), out.host());
    EXPECT_TRUE(out.check(NanRule::exact));
    EXPECT_TRUE(once.check(NanRule::exact));
  }
}

TEST_P(PermuteTest, TransposeSwapsTheLastTwoAxes) {
  GuardedBuffer in(stream(), Role::input, DType::f16, {2, 3, 35, 33}),
      out(stream(), Role::output, DType::f16, {2, 3, 33, 35});
  fill_bits(in.host());
  run_and_compare(
      in, out, [&](const TensorView& from, const TensorView& to) { transpose(stream(), from, to); },
      [](const TensorView& from, const TensorView& to) {
        reference::permute(from, {0, 1, 3, 2}, to);
      });
}

class PermuteErrorTest : public PermuteTest {
 protected:
  PermuteErrorTest()
      : in_(stream(), Role::input, DType::f32, {2, 3}), out_(stream(), Role::output, DType::f32, {3, 2}) {
    fill_values(in_.host());
    in_.upload();
  }
  void expect(ErrorCode code, const std::vector<std::string>& words, const TensorView& in,
              const std::vector<int>& axes, const TensorView& out) {
    expect_error(code, words, [&] { permute(stream(), in, axes, out); });
    EXPECT_TRUE(out_.check()) << "something was written before the error";
  }
  TensorView output(DType type, const Dims& shape, const Dims& strides) const {
    return TensorView(out_.device().data(), type, shape, strides);
  }
  GuardedBuffer in_, out_;
};
INSTANTIATE_TEST_SUITE_P(Devices, PermuteErrorTest, ::testing::ValuesIn(test_devices()), device_test_name);

TEST_P(PermuteErrorTest, Axes) {
  for (const std::vector<int>& axes :
       std::vector<std::vector<int>>{{0}, {0, 1, 2}, {0, 0}, {0, 2}, {-1, 0}, {}})
    expect(ErrorCode::invalid_argument, {}, in_.device(), axes, out_.device());
}

TEST_P(PermuteErrorTest, ShapesThatDoNotGoTogether) {
  expect(ErrorCode::shape, {"[2, 3]", "[3, 2]"}, in_.device(), {0, 1}, out_.device());
  expect(ErrorCode::shape, {"[3, 2]", "[6]"}, in_.device(), {1, 0}, output(DType::f32, {6}, {1}));
  expect(ErrorCode::shape, {"[3, 2]", "[3, 1]"}, in_.device(), {1, 0}, output(DType::f32, {3, 1}, {1, 1}));
}

TEST_P(PermuteErrorTest, TypesThatDoNotConvert) {
  const TensorView pairs(nullptr, DType::b128, {2, 3});
  expect(ErrorCode::dtype, {"f32", "b128"}, in_.device(), {1, 0}, pairs.permuted({1, 0}));
  expect(ErrorCode::dtype, {"b128", "u8"}, pairs, {1, 0}, output(DType::u8, {3, 2}, {2, 1}));
}

TEST_P(PermuteErrorTest, AnOutputThatOverlapsItself) {
  for (const Dims& strides : {Dims{0, 1}, Dims{2, 0}, Dims{1, 1}})
    expect(ErrorCode::output_overlap, {}, in_.device(), {1, 0}, output(DType::f32, {3, 2}, strides));
}

TEST_P(PermuteErrorTest, AnOutputThatOverlapsTheInput) {
  const TensorView whole(out_.device().data(), DType::f32, {2, 2});
  const TensorView shifted(static_cast<float*>(out_.device().data()) + 2, DType::f32, {2, 2});
  expect(ErrorCode::partial_overlap, {}, whole, {1, 0}, shifted);
  expect(ErrorCode::partial_overlap, {}, shifted, {1, 0}, whole);
  expect(ErrorCode::partial_overlap, {}, whole, {1, 0}, whole);
}

TEST_P(PermuteErrorTest, NullPointers) {
  expect(ErrorCode::null_pointer, {}, TensorView(nullptr, DType::f32, {2, 3}), {1, 0}, out_.device());
  expect(ErrorCode::null_pointer, {}, in_.device(), {1, 0}, TensorView(nullptr, DType::f32, {3, 2}));
}

TEST_P(PermuteErrorTest, TransposeNeedsTwoAxes) {
  const TensorView line(in_.device().data(), DType::f32, {6});
  expect_error(ErrorCode::rank, {}, [&] { transpose(stream(), line, output(DType::f32, {6}, {1})); });
  expect_error(ErrorCode::shape, {"[3, 2]", "[2, 3]"}, [&] {
    transpose(stream(), in_.device(), output(DType::f32, {2, 3}, {3, 1}));
  });
  EXPECT_TRUE(out_.check());
}

}  // namespace
}  // namespace relayout::test
