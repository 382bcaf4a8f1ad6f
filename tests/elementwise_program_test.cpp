// Programs of several operations in one pass: many tensors, running values on either side, comparisons that
// choose, codes among the operands and as results; and what plans say of the kernel.
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "tests/support/devices.hpp"
#include "tests/support/elementwise_case.hpp"
#include "tests/support/quantized_check.hpp"

namespace relayout::test {
namespace {

class ElementwiseProgramTest : public DeviceTest {};
INSTANTIATE_TEST_SUITE_P(Devices, ElementwiseProgramTest, ::testing::ValuesIn(test_devices()),
                         device_test_name);

using Op = Operation;
constexpr DType kF32 = DType::f32, kF16 = DType::f16;
const Dims kImages{3, 10, 7, 9}, kEach{10, 1, 1};

TensorSpec spec(DType type, const Dims& shape, std::int64_t misaligned = 0) {
  return {type, shape, {}, misaligned};
}

ElementwiseCase program(DType type, const std::vector<Operation>& operations,
                        const std::vector<OperandSpec>& operands, const std::vector<int>& running = {}) {
  ElementwiseCase c;
  c.operations = operations;
  c.operands = operands;
  c.running = running;
  c.out = spec(type, kImages, 1);
  c.common = type;
  return c;
}

TEST_P(ElementwiseProgramTest, BatchNormOnFiveTensors) {
  for (const DType type : {kF32, kF16, DType::bf16, DType::f64, DType::i32, DType::u8, DType::i64}) {
    const OperandSpec each = spec(type, kEach);
    const Op divide = is_floating(type) ? Op::truediv : Op::div;
    check(stream(),
          program(type, {Op::sub, divide, Op::mul, Op::add}, {spec(type, kImages), each, each, each, each}));
  }
}

TEST_P(ElementwiseProgramTest, RunningValuesOnEitherSide) {
  for (const DType type : {kF32, kF16, DType::f64, DType::i16, DType::i64}) {
    const OperandSpec x = spec(type, kImages), each = spec(type, kEach), value = Literal(3);
    const Op divide = is_floating(type) ? Op::truediv : Op::div_floor;
    check(stream(), program(type, {Op::add, divide}, {each, value, x}, {0, 1}));
    check(stream(), program(type, {Op::mul, Op::sub, Op::neg}, {x, each, value}, {0, 1, 0}));
    check(stream(), program(type, {Op::mul, Op::add, Op::mul}, {x, each, value, each}, {0, 1, 1}));
    for (const int running : {0, 1, 2}) {
      check(stream(), program(type, {Op::add, Op::clip}, {x, value, each, Literal(6)}, {0, running}));
      check(stream(), program(type, {Op::sub, Op::where}, {x, value, each, x}, {0, running}));
    }
  }
}

/// In tiles that are as full as the kernel for transposed operands wants them, and in some that are less.
TEST_P(ElementwiseProgramTest, TransposedOperandsBesideConstantsAndRows) {
  const struct {
    DType type;
    std::int64_t rows, columns;
  } planes[] = {{kF32, 64, 80},          {kF32, 64, 112},       {kF16, 64, 80},      {kF16, 128, 248},
                {DType::bf16, 128, 128}, {DType::i32, 64, 112}, {DType::f64, 32, 62}};
  for (const auto& [type, rows, columns] : planes) {
    const TensorSpec across{type, {rows, columns}, {1, rows}, 0},
        along{type, {rows, columns}, {columns, 1}, 0};
    for (const auto& [first, second] : {std::pair<OperandSpec, OperandSpec>{Literal(3), across},
                                        {across, Literal(3)},
                                        {across, along},
                                        {along, across}}) {
      ElementwiseCase c = program(type, {Op::sub}, {first, second});
      c.out = spec(type, {rows, columns});
      check(stream(), c);
    }
  }
}

TEST_P(ElementwiseProgramTest, ComparesThenChooses) {
  for (const DType type : {kF32, kF16, DType::bf16, DType::f64, DType::u8, DType::i32}) {
    const OperandSpec x = spec(type, kImages), y = spec(type, kImages, 3), each = spec(type, kEach);
    for (const Op compare : {Op::greater, Op::equal, Op::less_equal}) {
      check(stream(), program(type, {compare, Op::where}, {x, each, x, y}));
      check(stream(), program(type, {compare, Op::where}, {x, Literal(2), x, Literal(1)}));
      check(stream(), program(type, {Op::sub, compare, Op::where, Op::square}, {x, each, Literal(2), x, y}));
    }
  }
  check(stream(),
        program(kF32, {Op::isnan, Op::where}, {spec(kF32, kImages), Literal(0), spec(kF32, kImages)}));
}

TEST_P(ElementwiseProgramTest, EightTensorsAndOperations) {
  for (const DType type : {kF32, kF16, DType::i8, DType::f64}) {
    ElementwiseCase c = program(
        type, {Op::add, Op::mul, Op::sub, Op::maximum, Op::add, Op::square, Op::minimum, Op::sub},
        {spec(type, kImages), spec(type, kEach), spec(type, {9}), spec(type, {}), spec(type, kImages, 1),
         spec(type, {3, 1, 1, 1}), spec(type, {7, 1}), spec(type, kImages, 2)},
        {0, 1, 1, 0, 0, 0, 1, 1});
    check(stream(), c);
    c.options.cast_out = true;
    c.out.type = DType::u16;
    check(stream(), c);
  }
  check(stream(), program(kF16, {Op::mul, Op::add, Op::exp, Op::sub},
                          {spec(DType::u8, kImages), Literal(0.01), spec(kF16, kEach), spec(DType::i64, {9})},
                          {0, 0, 0, 1}));
}

TEST_P(ElementwiseProgramTest, RedGreenBlueToGrey) {
  ElementwiseCase c;
  c.operations = {Op::mul, Op::add, Op::mul, Op::add, Op::mul};
  for (const double factor : {0.299 / 0.587, 0.587 / 0.114, 0.114}) {
    c.operands.emplace_back(TensorSpec{DType::u8, {13, 17}, {51, 3}, 0});
    c.operands.emplace_back(Literal(factor));
  }
  c.out = spec(DType::u8, {13, 17});
  c.options.cast_out = true;
  c.options.cast.rounding = Rounding::nearest_even;
  check(stream(), c);
}

/// One step after the other, on the f32 that operands stand for.
std::uint64_t composed(const std::vector<Step>& steps, const std::vector<std::uint64_t>& operands) {
  std::uint64_t running = 0;
  std::size_t next = 0;
  for (std::size_t i = 0; i < steps.size(); ++i) {
    std::uint64_t bits[3] = {};
    for (int k = 0; k < operands_of(steps[i].operation); ++k)
      bits[k] = i > 0 && k == steps[i].running ? running : operands[next++];
    running = reference::apply(steps[i].operation, kF32, bits[0], bits[1], bits[2]);
  }
  return running;
}

void expect_composed(const Stream& stream, const std::vector<Step>& steps,
                     const std::vector<CheckedOperand>& operands, const CodesTensor& out) {
  chain(stream, steps, device_operands(operands), out.quantized());
  const auto result = [&](const Dims& index) {
    std::vector<std::uint64_t> bits;
    for (const CheckedOperand& operand : operands) bits.push_back(number_bits(operand, index));
    return Quotient{composed(steps, bits)};
  };
  EXPECT_EQ(wrong_codes(out, false, result), "");
  EXPECT_TRUE(out.codes().check_outside());
  EXPECT_TRUE(out.check_inputs());
  expect_inputs_kept(operands);
}

TEST_P(ElementwiseProgramTest, CodesAreRoundedToOnce) {
  const Dims shape{4, 6, 50}, each{6, 1};
  GuardedBuffer bias(stream(), Role::input, kF32, each);
  fill_with(bias.host(), [](std::uint64_t i) { return static_cast<double>(i) / 7 - 0.4; });
  bias.upload();
  for (const DType type : {DType::i8, DType::u8}) {
    const int zero = type == DType::i8 ? -3 : 120;
    const CodesTensor x(stream(), Role::input, {type, shape, 0.031f, zero}, 1);
    const CodesTensor y(stream(), Role::input, {DType::i8, shape, 0.05f, 3, each, each}, 2);
    const CodesTensor small(stream(), Role::input, {DType::u8, each, 0.02f, 99}, 3);
    const CodesTensor out(stream(), Role::output, {type, shape, 0.047f, zero});
    const CodesTensor many(stream(), Role::output, {type, shape, 0.047f, zero, each, each});
    expect_composed(stream(), {Op::add, Op::relu}, {&x, &bias}, out);
    expect_composed(stream(), {Op::add, Op::relu}, {&x, &small}, many);
    expect_composed(stream(), {Op::mul, Op::add, {Op::sub, 1}}, {&x, &y, &small, 1.5f}, out);
    expect_composed(stream(), {Op::add, {Op::truediv, 1}}, {&small, 0.5f, &x}, out);
    expect_composed(stream(), {Op::add, Op::clip}, {&x, &bias, 0.0f, 6.0f}, out);
  }
}

TEST_P(ElementwiseProgramTest, CodesBesideOtherTypes) {
  const CodesTensor codes(stream(), Role::input, {DType::i8, {5, 40}, 0.25f, 3}, 1);
  GuardedBuffer halves(stream(), Role::input, kF16, {40}), bytes(stream(), Role::input, DType::u8, {5, 1}),
      out(stream(), Role::output, kF32, {5, 40});
  fill_with(halves.host(), [](std::uint64_t i) { return static_cast<double>(i) / 4 - 3; });
  fill_with(bytes.host(), [](std::uint64_t i) { return static_cast<double>(i); });
  halves.upload();
  bytes.upload();
  chain(stream(), {Op::mul, Op::add}, {codes.quantized(), halves.device(), bytes.device()}, out.device());
  for_each_element(out.host(), [&](const Dims& index, std::int64_t offset) {
    const auto f32 = [&](const GuardedBuffer& buffer) {
      const TensorView& view = buffer.host();
      return reference::convert_bits(load_bits(element_at(view, offset_within(view, index)), view.dtype()),
                                     view.dtype(), kF32);
    };
    const std::uint64_t bits =
        composed({Op::mul, Op::add}, {reference::dequantize(codes.number(index)), f32(halves), f32(bytes)});
    store_bits(element_at(out.host(), offset), kF32, bits);
  });
  EXPECT_TRUE(out.check());
}

TEST_P(ElementwiseProgramTest, PlansOnCodesRunOnOtherMemory) {
  const CodesTensor x(stream(), Role::input, {DType::i8, {400}, 0.05f, 3}, 1);
  const CodesTensor y(stream(), Role::input, {DType::i8, {400}, 0.05f, 3}, 2);
  const CodesTensor out(stream(), Role::output, {DType::i8, {400}, 0.04f, -7});
  const std::vector<Step> steps{Op::square, Op::relu};
  const ElementwisePlan plan = plan_chain(device(), steps, {x.quantized()}, out.quantized());
  plan.run(stream(), {y.codes().device().data()}, out.codes().device().data());
  EXPECT_EQ(wrong_codes(out, false,
                        [&](const Dims& index) {
                          return Quotient{composed(steps, {reference::dequantize(y.number(index))})};
                        }),
            "");
}

/// Rows of whole vectors, between which `gap` elements lie in one operand.
TEST(ElementwiseProgram, MisalignedRowsAreReadByPartsOfVectors) {
  if (!has_emulated_devices()) GTEST_SKIP() << "this build has no emulated devices";
  const auto kernel = [&](DType type, std::int64_t gap) {
    const std::int64_t length = 8 * 16 / static_cast<std::int64_t>(size_of(type));
    const TensorView out(nullptr, type, {8, length}), operand(nullptr, type, {8, length}, {length + gap, 1});
    const std::string text = plan_chain(Device::emulated(32), {Op::add}, {operand, out}, out).explain();
    const std::size_t begin = text.find("Kernel ");
    return text.substr(begin, text.find(':', begin) - begin);
  };
  EXPECT_EQ(kernel(DType::f64, 1), "Kernel typed");
  EXPECT_EQ(kernel(kF32, 1), "Kernel typed");
  EXPECT_EQ(kernel(kF16, 4), "Kernel typed");
  EXPECT_EQ(kernel(kF16, 2), "Kernel typed");
  EXPECT_EQ(kernel(kF16, 1), "Kernel typed, unaligned");
  EXPECT_EQ(kernel(DType::u8, 4), "Kernel typed");
  EXPECT_EQ(kernel(DType::u8, 2), "Kernel typed, unaligned");
}

TEST(ElementwiseProgram, PlansSayWhichKernelAndWhy) {
  if (!has_emulated_devices()) GTEST_SKIP() << "this build has no emulated devices";
  const auto explained = [&](const Program& steps, const std::vector<Operand>& operands, const Output& out) {
    return plan_chain(Device::emulated(32), steps, operands, out).explain();
  };
  const auto view = [](DType type, const Dims& strides = {}) {
    return strides.empty() ? TensorView(nullptr, type, {64, 64})
                           : TensorView(nullptr, type, {64, 64}, strides);
  };
  const TensorView f32 = view(kF32), f16 = view(kF16), i16 = view(DType::i16);
  const TensorView small(nullptr, kF32, {16, 16}), long_rows(nullptr, kF32, {4, 500}, {501, 1}),
      other_rows(nullptr, kF32, {4, 500}, {502, 1});
  const QuantizedTensor codes{view(DType::i8), 0.5f, 0},
      short_codes{TensorView(nullptr, DType::i8, {64, 20}, {32, 1}), 0.5f, 0};
  const struct {
    std::string text;
    std::vector<std::string> words;
  } plans[] = {
      {explained({Op::add}, {f32, f32}, f32), {"Kernel typed:", "Not transposed: no single operand"}},
      {explained({Op::add}, {f32, view(kF32, {1, 64})}, f32), {"Kernel transposed:"}},
      {explained({Op::add}, {small, TensorView(nullptr, kF32, {16, 16}, {1, 16})}, small),
       {"Kernel typed, strips: 32 lanes with a strip of 8 elements each.",
        "Not transposed: too much of its tiles would be empty"}},
      {explained({Op::exp}, {f32}, f32), {"Kernel typed, costly operation:", "takes many instructions"}},
      {explained({Op::mod}, {i16, i16}, i16), {"Kernel typed, costly operation:"}},
      {explained({Op::add, Op::exp}, {f32, f32}, f32),
       {"Kernel chain, activations:", "Not typed: there are several"}},
      {explained({Op::truediv}, {i16, i16}, f32),
       {"Kernel mixed types:", "Not typed: no instance has these types"}},
      {explained({Op::truediv}, {i16, view(DType::i16, {1, 64})}, f32),
       {"Kernel mixed types, strips: 512 lanes with a strip of 8 elements each."}},
      {explained({Op::add}, {long_rows, other_rows}, long_rows),
       {"Kernel typed, chunks of rows: 8 chunks of 256 elements, 2 a row."}},
      {explained({Op::exp}, {other_rows}, long_rows), {"Kernel typed, chunks of rows, costly operation: "}},
      {explained({Op::sin}, {TensorView(nullptr, DType::i16, {4, 500}, {502, 1})}, long_rows),
       {"Kernel mixed types, chunks of rows: 8 chunks of 256 elements, 2 a row."}},
      {explained({Op::logical_and}, {f16, f16}, view(DType::bool_)), {"Kernel typed:"}},
      {explained({Op::add, Op::relu}, {f16, f16}, f16),
       {"Kernel chain, cheap", "Not typed: there are several"}},
      {explained({Op::add, Op::relu}, {f16, f32}, f32),
       {"Kernel vectors:", "Not program in strips: all rows lie in aligned vectors"}},
      {explained({Op::add, Op::relu}, {codes, QuantizedTensor{view(DType::i8, {65, 1}), 0.5f, 0}}, codes),
       {"Kernel program, strips: 1024 lanes with a strip of 4 elements each.", "Not rows of codes: "}},
      {explained({Op::add, {Op::sub, 1}}, {f32, 1, f32}, f32), {"Kernel program:", "Not vectors: a running"}},
      {explained({Op::add, Op::add, Op::exp, Op::add}, {f32, f32, f32, f32}, f32),
       {"Kernel program, costly", "more than three tensors"}},
      {explained({Op::add}, {codes, codes}, codes), {"Kernel rows of codes:", "to i8 codes"}},
      {explained({Op::add}, {short_codes, short_codes}, short_codes),
       {"Kernel codes, strips: ", "Not rows of codes: rows are short and end inside vectors"}},
      {explained({Op::add, Op::relu}, {codes, codes}, codes), {"Kernel program:", "not one add, sub or mul"}},
  };
  for (const auto& plan : plans) {
    for (const std::string& word : plan.words)
      EXPECT_NE(plan.text.find(word), std::string::npos) << word << "\n" << plan.text;
  }
}

}  // namespace
}  // namespace relayout::test
