// Operations that the processor computes on elements of f16, bf16 and bool as they lie in memory.
#include <gtest/gtest.h>

#include <cstdint>
#include <vector>

#include "host/reference/accuracy.hpp"
#include "host/reference/arithmetic.hpp"

#include <relayout/relayout.hpp>

namespace relayout::test {
namespace {

using Elements = std::vector<std::uint16_t>;
using Bytes = std::vector<std::uint8_t>;

class NativeHalves : public ::testing::TestWithParam<DType> {
 protected:
  DType type() const { return GetParam(); }
  std::uint16_t bits(std::uint16_t of_f16, std::uint16_t of_bf16) const {
    return type() == DType::f16 ? of_f16 : of_bf16;
  }
  TensorView view_of(Elements& elements) const {
    return TensorView(elements.data(), type(), {static_cast<std::int64_t>(elements.size())});
  }

  /// Zeros, ones, the ends of subnormal and of normal numbers, infinities and NaNs, of both signs.
  Elements special_numbers() const {
    const Elements of_f16{0x0000, 0x0001, 0x03ff, 0x0400, 0x3bff, 0x3c00, 0x3c01,
                          0x4600, 0x7bff, 0x7c00, 0x7c01, 0x7e00, 0x7fff},
        of_bf16{0x0000, 0x0001, 0x007f, 0x0080, 0x3f7f, 0x3f80, 0x3f81,
                0x40c0, 0x7f7f, 0x7f80, 0x7f81, 0x7fc0, 0x7fff};
    Elements numbers;
    for (const std::uint16_t number : type() == DType::f16 ? of_f16 : of_bf16) {
      numbers.push_back(number);
      numbers.push_back(static_cast<std::uint16_t>(number | 0x8000));
    }
    return numbers;
  }

  void expect_right(Operation operation, const Elements& got, const Elements& expected) const {
    for (std::size_t i = 0; i < got.size(); ++i)
      EXPECT_TRUE(reference::agrees(operation, type(), got[i], expected[i]))
          << name_of(operation) << ", element " << i << ": " << std::hex << got[i] << ", not " << expected[i];
  }
};
INSTANTIATE_TEST_SUITE_P(Types, NativeHalves, ::testing::Values(DType::f16, DType::bf16),
                         [](const auto& type) { return std::string(name_of(type.param)); });

constexpr Operation kOfTwo[] = {Operation::add,      Operation::sub,     Operation::mul,  Operation::truediv,
                                Operation::maximum,  Operation::minimum, Operation::fmax, Operation::fmin,
                                Operation::copysign, Operation::prelu};

TEST_P(NativeHalves, SpecialNumbers) {
  Elements numbers = special_numbers();
  for (const Operation operation :
       {Operation::neg, Operation::abs, Operation::relu, Operation::sign, Operation::square,
        Operation::reciprocal, Operation::floor, Operation::round, Operation::sqrt, Operation::hardswish}) {
    Elements got(numbers.size()), expected(numbers.size());
    elementwise(Stream(Device::cpu()), operation, {view_of(numbers)}, view_of(got));
    reference::elementwise(operation, {view_of(numbers)}, type(), view_of(expected));
    expect_right(operation, got, expected);
  }
}

TEST_P(NativeHalves, PairsOfSpecialNumbers) {
  Elements first, second;
  for (const std::uint16_t a : special_numbers()) {
    for (const std::uint16_t b : special_numbers()) {
      first.push_back(a);
      second.push_back(b);
    }
  }
  for (const Operation operation : kOfTwo) {
    Elements got(first.size()), expected(first.size());
    elementwise(Stream(Device::cpu()), operation, {view_of(first), view_of(second)}, view_of(got));
    reference::elementwise(operation, {view_of(first), view_of(second)}, type(), view_of(expected));
    expect_right(operation, got, expected);
  }
}

TEST_P(NativeHalves, Constants) {
  Elements numbers = special_numbers(), low(numbers.size(), bits(0xbc00, 0xbf80)),
           high(numbers.size(), bits(0x4600, 0x40c0));  // -1 and 6
  for (const Operation operation : kOfTwo) {
    Elements got(numbers.size()), expected(numbers.size());
    elementwise(Stream(Device::cpu()), operation, {view_of(numbers), 6.0}, view_of(got));
    reference::elementwise(operation, {view_of(numbers), view_of(high)}, type(), view_of(expected));
    expect_right(operation, got, expected);
  }
  Elements got(numbers.size()), expected(numbers.size());
  elementwise(Stream(Device::cpu()), Operation::clip, {view_of(numbers), -1.0, 6.0}, view_of(got));
  reference::elementwise(Operation::clip, {view_of(numbers), view_of(low), view_of(high)}, type(),
                         view_of(expected));
  expect_right(Operation::clip, got, expected);
}

/// What is no operation of one of these types alone is computed in f32: operands of other types, other
/// roundings.
TEST_P(NativeHalves, OnlyWhereAllAreOfTheType) {
  const Stream stream(Device::cpu());
  Elements numbers(40, bits(0x2e68, 0x3dcd)), results(40);  // 0.10009765625
  Bytes ones(40, 1);
  for (const DType other : {DType::bool_, DType::u8, DType::i8}) {
    const TensorView second(ones.data(), other, {40});
    elementwise(stream, Operation::add, {view_of(numbers), second}, view_of(results));
    EXPECT_EQ(results, Elements(40, bits(0x3c66, 0x3f8d))) << name_of(other);  // 1.099609375; 1.1015625
    elementwise(stream, Operation::maximum, {view_of(numbers), second}, view_of(results));
    EXPECT_EQ(results, Elements(40, bits(0x3c00, 0x3f80))) << name_of(other);
  }

  Elements thirds(40, bits(0x3555, 0x3eab)), large(40, bits(0x6800, 0x4300));  // a third; 2048 and 128
  ElementwiseOptions options;
  options.rounding = Rounding::up;
  elementwise(stream, Operation::add, {view_of(thirds), view_of(large)}, view_of(results), options);
  EXPECT_EQ(results, Elements(40, bits(0x6801, 0x4301)));
  elementwise(stream, Operation::add, {view_of(thirds), view_of(large)}, view_of(results));
  EXPECT_EQ(results, large);
}

/// Every pair of some bytes.
struct BytePairs {
  Bytes first, second;

