// Operations on 8-bit codes against the oracle: every pair of codes, every operation, scales and zero points
// of every position, operands that mix.
#include <gtest/gtest.h>

#include <array>
#include <limits>
#include <optional>
#include <vector>

#include "host/api/operation_rules.hpp"
#include "tests/support/devices.hpp"
#include "tests/support/quantized_check.hpp"

namespace relayout::test {
namespace {

using QuantizedTest = DeviceTest;

constexpr std::array<Operation, 10> kBinary{
    Operation::add,     Operation::sub,   Operation::mul, Operation::truediv, Operation::maximum,
    Operation::minimum, Operation::prelu, Operation::mod, Operation::fmod,    Operation::pow};
constexpr std::array<Operation, 3> kHot{Operation::add, Operation::sub, Operation::mul};
constexpr std::array<Operation, 6> kRelational{Operation::equal,   Operation::not_equal,
                                               Operation::less,    Operation::less_equal,
                                               Operation::greater, Operation::greater_equal};

/// Types, scales and zero points of two operands and a result.
struct Numbers {
  CodesCase a, b, out;
};

/// Every pair of codes, once: a along the rows, b along the columns.
void expect_all_pairs(const Stream& stream, Numbers n) {
  n.a.shape = {256, 1};
  n.b.shape = {256};
  n.out.shape = {256, 256};
  CodesTensor a(stream, Role::input, n.a), b(stream, Role::input, n.b);
  a.fill([](std::int64_t i) { return i; });
  b.fill([](std::int64_t i) { return i; });
  const CodesTensor out(stream, Role::output, n.out);
  for (const Operation operation : kBinary) expect_codes(stream, operation, {&a, &b}, out);
}

TEST_P(QuantizedTest, EveryPairOfSignedCodes) {
  expect_all_pairs(stream(),
                   {{DType::i8, {}, 0.05f, 3}, {DType::i8, {}, 0.03f, -5}, {DType::i8, {}, 0.07f, 7}});
}
TEST_P(QuantizedTest, EveryPairOfUnsignedCodesWithManyTies) {
  expect_all_pairs(stream(),
                   {{DType::u8, {}, 0.25f, 128}, {DType::u8, {}, 0.5f, 0}, {DType::u8, {}, 1.0f, 127}});
}
TEST_P(QuantizedTest, EveryPairOfMixedCodesThatCancel) {
  expect_all_pairs(stream(),
                   {{DType::i8, {}, 0.7f, -128}, {DType::u8, {}, 0.71f, 255}, {DType::i8, {}, 0.0103f, -1}});
}

TEST_P(QuantizedTest, ContiguousArithmeticOnEveryPair) {
  for (const std::int64_t misaligned : {0, 3}) {
    CodesCase a{DType::i8, {65549}, 0.05f, 3}, b{DType::u8, {65549}, 0.03f, 130},
        to{DType::i8, {65549}, 0.06f, -7};
    a.misaligned = b.misaligned = to.misaligned = misaligned;
    CodesTensor x(stream(), Role::input, a), y(stream(), Role::input, b);
    x.fill([](std::int64_t i) { return i; });
    y.fill([](std::int64_t i) { return i / 256; });
    const CodesTensor out(stream(), Role::output, to);
    for (const Operation operation : kHot) expect_codes(stream(), operation, {&x, &y}, out);
  }
}

TEST_P(QuantizedTest, ScalesTooLargeOrSmallToBeFolded) {
  for (const float scale : {1e-38f, 1e-30f, 1e30f, 3e38f}) {
    const CodesTensor a(stream(), Role::input, {DType::i8, {999}, scale, 3}, 1);
    const CodesTensor b(stream(), Role::input, {DType::i8, {999}, scale, -7}, 2);
    for (const float out_scale : {1e-38f, 1.0f, 1e38f}) {
      const CodesTensor out(stream(), Role::output, {DType::i8, {999}, out_scale, 5});
      for (const Operation operation : kHot) expect_codes(stream(), operation, {&a, &b}, out);
    }
  }
}

/// Results that a float with an integer in its low bits has no room for.
TEST_P(QuantizedTest, ResultsFarBeyondTheCodes) {
  for (const float out_scale : {3e-2f, 2.4e-4f, 1e-6f}) {
    const CodesTensor a(stream(), Role::input, {DType::i8, {999}, 1.0f, 3}, 1);
    const CodesTensor b(stream(), Role::input, {DType::u8, {999}, 0.9f, 130}, 2);
    for (const DType type : {DType::i8, DType::u8}) {
      const CodesTensor out(stream(), Role::output, {type, {999}, out_scale, 5});
      for (const Operation operation : kHot) expect_codes(stream(), operation, {&a, &b}, out);
    }
  }
}

/// One code for each row, of either operand and of both.
TEST_P(QuantizedTest, RepeatedOperands) {
  const Dims shape{3, 4, 320}, each{4, 1};
  const CodesTensor whole(stream(), Role::input, {DType::i8, shape, 0.05f, 3, Dims{4, 1}}, 1);
  const CodesTensor rows(stream(), Role::input, {DType::u8, each, 0.03f, 120, std::nullopt, Dims{4, 1}}, 2);
  const CodesTensor spread(stream(), Role::input,
                           {DType::i8, shape, 0.04f, -20, std::nullopt, std::nullopt, Dims{4, 1, 0}}, 3);
  for (const DType type : {DType::i8, DType::u8}) {
    const CodesTensor out(stream(), Role::output, {type, shape, 0.06f, 40, Dims{3, 1, 1}});
    for (const Operation operation : kHot) {
      expect_codes(stream(), operation, {&whole, &rows}, out);
      expect_codes(stream(), operation, {&rows, &whole}, out);
      expect_codes(stream(), operation, {&rows, &spread}, out);
    }
  }
}

TEST_P(QuantizedTest, EveryOperationOfOneNumberOnEveryCode) {
  for (const DType type : {DType::i8, DType::u8}) {
    const int zero = type == DType::u8 ? 131 : 3;
    CodesTensor x(stream(), Role::input, {type, {256}, 0.0371f, zero});
    x.fill([](std::int64_t i) { return i; });
    const CodesTensor out(stream(), Role::output, {type, {256}, 0.0217f, zero - 8});
    GuardedBuffer truth(stream(), Role::output, DType::bool_, {256});
    for (int i = 0; i < kOperations; ++i) {
      const auto operation = static_cast<Operation>(i);
      const OperationRule& rule = rule_of(operation);
      if (rule.operands != 1) continue;
      if (rule.kind == OperationKind::predicate) expect_numbers(stream(), operation, {&x}, truth);
      if (rule.kind == OperationKind::arithmetic || rule.kind == OperationKind::floating)
        expect_codes(stream(), operation, {&x}, out);
    }
  }
}

TEST_P(QuantizedTest, OperationsOfThree) {
  const CodesTensor a(stream(), Role::input, {DType::i8, {777}, 0.05f, 3}, 1);
  const CodesTensor b(stream(), Role::input, {DType::u8, {777}, 0.03f, 99}, 2);
  const CodesTensor c(stream(), Role::input, {DType::i8, {777}, 0.02f, -9}, 3);
  const CodesTensor out(stream(), Role::output, {DType::i8, {777}, 0.04f, 1});
  expect_codes(stream(), Operation::where, {&a, &b, &c}, out);
  expect_codes(stream(), Operation::clip, {&a, -1.5f, 2.0f}, out);
}

TEST_P(QuantizedTest, ComparesTheNumbers) {
  CodesTensor a(stream(), Role::input, {DType::i8, {256, 1}, 0.5f, 0});
  CodesTensor b(stream(), Role::input, {DType::u8, {64}, 0.25f, 32});
  a.fill([](std::int64_t i) { return i; });
  b.fill([](std::int64_t i) { return i; });
  GuardedBuffer truth(stream(), Role::output, DType::bool_, {256, 64});
  for (const Operation operation : kRelational) {
    expect_numbers(stream(), operation, {&a, &b}, truth);
    expect_numbers(stream(), operation, {&b, &a}, truth);
    expect_numbers(stream(), operation, {&a, 1.5f},
                   *std::make_unique<GuardedBuffer>(stream(), Role::output, DType::bool_, Dims{256, 1}));
  }
}

/// [2, 5, 7, 32] with scales and zero points for the elements of each axis, and of two.
TEST_P(QuantizedTest, ChannelsInEveryPosition) {
  const Dims shape{2, 5, 7, 32};
  for (const Dims& channels :
       {Dims{2, 1, 1, 1}, Dims{5, 1, 1}, Dims{7, 1}, Dims{32}, Dims{5, 1, 32}, Dims{1}, Dims{2, 5, 7, 32}}) {
    SCOPED_TRACE(to_string(channels));
    const CodesCase a{DType::i8, shape, 0.03f, -40, channels, channels};
    const CodesCase b{DType::u8, {5, 1, 1}, 0.02f, 100, std::nullopt, Dims{5, 1, 1}};
    const CodesTensor x(stream(), Role::input, a, 1), y(stream(), Role::input, b, 2);
    const CodesTensor z(stream(), Role::input, {DType::i8, shape, 0.05f, 2}, 3);
    const CodesTensor w(stream(), Role::input, {DType::i8, shape, 0.04f, 7, std::nullopt, channels}, 4);
    const CodesTensor v(stream(), Role::input, {DType::i8, shape, 0.04f, 7, channels}, 5);
    const CodesTensor out(stream(), Role::output, {DType::i8, shape, 0.08f, -9});
    const CodesTensor to(stream(), Role::output, {DType::u8, shape, 0.06f, 50, channels, channels});
    for (const Operation operation : {Operation::add, Operation::mul, Operation::truediv}) {
      expect_codes(stream(), operation, {&x, &y}, out);
      expect_codes(stream(), operation, {&z, &y}, out);
      expect_codes(stream(), operation, {&y, &x}, to);
      expect_codes(stream(), operation, {&x, &z}, to);
      expect_codes(stream(), operation, {&w, &z}, out);
      expect_codes(stream(), operation, {&v, &z}, out);
    }
  }
}

/// Rows of lengths that are no multiple of a vector, aligned and not.
TEST_P(QuantizedTest, ChannelsOverOddRows) {
  for (const std::int64_t row : {1, 15, 49, 64, 131, 320}) {
    SCOPED_TRACE(row);
    const Dims channels{3, 1}, shape{2, 3, row};
    const CodesTensor a(stream(), Role::input, {DType::i8, shape, 0.03f, -40, channels, channels}, 1);
    const CodesTensor b(stream(), Role::input, {DType::i8, shape, 0.04f, 20, channels}, 2);
    const CodesTensor across(stream(), Role::input,
                             {DType::i8, shape, 0.05f, 3, std::nullopt, std::nullopt, Dims{3, 1, 6}}, 3);
    const CodesTensor out(stream(), Role::output, {DType::i8, shape, 0.08f, -9, channels, channels});
    for (const Operation operation : kHot) {
      expect_codes(stream(), operation, {&a, &b}, out);
      expect_codes(stream(), operation, {&across, &b}, out);
    }
  }
}

TEST_P(QuantizedTest, ViewsOfPaddedChannelsKeepTheirPads) {
  const Dims shape{2, 5, 6, 7};
  const auto nhwc8 = [](std::int64_t c) { return Dims{6 * 7 * c, 1, 7 * c, c}; };
  const CodesTensor a(stream(), Role::input,
                      {DType::i8, shape, 0.03f, -4, Dims{5, 1, 1}, std::nullopt, nhwc8(8)}, 1);
  const CodesTensor b(stream(), Role::input, {DType::i8, shape, 0.05f, 4}, 2);
  const CodesTensor out(stream(), Role::output,
                        {DType::i8, shape, 0.06f, 9, std::nullopt, Dims{5, 1, 1}, nhwc8(16)});
  for (const Operation operation : {Operation::mul, Operation::truediv, Operation::maximum}) {
    expect_codes(stream(), operation, {&a, &b}, out);
    expect_codes(stream(), operation, {&b, &a}, out);
  }
}

TEST_P(QuantizedTest, ReversedAndStridedViews) {
  const Dims shape{3, 4, 50};
  const CodesTensor a(stream(), Role::input,
                      {DType::u8, shape, 0.03f, 140, Dims{50}, std::nullopt, Dims{-200, 50, -1}}, 1);
  const CodesTensor b(stream(), Role::input,
                      {DType::i8, shape, 0.05f, 4, std::nullopt, std::nullopt, {1, 3, 12}}, 2);
  const CodesTensor out(stream(), Role::output,
                        {DType::u8, shape, 0.06f, 90, std::nullopt, std::nullopt, {4 * 103, 103, 2}});
  for (const Operation operation : {Operation::add, Operation::mul, Operation::pow})
    expect_codes(stream(), operation, {&a, &b}, out);
}

TEST_P(QuantizedTest, CodesWithFloats) {
  const Dims shape{9, 33};
  const CodesTensor a(stream(), Role::input, {DType::i8, shape, 0.05f, 3}, 1);
  GuardedBuffer x(stream(), Role::input, DType::f32, shape), y(stream(), Role::output, DType::f32, shape);
  fill_with(x.host(), [](std::uint64_t i) { return 6.0 * uniform(i, 5) - 3.0; });
  x.upload();
  const CodesTensor out(stream(), Role::output, {DType::u8, shape, 0.04f, 77});
  for (const Operation operation : {Operation::add, Operation::sub, Operation::truediv, Operation::pow}) {
    expect_codes(stream(), operation, {&a, &x}, out);
    expect_codes(stream(), operation, {&x, 0.75f}, out);
    expect_codes(stream(), operation, {1.25f, &a}, out);
    expect_numbers(stream(), operation, {&a, &x}, y);
    expect_numbers(stream(), operation, {&x, &a}, y);
  }
}

TEST_P(QuantizedTest, ConvertsHalvesNanAndInfinities) {
  constexpr float kInfinity = std::numeric_limits<float>::infinity();
  const std::vector<float> values{
      0.5f,     1.5f,   2.5f,      -0.5f,      -1.5f, -2.5f,  0.0f,
      -0.0f,    126.5f, kInfinity, -kInfinity, 1e30f, -1e30f, std::numeric_limits<float>::quiet_NaN(),
      0x1p-149f};
  const Dims shape{static_cast<std::int64_t>(values.size())};
  GuardedBuffer x(stream(), Role::input, DType::f32, shape), y(stream(), Role::output, DType::f32, {256});
  fill_with(x.host(), [&](std::uint64_t i) { return values[i % values.size()]; });
  x.upload();
  for (const CodesCase& c : {CodesCase{DType::i8, shape, 1.0f, 0}, CodesCase{DType::i8, shape, 1.0f, -7},
                             CodesCase{DType::u8, shape, 0.5f, 33}, CodesCase{DType::u8, shape, 3.0f, 255}}) {
    const CodesTensor out(stream(), Role::output, c);
    quantize(stream(), x.device(), out.quantized());
    EXPECT_EQ(wrong_codes(out, false,
                          [&](const Dims& index) {
                            return Quotient{load_bits(element_at(x.host(), index[0]), DType::f32)};
                          }),
              "");
    EXPECT_TRUE(out.codes().check_outside());
    CodesTensor codes(stream(), Role::input, {c.type, {256}, c.scale, c.zero});
    codes.fill([](std::int64_t i) { return i; });
    dequantize(stream(), codes.quantized(), y.device());
    for_each_element(y.host(), [&](const Dims& index, std::int64_t offset) {
      store_bits(element_at(y.host(), offset), DType::f32, reference::dequantize(codes.number(index)));
    });
    EXPECT_TRUE(y.check());
  }
}

TEST_P(QuantizedTest, InPlace) {
  for (const std::int64_t elements : {1, 1001}) {
    for (const Operation operation : {Operation::add, Operation::truediv}) {
      CodesTensor a(stream(), Role::input, {DType::i8, {elements}, 0.05f, 3}, 1);
      const CodesTensor b(stream(), Role::input, {DType::i8, {elements}, 0.04f, -2}, 2);
      const CodesTensor out(stream(), Role::output, {DType::i8, {elements}, 0.05f, 3});
      const std::vector<QuantizedOperand> operands{a.quantized(), b.quantized()};
      quantized(stream(), operation, operands, out.quantized());
      quantized(stream(), operation, operands, a.quantized());
      EXPECT_TRUE(same_contents(out.codes(), a.codes()));
    }
  }
}

TEST_P(QuantizedTest, PlansRunAgain) {
  const CodesTensor a(stream(), Role::input, {DType::i8, {4, 64}, 0.05f, 3}, 1);
  const CodesTensor out(stream(), Role::output, {DType::i8, {4, 64}, 0.05f, 3});
  const QuantizedPlan plan = plan_quantized(device(), Operation::square, {a.quantized()}, out.quantized());
  plan.run(stream());
  plan.run(stream());
  EXPECT_EQ(
      wrong_codes(out, false,
                  [&](const Dims& index) { return Quotient{result_bits(Operation::square, {&a}, index)}; }),
      "");
  EXPECT_NE(plan.explain().find("quantized square"), std::string::npos) << plan.explain();
}

INSTANTIATE_TEST_SUITE_P(Devices, QuantizedTest, ::testing::ValuesIn(test_devices()), device_test_name);

}  // namespace
}  // namespace relayout::test
