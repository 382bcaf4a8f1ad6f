// The options of element-wise operations: what isclose tolerates, subnormals as zeros, casts of the result.
#include <gtest/gtest.h>

#include <cmath>
#include <vector>

#include "host/reference/accuracy.hpp"
#include "tests/support/devices.hpp"
#include "tests/support/elementwise_case.hpp"

namespace relayout::test {
namespace {

class ElementwiseOptionsTest : public DeviceTest {
 protected:
  static constexpr std::int64_t kElements = 2000;

  /// Two operands of interesting values; every fourth element of the second one is next to the first one's.
  void fill_operands(const GuardedBuffer& a, const GuardedBuffer& b) {
    fill_operand(a.host(), Values::interesting, 1);
    fill_operand(b.host(), Values::interesting, 2);
    for (std::int64_t i = 0; i < kElements; i += 4) {
      const std::uint64_t bits = reference::load_bits(a.host(), {i});
      reference::store_bits(b.host(), {i}, bits ^ (hash(static_cast<std::uint64_t>(i)) & 3));
    }
    a.upload();
    b.upload();
  }
};
INSTANTIATE_TEST_SUITE_P(Devices, ElementwiseOptionsTest, ::testing::ValuesIn(test_devices()),
                         device_test_name);

TEST_P(ElementwiseOptionsTest, IsCloseToleratesWhatItIsTold) {
  for (const DType type : {DType::f16, DType::bf16, DType::f32, DType::f64, DType::i16}) {
    const DType common = is_floating(type) ? type : DType::f32;
    for (const reference::IsCloseTolerance& tolerance :
         {reference::IsCloseTolerance{0, 0, false}, reference::IsCloseTolerance{0.25, 0, true},
          reference::IsCloseTolerance{0, 2.5, false}, reference::IsCloseTolerance{1e-3, 1e-6, true}}) {
      GuardedBuffer a(stream(), Role::input, type, {kElements}), b(stream(), Role::input, type, {kElements});
      GuardedBuffer out(stream(), Role::output, DType::bool_, {kElements});
      fill_operands(a, b);
      ElementwiseOptions options;
      options.rtol = tolerance.rtol;
      options.atol = tolerance.atol;
      options.equal_nan = tolerance.equal_nan;
      isclose(stream(), a.device(), b.device(), out.device(), options);
      reference::elementwise(Operation::isclose, {a.host(), b.host()}, common, out.host(), tolerance);
      EXPECT_TRUE(out.check()) << name_of(type) << ", rtol " << tolerance.rtol << ", atol " << tolerance.atol;
    }
  }
}

TEST_P(ElementwiseOptionsTest, SubnormalsCountAsZeros) {
  constexpr DType kType = DType::f32;
  for (const Operation operation :
       {Operation::add, Operation::sub, Operation::mul, Operation::truediv, Operation::maximum,
        Operation::minimum, Operation::sqrt, Operation::rsqrt, Operation::exp2}) {
    GuardedBuffer a(stream(), Role::input, kType, {kElements}), b(stream(), Role::input, kType, {kElements});
    GuardedBuffer out(stream(), Role::output, kType, {kElements});
    fill_operands(a, b);
    std::vector<Operand> operands{a.device()};
    if (operands_of(operation) == 2) operands.emplace_back(b.device());
    ElementwiseOptions options;
    options.flush_to_zero = true;
    elementwise(stream(), operation, operands, out.device(), options);
    const std::vector<unsigned char> bytes = out.download();
    int wrong = 0, zeros = 0;
    for (std::int64_t i = 0; i < kElements; ++i) {
      const std::uint64_t x = reference::load_bits(a.host(), {i}), y = reference::load_bits(b.host(), {i});
      const std::uint64_t exact = reference::apply(operation, kType, flushed(x), flushed(y));
      const std::uint64_t got = reference::load_bits(out.view_of(bytes), {i});
      wrong += reference::agrees(operation, kType, got, flushed(exact)) ? 0 : 1;
      zeros += x != flushed(x) || exact != flushed(exact) ? 1 : 0;
    }
    EXPECT_EQ(wrong, 0) << name_of(operation);
    EXPECT_GT(zeros, 10) << "hardly any subnormals";
    EXPECT_TRUE(out.check_outside());
  }
}

TEST_P(ElementwiseOptionsTest, ResultsAreCastAsAsked) {
  struct Target {
    DType type, out;
    CastOptions cast;
  };
  CastOptions up, away, infinite, saturated;
  up.rounding = Rounding::up;
  away.rounding = Rounding::nearest_away;
  infinite.saturate_fp8 = false;
  saturated.integer_overflow = IntegerOverflow::saturate;
  for (const Target& target :
       {Target{DType::f32, DType::f16, up}, Target{DType::f32, DType::i8, away},
        Target{DType::f64, DType::bf16, away}, Target{DType::f32, DType::e5m2, infinite},
        Target{DType::i32, DType::u8, saturated}, Target{DType::f16, DType::e4m3fn, infinite}}) {
    ElementwiseCase c{{Operation::mul},
                      {TensorSpec{target.type, {kElements}, {}, 0}, Literal(3)},
                      {target.out, {kElements}, {}, 0},
                      target.type};
    c.options.cast_out = true;
    c.options.cast = target.cast;
    check(stream(), c);
  }
}

/// Elements of one type are moved as bits, which a cast of the result must not take for numbers.
TEST_P(ElementwiseOptionsTest, ChosenElementsAreCast) {
  for (const DType type : {DType::f32, DType::f16, DType::i32, DType::e5m2}) {
    for (const DType out : {DType::f16, DType::bf16, DType::f64, DType::i8, DType::e4m3fn}) {
      const TensorSpec elements{type, {kElements}, {}, 0};
      ElementwiseCase c{{Operation::where},
                        {TensorSpec{DType::bool_, {kElements}, {}, 0}, elements, elements},
                        {out, {kElements}, {}, 0},
                        type};
      c.options.cast_out = true;
      check(stream(), c);
    }
  }
}

}  // namespace
}  // namespace relayout::test
