// Element-wise operations on operands of several types, with constants, to outputs of every type.
#include <gtest/gtest.h>

#include <cmath>
#include <cstdint>

#include "tests/support/devices.hpp"
#include "tests/support/element_types.hpp"
#include "tests/support/elementwise_case.hpp"

namespace relayout::test {
namespace {

class ElementwiseTypesTest : public DeviceTest {};
INSTANTIATE_TEST_SUITE_P(Devices, ElementwiseTypesTest, ::testing::ValuesIn(test_devices()),
                         device_test_name);

constexpr DType kF32 = DType::f32;

TensorSpec packed(const Dims& shape) { return {kF32, shape, {}, 0}; }

TEST_P(ElementwiseTypesTest, ConstantsOnEitherSide) {
  for (const Operation operation : {Operation::sub, Operation::div, Operation::pow, Operation::less}) {
    for (const DType type : {DType::i8, DType::u16, DType::i32, DType::i64}) {
      const TensorSpec tensor{type, {7, 33}, {}, 1};
      const TensorSpec out{reference::result_type(operation, type), {7, 33}, {}, 0};
      check(stream(), {{operation}, {tensor, Literal(3)}, out, type});
      check(stream(), {{operation}, {Literal(3), tensor}, out, type});
      if (is_signed(type)) check(stream(), {{operation}, {tensor, Literal(-3)}, out, type});
    }
  }
  for (const Operation operation : {Operation::sub, Operation::div, Operation::less}) {
    for (const DType type : {DType::f16, DType::bf16, DType::f32, DType::f64}) {
      const TensorSpec tensor{type, {7, 33}, {34, 1}, 1};
      const TensorSpec out{reference::result_type(operation, type), {7, 33}, {}, 0};
      for (const Literal& literal : {Literal(0.1), Literal(-2), Literal(true), Literal(1e30)}) {
        check(stream(), {{operation}, {tensor, literal}, out, type});
        check(stream(), {{operation}, {literal, tensor}, out, type});
      }
    }
  }
}

/// Signalling NaNs among the elements count as quiet ones.
TEST_P(ElementwiseTypesTest, ConstantsBesideNaNs) {
  for (const Operation operation : {Operation::hypot, Operation::pow, Operation::fmax, Operation::fmin}) {
    for (const DType type : {DType::f16, DType::bf16, DType::f32, DType::f64}) {
      const TensorSpec tensor{type, {500}, {}, 0};
      for (const double value : {0.0, 1.0, HUGE_VAL, -HUGE_VAL}) {
        check(stream(), {{operation}, {tensor, Literal(value)}, tensor, type});
        check(stream(), {{operation}, {Literal(value), tensor}, tensor, type});
      }
    }
  }
}

TEST_P(ElementwiseTypesTest, ConstantsOfAHigherCategoryBringTheirType) {
  const TensorSpec bytes{DType::i8, {100}, {}, 0}, bools{DType::bool_, {100}, {}, 0};
  for (const DType type : {DType::u8, DType::i16, DType::i64, DType::f16, DType::bf16, kF32, DType::f64}) {
    const TensorSpec tensor{type, {100}, {}, 0};  // bits are moved, those of the constant too
    check(stream(), {{Operation::where}, {bools, tensor, Literal(3)}, tensor, type});
    check(stream(), {{Operation::where}, {Literal(true), tensor, Literal(3)}, tensor, type});
    check(stream(), {{Operation::where}, {Literal(0.0), tensor, Literal(3)}, tensor, type});
  }
  check(stream(), {{Operation::mul}, {bytes, Literal(1.5)}, packed({100}), kF32});
  check(stream(), {{Operation::add}, {bools, Literal(1)}, {DType::i32, {100}, {}, 0}, DType::i32});
  check(stream(), {{Operation::where}, {bools, Literal(1.5), Literal(2)}, packed({100}), kF32});
  check(stream(), {{Operation::clip}, {bytes, Literal(-3), Literal(9)}, bytes, DType::i8});
}

TEST_P(ElementwiseTypesTest, OutputsOfEveryType) {
  for (const DType out : kCastableTypes) {
    for (const DType type : {DType::bool_, DType::i16, DType::u64, DType::f16, DType::f32, DType::f64}) {
      ElementwiseCase c;
      c.operations = {type == DType::bool_ ? Operation::bit_or : Operation::mul};
      c.operands = {TensorSpec{type, {9, 31}, {}, 1}, TensorSpec{type, {31}, {}, 0}};
      c.out = {out, {9, 31}, {33, 1}, 1};
      c.common = type;
      c.options.cast_out = true;
      check(stream(), c);
      c.operations = {Operation::less};
      check(stream(), c);
    }
  }
}

/// `where` computes nothing with the elements that it chooses, so they may have types without arithmetic.
TEST_P(ElementwiseTypesTest, ChoosesBetweenElementsOfEveryType) {
  const Dims shape{9, 31};
  for (const DType type : kCastableTypes)
    check(stream(), {{Operation::where},
                     {TensorSpec{DType::i16, {9, 1}, {}, 0}, TensorSpec{type, shape, {}, 1},
                      TensorSpec{type, {31}, {}, 0}},
                     {type, shape, {33, 1}, 1},
                     type});
}

TEST_P(ElementwiseTypesTest, OperandsOfManyTypesAndStrides) {
  const Dims shape{5, 9, 14};
  const TensorSpec a{DType::i8, shape, {1, 70, 5}, 0}, b{kF32, {9, 1}, {}, 1}, c{DType::f16, shape, {}, 3};
  check(stream(), {{Operation::add}, {a, b}, {kF32, shape, {200, 16, 1}, 1}, kF32});
  check(stream(), {{Operation::less}, {c, b}, {DType::bool_, shape, {}, 1}, kF32});
  check(stream(), {{Operation::where}, {a, b, c}, {kF32, shape, {}, 1}, kF32});
}

/// Elements of 1 and 2 bytes beside such of 4 and 8 make strips of 4 and 8 bytes, which begin anywhere.
TEST_P(ElementwiseTypesTest, OperandsOfSeveralTypesAcrossTheRows) {
  for (const std::int64_t rows : {8, 21, 48}) {
    const Dims shape{3, rows, 37}, across{37 * rows, 1, rows};
    for (const std::int64_t misaligned : {0, 1, 3}) {
      const auto lies_across = [&](DType type) { return TensorSpec{type, shape, across, misaligned}; };
      const TensorSpec f32{kF32, shape, {}, 1}, bools{DType::bool_, shape, {}, 1};
      for (const DType type : {DType::bool_, DType::i8, DType::i16, DType::i32, DType::i64})
        check(stream(),
              {{Operation::truediv}, {lies_across(type), TensorSpec{DType::i64, shape, {}, 0}}, f32, kF32});
      for (const DType type : {DType::u8, DType::i16, DType::i64})
        check(stream(), {{Operation::exp}, {lies_across(type)}, f32, kF32});
      check(stream(), {{Operation::less}, {f32, lies_across(DType::i8)}, bools, kF32});
      check(stream(),
            {{Operation::where}, {lies_across(DType::i8), f32, lies_across(DType::f16)}, f32, kF32});
    }
  }
}

}  // namespace
}  // namespace relayout::test
