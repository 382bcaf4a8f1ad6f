// Operations that the processor computes on elements of bf16 as they lie in memory.
#include <gtest/gtest.h>

#include <cstdint>
#include <vector>

#include "host/reference/accuracy.hpp"
#include "host/reference/arithmetic.hpp"

#include <relayout/relayout.hpp>

namespace relayout::test {
namespace {

using Elements = std::vector<std::uint16_t>;

TensorView view_of(Elements& elements) {
  return TensorView(elements.data(), DType::bf16, {static_cast<std::int64_t>(elements.size())});
}

/// Zeros, ones, the ends of subnormal and of normal numbers, infinities and NaNs, of both signs.
Elements special_numbers() {
  Elements numbers;
  for (const std::uint16_t bits : {0x0000, 0x0001, 0x007f, 0x0080, 0x3f7f, 0x3f80, 0x3f81, 0x40c0, 0x7f7f,
                                   0x7f80, 0x7f81, 0x7fc0, 0x7fff}) {
    numbers.push_back(bits);
    numbers.push_back(static_cast<std::uint16_t>(bits | 0x8000));
  }
  return numbers;
}

void expect_right(Operation operation, const Elements& got, const Elements& expected) {
  for (std::size_t i = 0; i < got.size(); ++i)
    EXPECT_TRUE(reference::agrees(operation, DType::bf16, got[i], expected[i]))
        << name_of(operation) << ", element " << i << ": " << std::hex << got[i] << ", not " << expected[i];
}

constexpr Operation kOfTwo[] = {Operation::add,      Operation::sub,     Operation::mul,  Operation::truediv,
                                Operation::maximum,  Operation::minimum, Operation::fmax, Operation::fmin,
                                Operation::copysign, Operation::prelu};

TEST(NativeBf16, PairsOfSpecialNumbers) {
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
    reference::elementwise(operation, {view_of(first), view_of(second)}, DType::bf16, view_of(expected));
    expect_right(operation, got, expected);
  }
}

TEST(NativeBf16, Constants) {
  Elements numbers = special_numbers(), low(numbers.size(), 0xbf80),
           high(numbers.size(), 0x40c0);  // -1 and 6
  for (const Operation operation : kOfTwo) {
    Elements got(numbers.size()), expected(numbers.size());
    elementwise(Stream(Device::cpu()), operation, {view_of(numbers), 6.0}, view_of(got));
    reference::elementwise(operation, {view_of(numbers), view_of(high)}, DType::bf16, view_of(expected));
    expect_right(operation, got, expected);
  }
  Elements got(numbers.size()), expected(numbers.size());
  elementwise(Stream(Device::cpu()), Operation::clip, {view_of(numbers), -1.0, 6.0}, view_of(got));
  reference::elementwise(Operation::clip, {view_of(numbers), view_of(low), view_of(high)}, DType::bf16,
                         view_of(expected));
  expect_right(Operation::clip, got, expected);
}

/// What is no operation of bf16 alone is computed in f32: operands of other types, other roundings.
TEST(NativeBf16, OnlyWhereAllIsBf16) {
  const Stream stream(Device::cpu());
  Elements tenths(40, 0x3dcd), sums(40);  // 0.10009765625
  std::vector<std::uint8_t> ones(40, 1);
  for (const DType type : {DType::bool_, DType::u8, DType::i8}) {
    elementwise(stream, Operation::add, {view_of(tenths), TensorView(ones.data(), type, {40})},
                view_of(sums));
    EXPECT_EQ(sums, Elements(40, 0x3f8d)) << name_of(type);  // 1.1015625
  }

  Elements thirds(40, 0x3eab), large(40, 0x4300);  // 0.333984375 and 128
  ElementwiseOptions options;
  options.rounding = Rounding::up;
  elementwise(stream, Operation::add, {view_of(thirds), view_of(large)}, view_of(sums), options);
  EXPECT_EQ(sums, Elements(40, 0x4301));  // 129
  elementwise(stream, Operation::add, {view_of(thirds), view_of(large)}, view_of(sums));
  EXPECT_EQ(sums, Elements(40, 0x4300));
}

}  // namespace
}  // namespace relayout::test