  BytePairs() {
    const Bytes bytes{0x00, 0x01, 0x02, 0x7f, 0x80, 0xff};
    for (const std::uint8_t a : bytes) {
      for (const std::uint8_t b : bytes) {
        first.push_back(a);
        second.push_back(b);
      }
    }
  }
};

TensorView view_of(Bytes& bytes, DType type) {
  return TensorView(bytes.data(), type, {static_cast<std::int64_t>(bytes.size())});
}

void expect_truth(Operation operation, const std::vector<TensorView>& operands) {
  const auto count = static_cast<std::size_t>(operands[0].elements());
  Bytes got(count), expected(count);
  elementwise(Stream(Device::cpu()), operation, {operands.begin(), operands.end()},
              view_of(got, DType::bool_));
  reference::elementwise(operation, operands, DType::bool_, view_of(expected, DType::bool_));
  EXPECT_EQ(got, expected) << name_of(operation);
}

TEST(NativeBools, AnyByteButZeroIsTrue) {
  BytePairs pairs;
  const TensorView a = view_of(pairs.first, DType::bool_), b = view_of(pairs.second, DType::bool_);
  for (const Operation operation :
       {Operation::logical_and, Operation::logical_or, Operation::logical_xor, Operation::bit_and,
        Operation::bit_or, Operation::bit_xor, Operation::equal, Operation::not_equal, Operation::less,
        Operation::less_equal, Operation::greater, Operation::greater_equal})
    expect_truth(operation, {a, b});
  for (const Operation operation : {Operation::logical_not, Operation::bit_not}) expect_truth(operation, {a});
}

TEST(NativeBools, LogicalOperationsOnNumbers) {
  BytePairs pairs;
  Elements words(pairs.first.size());
  for (std::size_t i = 0; i < words.size(); ++i)
    words[i] = static_cast<std::uint16_t>(pairs.first[i] << 8);  // 0 in the low byte
  const TensorView b = view_of(pairs.second, DType::bool_);
  for (const TensorView& a : {view_of(pairs.first, DType::u8), view_of(pairs.first, DType::i8),
                              TensorView(words.data(), DType::u16, b.shape())}) {
    for (const Operation operation : {Operation::logical_and, Operation::logical_or, Operation::logical_xor})
      expect_truth(operation, {a, b});
    expect_truth(Operation::logical_not, {a});
  }
}

}  // namespace
}  // namespace relayout::test
