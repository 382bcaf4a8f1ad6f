// Comparisons on the processor, whose rows make the output's bools of numbers of any size.
#include <gtest/gtest.h>

#include <cstdint>
#include <cstring>
#include <string>
#include <vector>

#include "host/cpu/streaming.hpp"
#include "host/reference/arithmetic.hpp"

#include <relayout/relayout.hpp>

namespace relayout::test {
namespace {

using Bytes = std::vector<std::uint8_t>;

constexpr Operation kComparisons[] = {Operation::equal,      Operation::not_equal, Operation::less,
                                      Operation::less_equal, Operation::greater,   Operation::greater_equal};
constexpr Operation kTests[] = {Operation::isnan, Operation::isinf, Operation::isfinite};

/// Numbers of a type by their bits: the least, the greatest and those next to zero, and of floating types
/// zeros, infinities and NaNs of both signs.
std::vector<std::uint64_t> special_numbers(DType type) {
  switch (type) {
    case DType::f16:
      return {0x0000, 0x8000, 0x0001, 0x8001, 0x03ff, 0x3c00, 0xbc00, 0x3c01,
              0x7bff, 0xfbff, 0x7c00, 0xfc00, 0x7c01, 0xfe00, 0x7fff, 0xffff};
    case DType::bf16:
      return {0x0000, 0x8000, 0x0001, 0x8001, 0x007f, 0x3f80, 0xbf80, 0x3f81,
              0x7f7f, 0xff7f, 0x7f80, 0xff80, 0x7f81, 0xffc0, 0x7fff, 0xffff};
    case DType::f32:
      return {0x00000000, 0x80000000, 0x00000001, 0x80000001, 0x3f800000, 0xbf800000, 0x3f800001,
              0x7f7fffff, 0xff7fffff, 0x7f800000, 0xff800000, 0x7f800001, 0xffc00000};
    case DType::f64:
      return {0x0000000000000000, 0x8000000000000000, 0x0000000000000001, 0x3ff0000000000000,
              0xbff0000000000000, 0x3ff0000000000001, 0x7fefffffffffffff, 0xffefffffffffffff,
              0x7ff0000000000000, 0xfff0000000000000, 0x7ff0000000000001, 0xfff8000000000000};
    default: {
      const std::uint64_t sign = std::uint64_t{1} << (8 * size_of(type) - 1);
      return {0, 1, 2, sign - 1, sign, sign + 1, ~std::uint64_t{0}};
    }
  }
}

class NativeComparison : public ::testing::TestWithParam<DType> {
 protected:
  DType type() const { return GetParam(); }

  /// `count` elements, of which each is the special number that number_of() names.
  template <class NumberOf>
  Bytes elements(std::int64_t count, const NumberOf& number_of) const {
    const std::vector<std::uint64_t> numbers = special_numbers(type());
    const std::size_t size = size_of(type());
    Bytes bytes(static_cast<std::size_t>(count) * size);
    for (std::size_t i = 0; i < static_cast<std::size_t>(count); ++i)
      std::memcpy(&bytes[i * size], &numbers[number_of(i, numbers.size()) % numbers.size()], size);
    return bytes;
  }
  /// Every pair, again and again.
  Bytes firsts(std::int64_t count) const {
    return elements(count, [](std::size_t i, std::size_t) { return i; });
  }
  Bytes seconds(std::int64_t count) const {
    return elements(count, [](std::size_t i, std::size_t numbers) { return i / numbers; });
  }
  std::vector<Operation> tests() const {
    return is_floating(type()) ? std::vector<Operation>(std::begin(kTests), std::end(kTests))
                               : std::vector<Operation>();
  }

