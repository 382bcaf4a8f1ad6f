// Operations on 8-bit codes in strips, against the oracle: long ones, along two axes, of any scale, and with
// scales that change along them.
#include <gtest/gtest.h>

#include <optional>
#include <string>
#include <vector>

#include "host/api/operation_rules.hpp"
#include "host/plan/elementwise/code_kernel.hpp"
#include "tests/support/devices.hpp"
#include "tests/support/quantized_check.hpp"

namespace relayout::test {
namespace {

using QuantizedStripsTest = DeviceTest;

/// So many strips that they are long ones.
TEST_P(QuantizedStripsTest, AreLong) {
  const Dims shape{8, 640, 49};
  const CodesTensor a(stream(), Role::input,
                      {DType::i8, shape, 0.03f, 7, Dims{8, 1, 1}, std::nullopt, Dims{640 * 49, 1, 640}}, 1);
  const CodesTensor b(stream(), Role::input, {DType::i8, shape, 0.05f, 4}, 2);
  const CodesTensor out(stream(), Role::output,
                        {DType::i8, shape, 0.06f, -9, std::nullopt, std::nullopt, Dims{641 * 49, 49, 1}});
  expect_codes(stream(), Operation::add, {&a, &b}, out);
}

/// Long strips along two axes that follow each other in an operand, which begin and end anywhere in the inner
/// one.
TEST_P(QuantizedStripsTest, LieAlongTwoAxes) {
  for (const std::int64_t inner : {3, 5, 9}) {
    const Dims shape{inner, 5400 / inner, 49}, across{1, inner, 5400};
    for (const bool of_rows : {false, true}) {
      const auto channels = of_rows ? std::optional<Dims>(Dims{49}) : std::nullopt;
      const CodesTensor a(stream(), Role::input, {DType::i8, shape, 0.03f, 7, channels, std::nullopt, across},
                          1);
      const CodesTensor b(stream(), Role::input, {DType::u8, shape, 0.05f, 140}, 2);
      const CodesTensor out(
          stream(), Role::output,
          {DType::i8, shape, 0.06f, -9, channels, std::nullopt, Dims{5401 / inner * 49 + 49, 49, 1}});
      expect_codes(stream(), Operation::add, {&a, &b}, out);
      if (of_rows == (inner == 5)) continue;  // each length and each kind of scale once
      expect_codes(stream(), Operation::truediv, {&a, &b}, out);
      expect_codes(stream(), Operation::hardswish, {&a}, out);
    }
  }
}

/// In strips: each operation whose result is finite for all codes, with scales for which it is and for which
/// it is not, and operations whose results are infinite or no number.
TEST_P(QuantizedStripsTest, HaveAnyScale) {
  const Dims shape{9, 37}, across{1, 9};
  for (const float scale : {1e-38f, 0.05f, 3e38f}) {
    for (const bool of_rows : {false, true}) {
      const auto channels = of_rows ? std::optional<Dims>(Dims{9, 1}) : std::nullopt;
      const CodesTensor a(stream(), Role::input, {DType::i8, shape, 0.04f, 3, channels, std::nullopt, across},
                          1);
      const CodesTensor b(stream(), Role::input, {DType::u8, shape, scale, 120, channels}, 2);
      const CodesTensor out(stream(), Role::output, {DType::i8, shape, 0.06f, -9, channels});
      for (int i = 0; i < kOperations; ++i) {
        const auto operation = static_cast<Operation>(i);
        if (!plan::is_bounded(operation)) continue;
        // 0 times an infinite scale is NaN, whose sign is the processor's affair.
        if (operation == Operation::copysign && of_rows && scale > 1) continue;
        if (rule_of(operation).operands == 1) {
          expect_codes(stream(), operation, {&b}, out);
        } else {
          expect_codes(stream(), operation, {&a, &b}, out);
          expect_codes(stream(), operation, {&b, &a}, out);
        }
      }
    }
  }
  const CodesTensor a(stream(), Role::input, {DType::i8, shape, 0.04f, 3, std::nullopt, std::nullopt, across},
                      1);
  CodesTensor few(stream(), Role::input, {DType::i8, shape, 0.05f, 1});
  few.fill([](std::int64_t i) { return i % 4; });  // 0 among them
  const CodesTensor out(stream(), Role::output, {DType::i8, shape, 0.06f, -9});
  expect_codes(stream(), Operation::truediv, {&a, &few}, out);
  expect_codes(stream(), Operation::truediv, {&few, &few}, out);
  expect_codes(stream(), Operation::sqrt, {&a}, out);
}

/// The operand is fastest along the axis of its scales, its rows far apart: strips of codes with scales of
/// their own take the place of long ones along the output, for which each code would come from a line of its
/// own.
TEST_P(QuantizedStripsTest, HaveScalesOfTheirOwn) {
  const Dims shape{2048, 32}, channels{1, 32};
  const CodesTensor a(stream(), Role::input,
                      {DType::i8, shape, 0.04f, 3, channels, std::nullopt, Dims{130, 1}}, 1);
  const CodesTensor b(stream(), Role::input,
                      {DType::u8, shape, 0.05f, 120, channels, std::nullopt, Dims{1, 2048}}, 2);
  const CodesTensor out(stream(), Role::output,
                        {DType::i8, shape, 0.06f, -9, channels, std::nullopt, Dims{1, 2048}});
  expect_codes(stream(), Operation::relu, {&a}, out);
  expect_codes(stream(), Operation::maximum, {&a, &b}, out);
  // Rows of 17 codes with a scale each: short strips along them cost less than those of all rows' codes.
  const CodesTensor rows(stream(), Role::input, {DType::u8, {4096, 17}, 0.05f, 120, Dims{4096, 1}}, 3);
  const CodesTensor out_of_rows(stream(), Role::output, {DType::u8, {4096, 17}, 0.06f, 9, Dims{4096, 1}});
  expect_codes(stream(), Operation::mul, {&rows, &rows}, out_of_rows);
  if (stream().device().kind() == DeviceKind::cpu) return;
  const auto has_own_scales = [&](const std::vector<Operand>& codes, Operation operation,
                                  const CodesTensor& to) {
    return plan_quantized(stream().device(), operation, codes, to.quantized())
               .explain()
               .find("elements each, whose codes have scales of their own.") != std::string::npos;
  };
  EXPECT_TRUE(has_own_scales({a.quantized()}, Operation::relu, out));
  EXPECT_FALSE(has_own_scales({rows.quantized(), rows.quantized()}, Operation::mul, out_of_rows));
}

TEST_P(QuantizedStripsTest, HaveScalesThatLieApart) {
  const Dims shape{5, 9, 37}, across{333, 1, 9}, planes{5, 1, 1}, columns{1, 1, 37};
  const CodesTensor a(stream(), Role::input, {DType::i8, shape, 0.04f, 3, planes, std::nullopt, across}, 1);
  const CodesTensor b(stream(), Role::input, {DType::u8, shape, 0.05f, 120, columns}, 2);
  const CodesTensor number(stream(), Role::input, {DType::u8, shape, 0.05f, 120}, 2);
  const CodesTensor out(stream(), Role::output, {DType::i8, shape, 0.06f, -9, columns});
  const CodesTensor out_of_planes(stream(), Role::output, {DType::i8, shape, 0.06f, -9, planes});
  for (const Operation operation : {Operation::add, Operation::mul}) {
    expect_codes(stream(), operation, {&a, &b}, out);
    expect_codes(stream(), operation, {&a, &number}, out);
    expect_codes(stream(), operation, {&a, &number}, out_of_planes);
    expect_codes(stream(), operation, {&number, &a}, out_of_planes);
  }
}

INSTANTIATE_TEST_SUITE_P(Devices, QuantizedStripsTest, ::testing::ValuesIn(test_devices()), device_test_name);

}  // namespace
}  // namespace relayout::test
