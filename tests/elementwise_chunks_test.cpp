// Element-wise operations in chunks of rows: long rows from any address, with small strides, in both
// directions.
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "tests/support/devices.hpp"
#include "tests/support/elementwise_case.hpp"

namespace relayout::test {
namespace {

class ElementwiseChunksTest : public DeviceTest {};
INSTANTIATE_TEST_SUITE_P(Devices, ElementwiseChunksTest, ::testing::ValuesIn(test_devices()),
                         device_test_name);

using Op = Operation;

/// Rows of `length` elements, `step` apart, with gaps between them.
TensorSpec rows(DType type, std::int64_t length, std::int64_t step = 1, std::int64_t misaligned = 1) {
  const std::int64_t pitch = std::abs(step) * length + 3;
  return {type, {2, 3, length}, {3 * pitch + 1, pitch, step}, misaligned};
}

/// An operation on operands of one type, and the result's type.
struct Typed {
  Op operation;
  DType type, result;
  std::int64_t chunk;  // elements
};
const Typed kTyped[] = {
    {Op::add, DType::f32, DType::f32, 256},
    {Op::less, DType::f32, DType::bool_, 256},
    {Op::atan2, DType::f32, DType::f32, 256},
    {Op::sub, DType::f64, DType::f64, 128},
    {Op::div_floor, DType::i32, DType::i32, 256},
    {Op::bit_xor, DType::u64, DType::u64, 128},
    {Op::hypot, DType::f16, DType::f16, 512},
    {Op::mul, DType::bf16, DType::bf16, 512},
    {Op::prelu, DType::i16, DType::i16, 512},
    {Op::maximum, DType::i8, DType::i8, 1024},
    {Op::logical_xor, DType::bool_, DType::bool_, 1024},
};

std::string kernel_of(const Device& device, const Typed& t, const TensorSpec& a, const TensorSpec& out) {
  const auto view = [](const TensorSpec& spec, std::uintptr_t base) {
    const std::uintptr_t first = base + static_cast<std::uintptr_t>(spec.misaligned) * size_of(spec.type);
    return TensorView(reinterpret_cast<void*>(first), spec.type, spec.shape, spec.strides);
  };
  const std::string text =
      plan_elementwise(device, t.operation, {view(a, 1 << 20), view(a, 1 << 24)}, view(out, 1 << 28))
          .explain();
  const std::size_t begin = text.find("Kernel ");
  return text.substr(begin, text.find(':', begin) - begin);
}

TEST_P(ElementwiseChunksTest, RowsFromAnyAddress) {
  for (const Typed& t : kTyped) {
    for (const std::int64_t length : {t.chunk - 1, t.chunk, 2 * t.chunk - 31, 4 * t.chunk + 1}) {
      const TensorSpec out = rows(t.result, length, 1, 2);
      if (length <= t.chunk &&
          device().kind() != DeviceKind::cpu) {  // shorter than unaligned vectors are worth
        const std::string kernel = kernel_of(device(), t, rows(t.type, length), out);
        EXPECT_NE(kernel.find("typed, chunks of rows"), std::string::npos) << kernel << " " << length;
      }
      check(stream(), {{t.operation}, {rows(t.type, length), rows(t.type, length, 1, 3)}, out, t.type});
    }
  }
}

TEST_P(ElementwiseChunksTest, StridesInBothDirectionsAndRepeatedElements) {
  for (const Typed& t : kTyped) {
    const std::int64_t length = 2 * t.chunk - 5;
    const TensorSpec out = rows(t.result, length), straight = rows(t.type, length);
    for (const std::int64_t step : {2, -1, -2})
      check(stream(), {{t.operation}, {rows(t.type, length, step), straight}, out, t.type});
    const TensorSpec element{t.type, {2, 3, 1}, {}, 1}, row{t.type, {length}, {}, 1};
    check(stream(), {{t.operation}, {element, row}, out, t.type});
    check(stream(), {{t.operation}, {straight, element}, out, t.type});
  }
}

TEST_P(ElementwiseChunksTest, OperandsOfSeveralTypes) {
  struct Mixed {
    Op operation;
    std::vector<DType> types;
    DType common, result;
  };
  const Mixed cases[] = {
      {Op::sin, {DType::i16}, DType::f32, DType::f32},
      {Op::truediv, {DType::u8, DType::u16}, DType::f32, DType::f32},
      {Op::hypot, {DType::i32, DType::f32}, DType::f32, DType::f32},
      {Op::copysign, {DType::i64, DType::bool_}, DType::f32, DType::f32},
      {Op::where, {DType::bool_, DType::f32, DType::f16}, DType::f32, DType::f32},
      {Op::isfinite, {DType::i64}, DType::f32, DType::bool_},
      {Op::greater, {DType::bf16, DType::f32}, DType::f32, DType::bool_},
  };
  for (const Mixed& m : cases) {
    for (const std::int64_t length : {256, 509, 1023}) {
      ElementwiseCase c;
      c.operations = {m.operation};
      for (const DType type : m.types)
        c.operands.emplace_back(rows(type, length, c.operands.size() == 1 ? 2 : 1));
      c.out = rows(m.result, length, 1, 2);
      c.common = m.common;
      check(stream(), c);
    }
  }
}

}  // namespace
}  // namespace relayout::test
