// Element-wise calls that must be refused: with which code, in which words, in which order, and with nothing
// written.
#include <gtest/gtest.h>

#include <limits>
#include <string>
#include <vector>

#include "tests/support/devices.hpp"
#include "tests/support/expect_error.hpp"
#include "tests/support/guarded_buffer.hpp"

namespace relayout::test {
namespace {

using Words = std::vector<std::string>;

/// Operands and an output [6, 8] of a type; every refusal leaves the output as it was.
class ElementwiseErrorTest : public DeviceTest {
 protected:
  static constexpr DType kF32 = DType::f32;
  const Dims shape_{6, 8};

  TensorView in(DType type) { return TensorView(memory_.data(), type, shape_); }
  TensorView in(DType type, const Dims& shape) { return TensorView(memory_.data(), type, shape); }
  TensorView out(DType type) { return TensorView(out_.device().data(), type, shape_); }

  void refuses(ErrorCode code, const Words& words, Operation operation, const std::vector<Operand>& operands,
               const TensorView& to, const ElementwiseOptions& options = {}) {
    SCOPED_TRACE(std::string(name_of(operation)) + " to " + to.to_string());
    expect_error(code, words, [&] { elementwise(stream(), operation, operands, to, options); });
    EXPECT_TRUE(out_.check(NanRule::exact));
  }
  void refuses_chain(ErrorCode code, const Words& words, const Program& operations,
                     const std::vector<Operand>& operands, const TensorView& to,
                     const ElementwiseOptions& options = {}) {
    expect_error(code, words, [&] { chain(stream(), operations, operands, to, options); });
    expect_error(code, words, [&] { plan_chain(device(), operations, operands, to, options); });
    EXPECT_TRUE(out_.check(NanRule::exact));
  }

