// Every operation on every type against the oracle, on values that are hard for arithmetic; and types that
// mix.
#include <gtest/gtest.h>

#include <array>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "host/api/operation_rules.hpp"
#include "host/reference/accuracy.hpp"
#include "tests/support/arithmetic_inputs.hpp"
#include "tests/support/devices.hpp"
#include "tests/support/guarded_buffer.hpp"

namespace relayout::test {
namespace {

using ElementwiseTest = DeviceTest;

constexpr std::array<DType, 13> kTypes{DType::bool_, DType::u8,  DType::u16, DType::u32, DType::u64,
                                       DType::i8,    DType::i16, DType::i32, DType::i64, DType::f16,
                                       DType::bf16,  DType::f32, DType::f64};
constexpr std::int64_t kElements = 3001;

/// Whether the operation works in this type; floating operations take other types as well, by way of f32.
bool works_in(OperationKind kind, DType type) {
  switch (kind) {
    case OperationKind::arithmetic:
      return type != DType::bool_;
    case OperationKind::floating:
    case OperationKind::predicate:
      return is_floating(type);
    case OperationKind::bits:
      return is_integral(type) || type == DType::bool_;
    case OperationKind::shift:
      return is_integral(type);
    case OperationKind::relational:
    case OperationKind::logical:
    case OperationKind::select:
      return true;
  }
  return false;
}

/// Operand number `which` of an operation: all interesting values meet all others, as far as the elements
/// allow.
void fill_operand(const TensorView& view, int which) {
  const std::vector<std::uint64_t> values = interesting(view.dtype());
  std::uint64_t i = 0;
  for_each_element(view, [&](const Dims&, std::int64_t offset) {
    const std::uint64_t pick = which == 0 ? i : hash(i, 20 + which);
    store_bits(element_at(view, offset), view.dtype(), values[pick % values.size()]);
    ++i;
  });
}

/// Numbers that test shifts and powers better than random bits.
void fill_counts(const TensorView& view) {
  std::uint64_t i = 0;
  for_each_element(view, [&](const Dims&, std::int64_t offset) {
    store_bits(element_at(view, offset), view.dtype(), (hash(i++, 31) % 80) - 8);
  });
}

struct Operands {
  std::vector<std::unique_ptr<GuardedBuffer>> buffers;
  std::vector<TensorView> host;
  std::vector<Operand> device;
};

Operands make_operands(const Stream& stream, Operation operation, const std::vector<DType>& types) {
  Operands operands;
  for (std::size_t i = 0; i < types.size(); ++i) {
    auto buffer = std::make_unique<GuardedBuffer>(stream, Role::input, types[i], Dims{kElements});
    const bool counts = i == 1 && is_integral(types[i]) &&
                        (operation == Operation::shift_left || operation == Operation::shift_right ||
                         operation == Operation::pow);
    counts ? fill_counts(buffer->host()) : fill_operand(buffer->host(), static_cast<int>(i));
    buffer->upload();
    operands.host.push_back(buffer->host());
    operands.device.push_back(buffer->device());
    operands.buffers.push_back(std::move(buffer));
  }
  return operands;
}

/// The elements that the device got wrong by more than the operation's bound.
std::string mistakes(Operation operation, DType common, const Operands& operands, const TensorView& got,
                     const TensorView& expected) {
  std::string text;
  int count = 0;
  for (std::int64_t i = 0; i < got.elements(); ++i) {
    const std::uint64_t is = reference::load_bits(got, {i}), should = reference::load_bits(expected, {i});
    if (reference::agrees(operation, common, is, should)) continue;
    // GPUs widen a NaN of f16 without its sign.
    const TensorView& sign = operands.host.back();
    if (operation == Operation::copysign &&
        std::isnan(reference::exact_value(sign.dtype(), reference::load_bits(sign, {i}))))
      continue;
    if (count++ == 3) break;
    text += std::string(name_of(operation)) + " of";
    for (const TensorView& operand : operands.host)
      text += " " + describe(reference::load_bits(operand, {i}), operand.dtype());
    text += ": " + describe(is, got.dtype()) + ", should be " + describe(should, expected.dtype()) + "\n";
  }
  return text;
}

/// out_strides: none for an output in one piece.
void expect_right(const Stream& stream, Operation operation, const std::vector<DType>& types, DType common,
                  const ElementwiseOptions& options = {}, const Dims& out_strides = {}) {
  SCOPED_TRACE(std::string(name_of(operation)) + " in " + name_of(common) + ", first operand " +
               name_of(types[0]));
  const Operands operands = make_operands(stream, operation, types);
  const DType result = reference::result_type(operation, common);
  GuardedBuffer out(stream, Role::output, result, {kElements}, out_strides);
  elementwise(stream, operation, operands.device, out.device(), options);
  reference::elementwise(operation, operands.host, common, out.host(), {}, options.rounding);
  const std::vector<unsigned char> bytes = out.download();
  EXPECT_EQ(mistakes(operation, common, operands, out.view_of(bytes), out.host()), "");
  EXPECT_TRUE(out.check_outside());
  for (const auto& buffer : operands.buffers) EXPECT_TRUE(buffer->check());
}

void expect_all_types(const Stream& stream, OperationKind kind, const Dims& out_strides = {}) {
  for (int i = 0; i < kOperations; ++i) {
    const auto operation = static_cast<Operation>(i);
    if (rule_of(operation).kind != kind) continue;
    for (const DType type : kTypes) {
      if (!works_in(kind, type)) continue;
      std::vector<DType> types(static_cast<std::size_t>(operands_of(operation)), type);
      if (kind == OperationKind::select) types[0] = DType::bool_;
      expect_right(stream, operation, types, type, {}, out_strides);
    }
  }
}

TEST_P(ElementwiseTest, Arithmetic) { expect_all_types(stream(), OperationKind::arithmetic); }
TEST_P(ElementwiseTest, Floating) { expect_all_types(stream(), OperationKind::floating); }
TEST_P(ElementwiseTest, Bits) {
  expect_all_types(stream(), OperationKind::bits);
  expect_all_types(stream(), OperationKind::shift);
}
TEST_P(ElementwiseTest, Relational) {
  expect_all_types(stream(), OperationKind::relational);
  expect_all_types(stream(), OperationKind::predicate);
}
TEST_P(ElementwiseTest, LogicalAndSelect) {
  expect_all_types(stream(), OperationKind::logical);
  expect_all_types(stream(), OperationKind::select);
}
/// Elements apart, for which there are kernels of their own.
TEST_P(ElementwiseTest, ShiftsAndRelationsToEverySecondElement) {
  for (const OperationKind kind :
       {OperationKind::shift, OperationKind::relational, OperationKind::predicate, OperationKind::logical})
    expect_all_types(stream(), kind, {2});
}

TEST_P(ElementwiseTest, EveryPairOfTypesThatHasACommonOne) {
  for (const DType a : kTypes) {
    for (const DType b : kTypes) {
      DType common = a;
      try {
        common = common_type(a, b);
      } catch (const Error&) {
        continue;
      }
      if (a == b) continue;
      expect_right(stream(), common == DType::bool_ ? Operation::equal : Operation::add, {a, b}, common);
      expect_right(stream(), Operation::less, {a, b}, common);
      expect_right(stream(), Operation::where, {b, a, b}, common);
    }
  }
}

TEST_P(ElementwiseTest, EveryOperationOfTwoTakesTwoFloatingTypes) {
  for (int i = 0; i < kOperations; ++i) {
    const auto operation = static_cast<Operation>(i);
    if (operands_of(operation) != 2 || !works_in(rule_of(operation).kind, DType::f32)) continue;
    for (const DType other : {DType::f16, DType::bf16, DType::f64}) {
      const DType common = common_type(other, DType::f32);
      expect_right(stream(), operation, {other, DType::f32}, common);
      expect_right(stream(), operation, {DType::f32, other}, common);
    }
  }
}

TEST_P(ElementwiseTest, LogicalTakesAnyTwoTypes) {
  for (const DType a : kTypes) {
    for (const DType b : kTypes) expect_right(stream(), Operation::logical_xor, {a, b}, DType::bool_);
  }
}

TEST_P(ElementwiseTest, IntegersGoToFloatingOperationsByWayOfF32) {
  for (const DType type : kTypes) {
    if (is_floating(type)) continue;
    expect_right(stream(), Operation::sqrt, {type}, DType::f32);
    expect_right(stream(), Operation::truediv, {type, type}, DType::f32);
    expect_right(stream(), Operation::isfinite, {type}, DType::f32);
  }
}

TEST_P(ElementwiseTest, RoundsAsAsked) {
  for (const Rounding rounding : {Rounding::toward_zero, Rounding::down, Rounding::up}) {
    ElementwiseOptions options;
    options.rounding = rounding;
    for (const DType type : {DType::f16, DType::bf16, DType::f32, DType::f64}) {
      for (const Operation operation :
           {Operation::add, Operation::sub, Operation::mul, Operation::truediv, Operation::sqrt}) {
        expect_right(stream(), operation,
                     std::vector<DType>(static_cast<std::size_t>(operands_of(operation)), type), type,
                     options);
      }
    }
  }
}

/// Sums next to the largest number, whose errors are found by differences that must not overflow.
TEST_P(ElementwiseTest, RoundsAsAskedNextToTheLargestNumber) {
  const std::uint64_t a = 0xffd7ffffffffffff, b = 0x7fefffffffffffff, sign = std::uint64_t{1} << 63;
  const GuardedBuffer left(stream(), Role::input, DType::f64, {2}),
      right(stream(), Role::input, DType::f64, {2}), out(stream(), Role::output, DType::f64, {2});
  const std::pair<Rounding, std::uint64_t> expected[] = {{Rounding::toward_zero, 0x7fe3ffffffffffff},
                                                         {Rounding::down, 0x7fe3ffffffffffff},
                                                         {Rounding::up, 0x7fe4000000000000}};
  for (const auto& [rounding, bits] : expected) {
    for (const bool subtracts : {false, true}) {
      reference::store_bits(left.host(), {0}, a);
      reference::store_bits(left.host(), {1}, b);
      reference::store_bits(right.host(), {0}, subtracts ? b ^ sign : b);
      reference::store_bits(right.host(), {1}, subtracts ? a ^ sign : a);
      left.upload();
      right.upload();
      ElementwiseOptions options;
      options.rounding = rounding;
      elementwise(stream(), subtracts ? Operation::sub : Operation::add, {left.device(), right.device()},
                  out.device(), options);
      for (const std::int64_t i : {0, 1}) reference::store_bits(out.host(), {i}, bits);
      EXPECT_TRUE(out.check()) << static_cast<int>(rounding) << ' ' << subtracts;
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Devices, ElementwiseTest, ::testing::ValuesIn(test_devices()), device_test_name);

}  // namespace
}  // namespace relayout::test
