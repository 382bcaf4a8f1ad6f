// Functors of a user's file, run over tensors by map(): against the oracle of the same operations, bit for
// bit; types, conversions, identical memory, graphs.
#include <gtest/gtest.h>

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "tests/map/map_fixture.hpp"

namespace relayout::test {
namespace {

INSTANTIATE_TEST_SUITE_P(Devices, MapTest, ::testing::ValuesIn(test_devices()), device_test_name);

TEST_P(MapTest, ReadyFunctors) {
  const auto check_all = [&](DType type, const std::vector<Operation>& operations) {
    const TensorSpec tensor = packed(type, {11, 501});
    for (const Operation operation : operations) {
      ElementwiseCase c;
      c.operations = {operation};
      c.operands.assign(static_cast<std::size_t>(operands_of(operation)), tensor);
      c.out = tensor;
      c.common = type;
      check(c);
    }
  };
  for (const DType type : {kI8, DType::i32, kF32})
    check_all(type, {Operation::add, Operation::sub, Operation::mul, Operation::div, Operation::maximum,
                     Operation::minimum, Operation::relu});
  check_all(DType::u16, {Operation::mul});
  check_all(DType::u64, {Operation::div});
}

/// The user's own and chains of ready ones, against one operation after the other.
TEST_P(MapTest, ChainsAndMixedTypes) {
  const Dims image{2, 12, 7, 9}, channels{12, 1, 1};
  const std::vector<Operation> bias_relu{Operation::add, Operation::relu};
  const std::vector<Operation> scale_add_clip{Operation::mul, Operation::add, Operation::clip};
  const auto of = [&](DType type, const Dims& shape) { return OperandSpec(packed(type, shape)); };
  const OperandSpec low = Literal(-2), high = Literal(6);
  check({bias_relu, {of(kF16, image), of(kF32, channels)}, packed(kF16, image), kF32});
  check({bias_relu, {of(kF32, channels), of(DType::bf16, image)}, packed(DType::bf16, image), kF32});
  check({bias_relu, {of(kF16, image), of(kF16, channels)}, packed(kF16, image), kF16});
  check({bias_relu, {of(kF32, image), of(DType::i16, channels)}, packed(kF32, image), kF32});
  for (const DType type : {DType::bf16, kF32, kI8})
    check({scale_add_clip,
           {of(type, image), of(type, channels), of(type, {9}), low, high},
           packed(type, image),
           type});
  check({scale_add_clip,
         {of(kF16, image), of(kF32, channels), of(kF32, {12, 7, 1}), low, high},
         packed(kF16, image),
         kF32});
  check({{Operation::mul}, {of(kF32, {31, 1}), of(kF64, {41})}, packed(kF64, {31, 41}), kF64});
  check({{Operation::where},
         {of(DType::bool_, {31, 1}), of(kF32, {41}), of(kF32, {31, 41})},
         packed(kF32, {31, 41}),
         kF32});
  check({{Operation::less}, {of(kF64, {31, 41}), of(kF64, {1})}, packed(DType::bool_, {31, 41}), kF64});
}

/// The same memory through chain() and through map().
TEST_P(MapTest, TheBitsOfChain) {
  ElementwiseCase c;
  c.operations = {Operation::add, Operation::relu};
  c.operands = {packed(kF16, {2, 9, 40}), packed(kF16, {9, 1})};
  c.out = packed(kF16, {2, 9, 40});
  const ElementwiseTensors tensors(stream(), c);
  GuardedBuffer by_chain(stream(), Role::output, kF16, c.out.shape);
  chain(stream(), c.operations, tensors.operands(), by_chain.device());
  const GuardedBuffer by_functor(stream(), Role::output, kF16, c.out.shape);
  find(c).run(stream(), tensors_of(tensors.operands()), by_functor.device());
  EXPECT_TRUE(same_contents(by_chain, by_functor));
}

TEST_P(MapTest, FourOperandsOfFourTypes) {
  const Dims shape{5, 6, 30};
  const std::vector<DType> types{kF64, kF64, kF32, DType::i32, DType::u32};
  const std::vector<Dims> shapes{shape, {5, 1, 1}, {6, 1}, {30}};
  std::vector<std::unique_ptr<GuardedBuffer>> inputs;
  std::vector<TensorView> operands;
  std::vector<Elements> whole;
  for (std::size_t i = 0; i < shapes.size(); ++i) {
    inputs.push_back(std::make_unique<GuardedBuffer>(stream(), Role::input, types[i + 1], shapes[i]));
    fill_operand(inputs[i]->host(), Values::small, i);
    inputs[i]->upload();
    operands.push_back(inputs[i]->device());
    whole.push_back(expanded(inputs[i]->host(), shape, Broadcasting::numpy));
  }
  const GuardedBuffer out(stream(), Role::output, kF64, shape);
  find("digits", types).run(stream(), operands, out.device());
  std::size_t element = 0;
  reference::for_each_index(shape, [&](const Dims& index) {
    long double value = 0;
    for (std::size_t i = 0; i < operands.size(); ++i)
      value = 8 * value + reference::exact_value(types[i + 1], whole[i].bits[element]);
    ++element;
    store_value(out.host(), index, static_cast<double>(value));
  });
  EXPECT_TRUE(out.check());
}

/// GPUs convert by other instructions than the host.
TEST_P(MapTest, ConvertsOnce) {
  for (const MapCall& call : map_calls_of(device())) {
    if (call.name != "same") continue;
    const DType to = call.types[0], from = call.types[1];
    SCOPED_TRACE(std::string(relayout::name_of(from)) + " to " + relayout::name_of(to));
    GuardedBuffer in(stream(), Role::input, from, {1009});
    const GuardedBuffer out(stream(), Role::output, to, {1009});
    fill_operand(in.host(), Values::interesting, 3);
    in.upload();
    call.run(stream(), {in.device()}, out.device());
    for (std::int64_t i = 0; i < 1009; ++i)
      reference::store_bits(out.host(), {i},
                            reference::convert_bits(reference::load_bits(in.host(), {i}), from, to));
    EXPECT_TRUE(out.check());
  }
}

TEST_P(MapTest, InPlace) {
  for (const Dims& strides : {Dims{45, 1}, Dims{1, 31}, Dims{-45, 1}}) {
    for (const bool first : {true, false}) {
      GuardedBuffer same(stream(), Role::output, kF32, {31, 45}, strides);
      GuardedBuffer other(stream(), Role::input, kF32, {45});
      fill_operand(same.host(), Values::small, 5);
      fill_operand(other.host(), Values::small, 6);
      same.upload();
      other.upload();
      const std::vector<TensorView> operands{first ? same.device() : other.device(),
                                             first ? other.device() : same.device()};
      find("sub", {kF32, kF32, kF32}).run(stream(), operands, same.device());
      reference::for_each_index({31, 45}, [&](const Dims& index) {
        const double a = load_value(same.host(), index), b = load_value(other.host(), {index[1]});
        store_value(same.host(), index, first ? a - b : b - a);
      });
      EXPECT_TRUE(same.check());
    }
  }
}

TEST_P(MapTest, RecordedInAGraph) {
  ElementwiseCase c;
  c.operations = {Operation::sub};
  c.operands = {packed(kF32, {9, 40}), packed(kF32, {40})};
  c.out = packed(kF32, {9, 40});
  ElementwiseTensors tensors(stream(), c);
  const Graph graph(stream(), [&] { find(c).run(stream(), tensors_of(tensors.operands()), tensors.out()); });
  for (const std::uint64_t seed : {7, 8}) {
    tensors.refill(seed);
    graph.launch(stream());
    tensors.expect_right();
  }
}

}  // namespace
}  // namespace relayout::test