  Buffer memory_{device(), 1024};
  GuardedBuffer out_{stream(), Role::output, DType::f64, shape_};
};
INSTANTIATE_TEST_SUITE_P(Devices, ElementwiseErrorTest, ::testing::ValuesIn(test_devices()),
                         device_test_name);

TEST_P(ElementwiseErrorTest, NumbersOfOperands) {
  refuses(ErrorCode::invalid_argument, {"add", "2 operands, not 1"}, Operation::add, {in(kF32)}, out(kF32));
  refuses(ErrorCode::invalid_argument, {"relu", "1 operands, not 2"}, Operation::relu, {in(kF32), 1},
          out(kF32));
  refuses(ErrorCode::invalid_argument, {"clip", "3 operands, not 2"}, Operation::clip, {in(kF32), 1},
          out(kF32));
  refuses(ErrorCode::invalid_argument, {"must be a tensor"}, Operation::add, {1, 2}, out(DType::i32));
}

TEST_P(ElementwiseErrorTest, TypesWithoutArithmetic) {
  for (const DType type : {DType::tf32, DType::e4m3fn, DType::e5m2}) {
    refuses(ErrorCode::dtype, {"add", name_of(type), "cast it to"}, Operation::add, {in(type), in(type)},
            out(type));
    refuses(ErrorCode::dtype, {"less", name_of(type)}, Operation::less, {in(type), in(kF32)},
            out(DType::bool_));
    refuses(ErrorCode::dtype, {"logical_not", name_of(type)}, Operation::logical_not, {in(type)},
            out(DType::bool_));
    refuses(ErrorCode::dtype, {"where", name_of(type)}, Operation::where, {in(type), in(kF32), in(kF32)},
            out(kF32));
    refuses_chain(ErrorCode::dtype, {"add+relu", name_of(type)}, {Operation::add, Operation::relu},
                  {in(type), in(type)}, out(type));
  }
  const TensorView wide(memory_.data(), DType::b128, {6});
  refuses(ErrorCode::dtype, {"b128", "only copied and permuted"}, Operation::add, {wide, wide}, wide);
}

TEST_P(ElementwiseErrorTest, TypesThatAnOperationDoesNotTake) {
  const TensorView bools = in(DType::bool_), floats = in(kF32);
  for (const Operation operation : {Operation::add, Operation::maximum, Operation::pow})
    refuses(ErrorCode::dtype, {name_of(operation), "does not take bool", "integer"}, operation,
            {bools, bools}, out(DType::bool_));
  refuses(ErrorCode::dtype, {"neg does not take bool"}, Operation::neg, {bools}, out(DType::bool_));
  for (const Operation operation : {Operation::bit_and, Operation::bit_or, Operation::bit_xor})
    refuses(ErrorCode::dtype, {name_of(operation), "does not take f32", "integers and bool"}, operation,
            {floats, floats}, out(kF32));
  for (const DType type : {kF32, DType::bool_})
    refuses(ErrorCode::dtype, {"shift_left does not take", "integers"}, Operation::shift_left,
            {in(type), in(type)}, out(type));
}

TEST_P(ElementwiseErrorTest, TypesThatDoNotMeet) {
  refuses(ErrorCode::promotion, {"add", "i8", "u8"}, Operation::add, {in(DType::i8), in(DType::u8)},
          out(DType::i8));
  refuses(ErrorCode::promotion, {"less", "f16", "bf16"}, Operation::less, {in(DType::f16), in(DType::bf16)},
          out(DType::bool_));
  refuses(ErrorCode::promotion, {"where", "i32", "u64"}, Operation::where,
          {in(kF32), in(DType::i32), in(DType::u64)}, out(DType::i32));
  refuses(ErrorCode::promotion, {"bit_or", "i8", "i16", "cast"}, Operation::bit_or,
          {in(DType::i8), in(DType::i16)}, out(DType::i16));
  refuses_chain(ErrorCode::promotion, {"mul+add", "i8", "u16"}, {Operation::mul, Operation::add},
                {in(DType::i8), 2, in(DType::u16)}, out(DType::i8));
}

TEST_P(ElementwiseErrorTest, ConstantsThatATypeDoesNotHold) {
  refuses(ErrorCode::literal_range, {"add", "200", "i8"}, Operation::add, {in(DType::i8), 200},
          out(DType::i8));
  refuses(ErrorCode::literal_range, {"sub", "-1", "u32"}, Operation::sub, {-1, in(DType::u32)},
          out(DType::u32));
  refuses(ErrorCode::literal_range, {"clip", "256", "u8"}, Operation::clip, {in(DType::u8), 0, 256},
          out(DType::u8));
}

TEST_P(ElementwiseErrorTest, RoundingsThatAnOperationDoesNotHave) {
  ElementwiseOptions up, away, flush;
  up.rounding = Rounding::up;
  away.rounding = Rounding::nearest_away;
  flush.flush_to_zero = true;
  refuses(ErrorCode::rounding_mode, {"nearest_away", "casts only"}, Operation::add, {in(kF32), 1}, out(kF32),
          away);
  refuses(ErrorCode::rounding_mode, {"up", "truediv"}, Operation::add, {in(DType::i32), 1}, out(DType::i32),
          up);
  refuses(ErrorCode::rounding_mode, {"exp", "up"}, Operation::exp, {in(kF32)}, out(kF32), up);
  refuses_chain(ErrorCode::rounding_mode, {"up"}, {Operation::add, Operation::relu}, {in(kF32), 1}, out(kF32),
                up);
  refuses(ErrorCode::rounding_mode, {"flush_to_zero", "f32"}, Operation::add, {in(DType::f64), 1},
          out(DType::f64), flush);
  refuses(ErrorCode::rounding_mode, {"flush_to_zero"}, Operation::sin, {in(kF32)}, out(kF32), flush);
}

TEST_P(ElementwiseErrorTest, TolerancesOfIsclose) {
  const TensorView a = in(kF32), to = out(DType::bool_);
  const double nan = std::numeric_limits<double>::quiet_NaN(),
               infinity = std::numeric_limits<double>::infinity();
  for (const double wrong : {-1e-300, -1.0, -infinity, nan}) {
    ElementwiseOptions relative, absolute;
    relative.rtol = wrong;
    absolute.atol = wrong;
    refuses(ErrorCode::invalid_argument, {"isclose", "rtol", "0 or more"}, Operation::isclose, {a, a}, to,
            relative);
    refuses(ErrorCode::invalid_argument, {"isclose", "atol", "0 or more"}, Operation::isclose, {a, 1}, to,
            absolute);
    refuses_chain(ErrorCode::invalid_argument, {"add+isclose", "rtol"}, {Operation::add, Operation::isclose},
                  {a, 1, a}, to, relative);
    EXPECT_NO_THROW(plan_add(device(), a, a, out(kF32), relative)) << "no tolerance is asked for";
  }
  ElementwiseOptions most;
  most.rtol = -0.0;
  most.atol = infinity;
  EXPECT_NO_THROW(plan_isclose(device(), a, a, to, most));
}

TEST_P(ElementwiseErrorTest, TypesOfTheOutput) {
  refuses(ErrorCode::dtype, {"the result is f32", "f16", "cast_out"}, Operation::add, {in(kF32), 1},
          out(DType::f16));
  refuses(ErrorCode::dtype, {"the result is bool", "u8"}, Operation::less, {in(kF32), 1}, out(DType::u8));
  refuses(ErrorCode::dtype, {"the result is f32", "i32"}, Operation::truediv, {in(DType::i32), 2},
          out(DType::i32));
  ElementwiseOptions options;
  options.cast_out = true;
  options.cast.saturate_fp8 = false;
  refuses(ErrorCode::dtype, {"add", "fp8"}, Operation::add, {in(kF32), 1}, out(DType::f16), options);
  options.cast = {};
  options.cast.rounding = Rounding::up;
  refuses(ErrorCode::rounding_mode, {"add", "up"}, Operation::add, {in(DType::i32), 1}, out(DType::i8),
          options);
  const TensorView wide(out_.device().data(), DType::b128, {6, 4});
  options.cast = {};
  refuses(ErrorCode::dtype, {"b128"}, Operation::add, {in(kF32, {6, 4}), 1}, wide, options);
}

TEST_P(ElementwiseErrorTest, Shapes) {
  refuses(ErrorCode::shape, {"add", "[6, 8]", "[6, 7]"}, Operation::add, {in(kF32), in(kF32, {6, 7})},
          out(kF32));
  refuses(ErrorCode::shape, {"add", "[6, 8]", "[0, 8]"}, Operation::add, {in(kF32), in(kF32, {0, 8})},
          out(kF32));
  refuses(ErrorCode::shape, {"the output has shape [6, 8]", "[1, 8]"}, Operation::add,
          {in(kF32, {1, 8}), in(kF32, {8})}, out(kF32));  // outputs are never broadcast to
  refuses(ErrorCode::shape, {"the output has shape [6, 8]", "[1, 6, 8]"}, Operation::add,
          {in(kF32, {1, 6, 8}), 1}, out(kF32));
  ElementwiseOptions repeat;
  repeat.broadcasting = Broadcasting::repeat;
  refuses(ErrorCode::shape, {"[4, 8]", "does not repeat"}, Operation::add, {in(kF32), in(kF32, {4, 8})},
          out(kF32), repeat);
  refuses(ErrorCode::shape, {"[3, 8]", "does not repeat"}, Operation::add, {in(kF32, {3, 8}), in(kF32)},
          out(kF32), repeat);
  refuses(ErrorCode::shape, {"[1, 6, 8]", "does not repeat"}, Operation::add, {in(kF32), in(kF32, {1, 6, 8})},
          out(kF32), repeat);
  refuses(ErrorCode::shape, {"[0, 8]", "does not repeat"}, Operation::add, {in(kF32), in(kF32, {0, 8})},
          out(kF32), repeat);
  refuses(ErrorCode::unsupported, {"different rounds"}, Operation::where,
          {in(kF32), in(kF32, {3, 8}), in(kF32, {2, 8})}, out(kF32), repeat);
}

TEST_P(ElementwiseErrorTest, TooManyAxesToRepeatAlong) {
  ElementwiseOptions repeat;
  repeat.broadcasting = Broadcasting::repeat;
  const auto plan = [&](std::size_t axes) {
    const TensorView whole(nullptr, kF32, Dims(axes, 4)), part(nullptr, kF32, Dims(axes, 2));
    static_cast<void>(plan_elementwise(device(), Operation::add, {whole, part}, whole, repeat));
  };
  EXPECT_NO_THROW(plan(16));
  expect_error(ErrorCode::rank, {"add", "repeat", "32"}, [&] { plan(17); });
}

TEST_P(ElementwiseErrorTest, OutputsThatOverlapThemselves) {
  const void* const data = out_.device().data();
  for (const Dims& strides : {Dims{0, 1}, Dims{7, 1}, Dims{1, 1}}) {
    refuses(ErrorCode::output_overlap, {"add", "share an address"}, Operation::add, {in(kF32), 1},
            TensorView(data, kF32, shape_, strides));
  }
}

TEST_P(ElementwiseErrorTest, OutputsThatOverlapOperands) {
  const TensorView to = out(kF32);
  auto* const bytes = static_cast<unsigned char*>(to.data());
  const Words words{"add", "share bytes"};
  const auto refuse = [&](const TensorView& operand) {
    refuses(ErrorCode::partial_overlap, words, Operation::add, {in(kF32), operand}, to);
    refuses(ErrorCode::partial_overlap, words, Operation::add, {operand, in(kF32)}, to);
  };
  refuse(TensorView(bytes + 4, kF32, shape_));               // shifted by an element
  refuse(TensorView(bytes, kF32, shape_, {1, 6}));           // transposed
  refuse(TensorView(bytes, kF32, shape_, {0, 1}));           // a row of it
  refuse(TensorView(bytes + 7 * 4, kF32, shape_, {8, -1}));  // backwards
  refuse(TensorView(bytes, DType::f16, shape_));             // of smaller elements
  refuses(ErrorCode::partial_overlap, words, Operation::add, {in(kF32), TensorView(bytes, kF32, {8})}, to);
}

TEST_P(ElementwiseErrorTest, Pointers) {
  const TensorView null(nullptr, kF32, shape_);
  refuses(ErrorCode::null_pointer, {"add", "operand 2"}, Operation::add, {in(kF32), null}, out(kF32));
  refuses(ErrorCode::null_pointer, {"add", "the output"}, Operation::add, {in(kF32), 1}, null);
  const TensorView odd(static_cast<char*>(memory_.data()) + 2, kF32, shape_);
  const TensorView far(memory_.data(), kF32, shape_, {std::int64_t{1} << 57, 1});
  refuses(ErrorCode::null_pointer, {"sub", "operand 2"}, Operation::sub, {1, null}, out(kF32));
  refuses(ErrorCode::invalid_argument, {"clip", "operand 3", "multiple of 4"}, Operation::clip,
          {in(kF32), 0, odd}, out(kF32));
  refuses(ErrorCode::invalid_shape, {"sub", "operand 2"}, Operation::sub, {1, far}, out(kF32));
  refuses_chain(ErrorCode::invalid_shape, {"mul+add", "operand 3"}, {Operation::mul, Operation::add},
                {in(kF32), 2, far}, out(kF32));
  refuses(ErrorCode::invalid_argument, {"add", "operand 1", "multiple of 4"}, Operation::add, {odd, 1},
          out(kF32));
}

TEST_P(ElementwiseErrorTest, PlansThatCannotRunSo) {
  const TensorView a = in(kF32), to = out(kF32);
  const ElementwisePlan plan = plan_elementwise(device(), Operation::add, {a, a}, to);
  expect_error(ErrorCode::invalid_argument, {"add", "1 pointers for 2 tensors"},
               [&] { plan.run(stream(), {a.data()}, to.data()); });
  expect_error(ErrorCode::partial_overlap, {"add"}, [&] {
    plan.run(stream(), {a.data(), static_cast<char*>(to.data()) + 8}, to.data());
  });
  expect_error(ErrorCode::invalid_argument, {"add", "multiple of 4"}, [&] {
    plan.run(stream(), {a.data(), static_cast<char*>(a.data()) + 1}, to.data());
  });
  expect_error(ErrorCode::null_pointer, {"add", "the output"}, [&] {
    plan.run(stream(), {a.data(), a.data()}, nullptr);
  });
  if (const auto other = another_device(device()))
    expect_error(ErrorCode::invalid_argument, {"add", "the plan is for", device().to_string()},
                 [&] { plan.run(Stream(*other)); });
  const ElementwisePlan imagined = plan_elementwise(device().properties(), Operation::add, {a, a}, to);
  expect_error(ErrorCode::unsupported, {"add", "cannot run"}, [&] { imagined.run(stream()); });
  EXPECT_TRUE(out_.check(NanRule::exact));
}

TEST_P(ElementwiseErrorTest, Chains) {
  const TensorView a = in(kF32);
  refuses_chain(ErrorCode::invalid_argument, {"1 to 8 operations, not 0"}, {}, {a}, out(kF32));
  refuses_chain(ErrorCode::invalid_argument, {"1 to 8 operations, not 9"},
                std::vector<Operation>(9, Operation::neg), {a}, out(kF32));
  refuses_chain(ErrorCode::invalid_argument, {"9 tensors", "at most 8", "split"},
                std::vector<Operation>(8, Operation::add), std::vector<Operand>(9, a), out(kF32));
  refuses_chain(ErrorCode::invalid_argument, {"less", "cannot stand"}, {Operation::less, Operation::add},
                {a, a, 1}, out(kF32));
  refuses_chain(ErrorCode::invalid_argument, {"logical_not", "cannot stand"},
                {Operation::neg, Operation::logical_not}, {a}, out(DType::bool_));
  refuses_chain(ErrorCode::invalid_argument, {"where", "cannot stand"},
                std::vector<Step>{Operation::less, {Operation::where, 1}}, {a, a, a, a}, out(kF32));
  for (const int running : {-1, 2})
    refuses_chain(ErrorCode::invalid_argument, {"sub", "operand " + std::to_string(running)},
                  std::vector<Step>{Operation::neg, {Operation::sub, running}}, {a, a}, out(kF32));
  refuses_chain(ErrorCode::invalid_argument, {"sub", "operand 1"}, std::vector<Step>{{Operation::sub, 1}},
                {a, a}, out(kF32));
}

/// When there are two mistakes, the one that is checked first is reported: number, type, promotion, shape,
/// memory.
TEST_P(ElementwiseErrorTest, TheOrderOfChecks) {
  const TensorView fp8 = in(DType::e5m2, {5}), i8 = in(DType::i8, {5}), u8 = in(DType::u8, {7});
  const TensorView twice(nullptr, kF32, shape_, {0, 1});
  refuses(ErrorCode::invalid_argument, {}, Operation::add, {fp8}, twice);
  refuses(ErrorCode::dtype, {"e5m2"}, Operation::add, {i8, fp8}, twice);
  refuses(ErrorCode::dtype, {"e5m2"}, Operation::add, {fp8, u8}, twice);
  refuses(ErrorCode::promotion, {}, Operation::add, {i8, u8}, twice);
  refuses(ErrorCode::literal_range, {}, Operation::add, {i8, 999}, twice);
  refuses(ErrorCode::dtype, {"the result is"}, Operation::add, {i8, 1}, twice);
  refuses(ErrorCode::shape, {}, Operation::add, {in(kF32, {5}), 1}, twice);
  refuses(ErrorCode::output_overlap, {}, Operation::add, {in(kF32), 1}, twice);
  const TensorView to = out(kF32), shifted(static_cast<char*>(to.data()) + 4, kF32, shape_);
  refuses(ErrorCode::partial_overlap, {}, Operation::add, {TensorView(nullptr, kF32, shape_), shifted}, to);
}

TEST_P(ElementwiseErrorTest, WithoutElementsPointersDoNotMatter) {
  const TensorView none(nullptr, kF32, {0, 8});
  EXPECT_NO_THROW(elementwise(stream(), Operation::add, {none, 1}, none));
  EXPECT_NO_THROW(elementwise(stream(), Operation::add, {none, in(kF32, {8})}, none));
  refuses(ErrorCode::promotion, {}, Operation::add, {TensorView(nullptr, DType::i8, {0}), in(DType::u8, {1})},
          TensorView(nullptr, DType::i8, {0}));
}

}  // namespace
}  // namespace relayout::test
