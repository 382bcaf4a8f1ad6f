// One operation on one operand of 8-bit codes is a copy with a table of bytes: it is planned as one, and
// gives the codes of the formulas, exactly, wherever the codes lie.
#include <gtest/gtest.h>

#include <array>
#include <string>
#include <vector>

#include "tests/support/devices.hpp"
#include "tests/support/quantized_check.hpp"

namespace relayout::test {
namespace {

/// Their results are exact.
constexpr std::array<Operation, 3> kOperations{Operation::relu, Operation::hardswish, Operation::square};

bool has(const std::string& text, const std::string& words) { return text.find(words) != std::string::npos; }
bool is_table(const ElementwisePlan& plan) { return has(plan.explain(), "a copy looks them up"); }

// Which kernel does it. Only addresses are looked at.

constexpr std::uintptr_t kInput = 1 << 20, kOutput = 1 << 30;

TensorView codes_at(std::uintptr_t address, const Dims& shape, const Dims& strides = {}) {
  const auto* data = reinterpret_cast<const void*>(address);
  return strides.empty() ? TensorView(data, DType::i8, shape) : TensorView(data, DType::i8, shape, strides);
}

std::string explained(const TensorView& in, const TensorView& out) {
  return plan_quantized(DeviceProperties::h200(), Operation::hardswish, {QuantizedTensor{in, 0.05f, 3}},
                        QuantizedTensor{out, 0.07f, -2})
      .explain();
}

TEST(ByteTablePlan, TakesTheKernelOfACopy) {
  const TensorView piece = codes_at(kInput, {1 << 24}), to = codes_at(kOutput, {1 << 24});
  EXPECT_TRUE(has(explained(piece, to), "Kernel stream:")) << explained(piece, to);
  EXPECT_TRUE(has(explained(piece, to), "a copy looks them up"));
  EXPECT_TRUE(has(explained(codes_at(kInput + 3, {1 << 24}), to), "Kernel rows:"));
  const Dims shape{64, 1000};
  EXPECT_TRUE(has(explained(codes_at(kInput, shape, {1024, 1}), codes_at(kOutput, shape)), "Kernel rows:"));
  const Dims image{32, 56, 56, 256};
  const std::string turned =
      explained(codes_at(kInput, image, {56 * 56 * 256, 56, 1, 56 * 56}), codes_at(kOutput, image));
  EXPECT_TRUE(has(turned, "Kernel tile:")) << turned;
  EXPECT_TRUE(has(explained(codes_at(0, {4096}), codes_at(0, {4096})), "Kernel stream:"));
}

TEST(ByteTablePlan, IsMadeInPlaceWhereLanesReadWhatTheyWrite) {
  const TensorView piece = codes_at(kInput, {1 << 20}), slice = codes_at(kInput, {64, 1000}, {1024, 1});
  EXPECT_TRUE(has(explained(piece, piece), "Kernel stream:"));
  EXPECT_TRUE(has(explained(slice, slice), "Kernel codes")) << explained(slice, slice);
  EXPECT_TRUE(has(explained(slice, slice), "Not a table of bytes: the operand is overwritten"));
}

TEST(ByteTablePlan, IsForOneOperandAndOneScale) {
  const DeviceProperties device = DeviceProperties::h200();
  const QuantizedTensor x{codes_at(kInput, {64, 96}), 0.05f, 3}, out{codes_at(kOutput, {64, 96}), 0.07f, -2};
  QuantizedTensor channels = x;
  channels.scale = TensorView(nullptr, DType::f32, {64, 1});
  EXPECT_TRUE(is_table(plan_quantized(device, Operation::tanh, {x}, out)));
  EXPECT_TRUE(is_table(plan_quantized(device, Operation::maximum, {x, 0.5f}, out)));
  EXPECT_TRUE(is_table(plan_chain(device, {Operation::mul, Operation::relu}, {x, 0.5f}, out)));
  EXPECT_TRUE(is_table(
      plan_quantized(device, Operation::less, {x, 0.5f}, TensorView(nullptr, DType::bool_, {64, 96}))));
  for (const ElementwisePlan& plan : {plan_quantized(device, Operation::add, {x, x}, out),
                                      plan_quantized(device, Operation::relu, {channels}, out),
                                      plan_quantized(device, Operation::relu, {x}, channels)}) {
    EXPECT_TRUE(has(plan.explain(), "Not a table of bytes: it reads more than one tensor")) << plan.explain();
  }
  const TensorView gaps = codes_at(kOutput, {64, 96}, {192, 2});
  EXPECT_TRUE(has(explained(x.codes, gaps), "Not a table of bytes: no kernel")) << explained(x.codes, gaps);
}

// What it gives.

using ByteTableTest = DeviceTest;
INSTANTIATE_TEST_SUITE_P(Devices, ByteTableTest, ::testing::ValuesIn(test_devices()), device_test_name);

/// The codes of the formulas; `exact`: without a neighbour where a quotient is near a tie.
std::string wrong_results(Operation operation, const CodesTensor& x, const CodesTensor& out,
                          bool exact = true) {
  return wrong_codes(out, !exact, [&](const Dims& index) { return result_at(operation, {&x}, index); });
}

/// Whether a table was taken, whose results are exact; those of the kernels for codes may be neighbours.
bool check_operation(const Stream& stream, Operation operation, const CodesTensor& x,
                     const CodesTensor& out) {
  SCOPED_TRACE(name_of(operation));
  const ElementwisePlan plan = plan_quantized(stream.device(), operation, {x.quantized()}, out.quantized());
  plan.run(stream);
  EXPECT_EQ(wrong_results(operation, x, out, is_table(plan)), "");
  EXPECT_TRUE(out.codes().check_outside());
  EXPECT_TRUE(x.codes().check());
  return is_table(plan);
}

void expect_table(const Stream& stream, Operation operation, const CodesTensor& x, const CodesTensor& out) {
  SCOPED_TRACE(name_of(operation));
  EXPECT_EQ(check_operation(stream, operation, x, out), stream.device().kind() != DeviceKind::cpu);
}

TEST_P(ByteTableTest, EveryCodeWithManyScales) {
  for (const DType type : {DType::i8, DType::u8}) {
    for (const float scale : {0x1p-149f, 1e-38f, 0.0371f, 0.25f, 3.0f, 3e38f}) {
      for (const int zero : {0, 3, 127}) {
        CodesTensor x(stream(), Role::input, {type, {256}, scale, zero});
        x.fill([](std::int64_t i) { return i; });
        for (const DType to : {DType::i8, DType::u8}) {
          const CodesTensor out(stream(), Role::output, {to, {256}, 0.0217f, 127 - zero});
          for (const Operation operation : kOperations) expect_table(stream(), operation, x, out);
        }
      }
    }
  }
}

TEST_P(ByteTableTest, PiecesOfAnyLengthFromAnyAddress) {
  for (const std::int64_t elements : {2, 15, 16, 17, 255, 16383, 16384, 40003}) {
    for (const auto& [in, to] : {std::pair{0, 0}, {3, 0}, {0, 5}, {4, 4}, {7, 2}}) {
      SCOPED_TRACE(::testing::Message() << elements << " from " << in << " to " << to);
      CodesCase a{DType::i8, {elements}, 0.05f, 3}, c{DType::u8, {elements}, 0.04f, 120};
      a.misaligned = in;
      c.misaligned = to;
      const CodesTensor x(stream(), Role::input, a, 1), out(stream(), Role::output, c);
      expect_table(stream(), Operation::hardswish, x, out);
    }
  }
}

/// Slices, transposes, repeated and reversed operands, outputs with gaps between rows. Kernels for codes take
/// those of which a copy would read single elements.
TEST_P(ByteTableTest, AnyLayout) {
  const Dims shape{3, 37, 66};
  int tables = 0;
  struct Layouts {
    Dims in, out;
  };
  for (const Layouts& layouts : std::vector<Layouts>{{{37 * 66, 66, 1}, {37 * 66, 66, 1}},
                                                     {{40 * 80, 80, 1}, {37 * 66, 66, 1}},
                                                     {{37 * 66, 66, 1}, {38 * 70, 70, 1}},
                                                     {{37 * 66, 1, 37}, {37 * 66, 66, 1}},
                                                     {{1, 3, 111}, {38 * 67, 67, 1}},
                                                     {{66, 0, 1}, {37 * 66, 66, 1}},
                                                     {{37, 1, 0}, {37 * 66, 66, 1}},
                                                     {{37 * 66, -66, -1}, {37 * 66, 66, 1}}}) {
    for (const std::int64_t misaligned : {0, 5}) {
      SCOPED_TRACE(to_string(layouts.in) + " to " + to_string(layouts.out));
      CodesCase a{DType::i8, shape, 0.05f, 3, {}, {}, layouts.in},
          c{DType::i8, shape, 0.04f, 9, {}, {}, layouts.out};
      a.misaligned = c.misaligned = misaligned;
      const CodesTensor x(stream(), Role::input, a, 1), out(stream(), Role::output, c);
      for (const Operation operation : kOperations)
        tables += check_operation(stream(), operation, x, out) ? 1 : 0;
    }
  }
  EXPECT_EQ(tables >= 24, device().kind() != DeviceKind::cpu) << tables;
}

/// A plan runs on memory that is less aligned than the planned one, too, and in place.
TEST_P(ByteTableTest, OtherMemory) {
  for (const Dims& shape : {Dims{4096}, Dims{5, 300}}) {
    const Dims strides = shape.size() == 1 ? Dims{1} : Dims{320, 1};
    const CodesCase planned{DType::i8, shape, 0.05f, 3, {}, {}, strides};
    CodesCase moved = planned;
    moved.misaligned = 3;
    const QuantizedTensor nowhere{TensorView(nullptr, DType::i8, shape, strides), 0.05f, 3};
    const ElementwisePlan plan = plan_quantized(device(), Operation::hardswish, {nowhere}, nowhere);
    for (const CodesCase& from : {planned, moved}) {
      for (const CodesCase& to : {planned, moved}) {
        const CodesTensor x(stream(), Role::input, from, 1), out(stream(), Role::output, to);
        plan.run(stream(), {x.codes().device().data()}, out.codes().device().data());
        EXPECT_EQ(
            wrong_codes(out, true,
                        [&](const Dims& index) { return result_at(Operation::hardswish, {&x}, index); }),
            "");
        EXPECT_TRUE(out.codes().check_outside());
        plan.run(stream(), {x.codes().device().data()}, x.codes().device().data());
        EXPECT_TRUE(same_contents(out.codes(), x.codes()));
      }
    }
  }
}

TEST_P(ByteTableTest, Recorded) {
  const CodesTensor x(stream(), Role::input, {DType::i8, {3, 500}, 0.05f, 3, {}, {}, {512, 1}}, 1);
  const CodesTensor out(stream(), Role::output, {DType::i8, {3, 500}, 0.04f, 9});
  {
    const ElementwisePlan plan = plan_quantized(device(), Operation::relu, {x.quantized()}, out.quantized());
    const Graph graph(stream(), [&] { plan.run(stream()); });
    graph.launch(stream());
    stream().synchronize();
  }
  EXPECT_EQ(wrong_results(Operation::relu, x, out), "");
}

TEST_P(ByteTableTest, ChainsAndComparisons) {
  CodesTensor x(stream(), Role::input, {DType::u8, {256}, 0.5f, 131});
  x.fill([](std::int64_t i) { return i; });
  const CodesTensor out(stream(), Role::output, {DType::i8, {256}, 0.25f, -7});
  chain(stream(), {Operation::mul, Operation::relu}, {x.quantized(), 0.75f}, out.quantized());
  const auto product = [&](const Dims& index) {
    const std::uint64_t bits = result_bits(Operation::mul, {&x, 0.75f}, index);
    return Quotient{reference::apply(Operation::relu, DType::f32, bits, 0, 0)};
  };
  EXPECT_EQ(wrong_codes(out, false, product), "");
  GuardedBuffer truth(stream(), Role::output, DType::bool_, {256});
  expect_numbers(stream(), Operation::less, {&x, 1.5f}, truth);
}

}  // namespace
}  // namespace relayout::test