  /// In a row of the output, and in one whose elements lie three apart.
  void check(Operation operation, const std::vector<TensorView>& operands) const {
    const std::int64_t count = operands[0].elements();
    Bytes expected(static_cast<std::size_t>(count), 7);
    reference::elementwise(operation, operands, type(), TensorView(expected.data(), DType::bool_, {count}));
    for (const std::int64_t step : {1, 3}) {
      Bytes got(static_cast<std::size_t>(count * step), 7);
      elementwise(Stream(Device::cpu()), operation, {operands.begin(), operands.end()},
                  TensorView(got.data(), DType::bool_, {count}, {step}));
      for (std::size_t i = 0; i < got.size(); ++i) {
        const auto distance = static_cast<std::size_t>(step);
        ASSERT_EQ(got[i], i % distance == 0 ? expected[i / distance] : 7)
            << name_of(operation) << " of " << count << ", element " << i << " of steps " << step;
      }
    }
  }
};
INSTANTIATE_TEST_SUITE_P(Types, NativeComparison,
                         ::testing::Values(DType::u8, DType::u16, DType::u32, DType::u64, DType::i8,
                                           DType::i16, DType::i32, DType::i64, DType::f16, DType::bf16,
                                           DType::f32, DType::f64),
                         [](const auto& type) { return std::string(name_of(type.param)); });

TEST_P(NativeComparison, PairsOfSpecialNumbers) {
  for (const std::int64_t count : {1, 300, 5003}) {
    Bytes a = firsts(count), b = seconds(count);
    const TensorView first(a.data(), type(), {count}), second(b.data(), type(), {count});
    for (const Operation operation : kComparisons) check(operation, {first, second});
    for (const Operation operation : tests()) check(operation, {first});
  }
}

/// A constant is converted to the type of the numbers that are compared.
TEST_P(NativeComparison, WithAConstant) {
  constexpr std::int64_t kCount = 700;
  Bytes a = firsts(kCount), ones(a.size());
  const TensorView first(a.data(), type(), {kCount}), one(ones.data(), type(), {kCount});
  fill(Stream(Device::cpu()), 1, one);
  for (const Operation operation : kComparisons) {
    Bytes got(kCount), expected(kCount);
    elementwise(Stream(Device::cpu()), operation, {first, 1.0},
                TensorView(got.data(), DType::bool_, {kCount}));
    reference::elementwise(operation, {first, one}, type(),
                           TensorView(expected.data(), DType::bool_, {kCount}));
    EXPECT_EQ(got, expected) << name_of(operation);
  }
}

/// The last step of a chain compares what the one before it computed.
TEST_P(NativeComparison, LastOfAChain) {
  constexpr std::int64_t kCount = 1500;
  Bytes a = firsts(kCount), b = seconds(kCount), larger(a.size());
  const TensorView first(a.data(), type(), {kCount}), second(b.data(), type(), {kCount}),
      maximum(larger.data(), type(), {kCount});
  reference::elementwise(Operation::maximum, {first, second}, type(), maximum);
  for (const std::int64_t step : {1, 2}) {
    Bytes got(kCount * 2, 7), expected(kCount);
    chain(Stream(Device::cpu()), {Operation::maximum, Operation::greater}, {first, second, first},
          TensorView(got.data(), DType::bool_, {kCount}, {step}));
    reference::elementwise(Operation::greater, {maximum, first}, type(),
                           TensorView(expected.data(), DType::bool_, {kCount}));
    for (std::size_t i = 0; i < expected.size(); ++i)
      ASSERT_EQ(got[i * static_cast<std::size_t>(step)], expected[i])
          << "element " << i << " of steps " << step;
  }
}

/// Outputs of more than native::kStreamedBytes go past the caches.
TEST(NativeComparisons, Streamed) {
  constexpr std::int64_t kCount = native::kStreamedBytes + 1000;
  std::vector<std::int16_t> numbers(kCount);
  for (std::size_t i = 0; i < numbers.size(); ++i) numbers[i] = static_cast<std::int16_t>(i * 7919);
  Bytes got(kCount + 1, 7);
  elementwise(Stream(Device::cpu()), Operation::less,
              {TensorView(numbers.data(), DType::i16, {kCount}), 100.0},
              TensorView(got.data() + 1, DType::bool_, {kCount}));
  EXPECT_EQ(got[0], 7);
  for (std::size_t i = 0; i < numbers.size(); ++i) ASSERT_EQ(got[i + 1], numbers[i] < 100 ? 1 : 0) << i;
}

}  // namespace
}  // namespace relayout::test
