// Functors of a user's file, run over tensors by fused(): against the oracle of the operations that they are,
// bit for bit, in every layout; conversions of their operands and results; refusals.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <limits>
#include <string>
#include <tuple>
#include <vector>

#include "tests/cases/layout.hpp"
#include "tests/fused/fused_kernels.hpp"
#include "tests/support/devices.hpp"
#include "tests/support/elementwise_case.hpp"
#include "tests/support/expect_error.hpp"
#include "tests/support/reserved_memory.hpp"

namespace relayout::test {
namespace {

const std::vector<FusedCall>& calls_of(const Device& device) {
  if (device.kind() != DeviceKind::gpu) return cpu::fused_calls();
#ifdef RELAYOUT_TEST_CUDA
  return cuda::fused_calls();
#elif defined(RELAYOUT_TEST_HIP)
  return hip::fused_calls();
#else
  throw Error(ErrorCode::not_built, "no GPU back end");
#endif
}

std::vector<TensorView> views_of(const std::vector<Operand>& operands) {
  std::vector<TensorView> views;
  for (const Operand& operand : operands) {
    if (!operand.is_literal()) views.push_back(operand.tensor());
  }
  return views;
}

/// "mul+add"
std::string name_of(const std::vector<Operation>& operations) {
  std::string name;
  for (const Operation operation : operations)
    name += (name.empty() ? "" : "+") + std::string(relayout::name_of(operation));
  return name;
}

TensorSpec packed(DType type, const Dims& shape, std::int64_t misaligned = 0) {
  return {type, shape, {}, misaligned};
}

class FusedTest : public DeviceTest {
 protected:
  /// The instance for these operations and tensors.
  const FusedCall& find(const std::string& name, const std::vector<DType>& types) const {
    const std::vector<FusedCall>& calls = calls_of(device());
    const auto found = std::find_if(calls.begin(), calls.end(), [&](const FusedCall& call) {
      return call.name == name && call.types == types;
    });
    if (found == calls.end()) throw std::out_of_range("no instance of " + name);
    return *found;
  }
  const FusedCall& find(const ElementwiseCase& c) const {
    std::vector<DType> types{c.out.type};
    for (const OperandSpec& operand : c.operands) {
      if (const auto* spec = std::get_if<TensorSpec>(&operand)) types.push_back(spec->type);
    }
    return find(name_of(c.operations), types);
  }
  void check(const ElementwiseCase& c) const {
    SCOPED_TRACE(::testing::Message() << c);
    const ElementwiseTensors tensors(stream(), c);
    EXPECT_NO_THROW(find(c).run(stream(), views_of(tensors.operands()), tensors.out()));
    tensors.expect_right();
  }
  /// All views become ones of `type`.
  void check_sub(DType type, TensorSpec a, TensorSpec b, TensorSpec out) const {
    a.type = b.type = out.type = type;
    ElementwiseCase c;
    c.operations = {Operation::sub};
    c.operands = {a, b};
    c.out = out;
    c.common = type;
    check(c);
  }
};
INSTANTIATE_TEST_SUITE_P(Devices, FusedTest, ::testing::ValuesIn(test_devices()), device_test_name);

constexpr DType kF16 = DType::f16, kF32 = DType::f32, kF64 = DType::f64, kI8 = DType::i8;
const std::vector<DType> kWidths{kI8, kF16, kF32, kF64};

TEST_P(FusedTest, ReadyFunctors) {
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
TEST_P(FusedTest, ChainsAndMixedTypes) {
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

/// The same memory through chain() and through fused().
TEST_P(FusedTest, TheBitsOfChain) {
  ElementwiseCase c;
  c.operations = {Operation::add, Operation::relu};
  c.operands = {packed(kF16, {2, 9, 40}), packed(kF16, {9, 1})};
  c.out = packed(kF16, {2, 9, 40});
  const ElementwiseTensors tensors(stream(), c);
  GuardedBuffer by_chain(stream(), Role::output, kF16, c.out.shape);
  chain(stream(), c.operations, tensors.operands(), by_chain.device());
  const GuardedBuffer by_functor(stream(), Role::output, kF16, c.out.shape);
  find(c).run(stream(), views_of(tensors.operands()), by_functor.device());
  const std::vector<unsigned char> expected = by_chain.download(), actual = by_functor.download();
  EXPECT_TRUE(same_elements(by_chain.view_of(expected), by_functor.view_of(actual)));
}

TEST_P(FusedTest, FourOperandsOfFourTypes) {
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

/// On GPUs by other instructions than on the host.
TEST_P(FusedTest, ConvertsOnce) {
  for (const FusedCall& call : calls_of(device())) {
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

TEST_P(FusedTest, Broadcasts) {
  const std::vector<std::pair<Dims, Dims>> cases{
      {{1000}, {1000}},
      {{}, {30, 41}},
      {{1, 1}, {30, 41}},
      {{41}, {30, 41}},
      {{64}, {30, 64}},
      {{30, 1}, {30, 64}},
      {{5, 1, 33}, {5, 7, 33}},
      {{6, 1, 1}, {3, 6, 5, 7}},
      {{3, 6, 1, 8}, {3, 6, 5, 8}},
  };
  for (const DType type : kWidths) {
    for (const auto& [small, shape] : cases) {
      check_sub(type, packed(type, shape), packed(type, small), packed(type, shape));
      check_sub(type, packed(type, small), packed(type, shape), packed(type, shape));
    }
    check_sub(type, packed(type, {30, 1}), packed(type, {41}), packed(type, {30, 41}));
    check_sub(type, packed(type, {1, 7, 1, 5}), packed(type, {6, 1, 4, 1}), packed(type, {6, 7, 4, 5}));
  }
}

TEST_P(FusedTest, NothingAndOneElement) {
  for (const Dims& shape : {Dims{}, Dims{1, 1, 1}, Dims{0}, Dims{4, 0, 5}})
    check_sub(kF32, packed(kF32, shape), packed(kF32, {}), packed(kF32, shape));
  check_sub(kF32, packed(kF32, {1, 5}), packed(kF32, {0, 5}), packed(kF32, {0, 5}));
}

TEST_P(FusedTest, ManyAxes) {
  check_sub(kF32, packed(kF32, {3, 1, 2, 1, 4, 1, 5}), packed(kF32, {3, 1, 2, 1, 5, 1}),
            packed(kF32, {3, 3, 2, 2, 4, 5, 5}));
  Dims twos(32, 1), backwards(32, 0);  // none of whose axes can be merged
  for (std::size_t axis = 0; axis < 32; axis += 3) twos[axis] = 2;
  std::int64_t step = 1;
  for (std::size_t axis = 0; axis < 32; step *= twos[axis++]) backwards[axis] = step;
  check_sub(kF16, packed(kF16, twos), {kF16, twos, backwards, 0}, packed(kF16, twos));
}

TEST_P(FusedTest, AnyStrides) {
  using L = cases::Layout;
  const Dims shape{3, 20, 37};
  for (const DType type : kWidths) {
    const TensorSpec whole = packed(type, shape);
    for (const L layout :
         {L::nlc, L::lcn, L::gaps, L::nlc_gaps, L::wide_rows, L::every_second, L::reversed}) {
      const TensorSpec strided{type, shape, cases::strides_of(layout, shape), 1};
      check_sub(type, strided, whole, whole);
      check_sub(type, packed(type, shape, 3), strided, packed(type, shape, 1));
      check_sub(type, whole, packed(type, {20, 1}), strided);
      check_sub(type, strided, whole, strided);
    }
    for (const L layout : {L::one_batch, L::one_channel, L::one_sample})
      check_sub(type, whole, {type, shape, cases::strides_of(layout, shape), 0}, whole);
    check_sub(type, {type, {61, 67}, {71, 1}, 3}, {type, {61, 67}, {1, 61}, 0}, {type, {61, 67}, {69, 1}, 2});
  }
}

TEST_P(FusedTest, EveryMisalignedBase) {
  for (const DType type : {kI8, kF16, kF32}) {
    for (std::int64_t a = 0; a < 4; ++a) {
      for (std::int64_t out = 0; out < 4; ++out) {
        check_sub(type, packed(type, {200}, a), packed(type, {200}, 5 - a), packed(type, {200}, out));
        check_sub(type, packed(type, {7, 48}, a), packed(type, {48}, 1), packed(type, {7, 48}, out));
      }
    }
  }
}

TEST_P(FusedTest, InPlace) {
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

TEST_P(FusedTest, RecordedInAGraph) {
  ElementwiseCase c;
  c.operations = {Operation::sub};
  c.operands = {packed(kF32, {9, 40}), packed(kF32, {40})};
  c.out = packed(kF32, {9, 40});
  ElementwiseTensors tensors(stream(), c);
  const Graph graph(stream(), [&] { find(c).run(stream(), views_of(tensors.operands()), tensors.out()); });
  for (const std::uint64_t seed : {7, 8}) {
    tensors.refill(seed);
    graph.launch(stream());
    tensors.expect_right();
  }
}

/// Elements further apart than 2^31, and an output of as many.
TEST(FusedHostTest, OffsetsBeyond32Bits) {
  constexpr std::int64_t kFar = (std::int64_t{1} << 31) + 4096;
  for (const Device& device : host_memory_devices()) {
    SCOPED_TRACE(device.to_string());
    const ReservedMemory from(static_cast<std::size_t>(kFar + 64)), to(static_cast<std::size_t>(kFar + 64));
    for (std::int64_t i = 0; i < 40; ++i) {
      from.data()[i] = static_cast<unsigned char>(i);
      from.data()[kFar + i] = static_cast<unsigned char>(2 * i);
    }
    const TensorView in(from.data(), kI8, {2, 40}, {kFar, 1}), out(to.data(), kI8, {2, 40}, {kFar, 1});
    const unsigned char three = 3;
    fused<std::int8_t(std::int8_t, std::int8_t)>(Stream(device), functors::Subtract(),
                                                 {in, TensorView(&three, kI8, {})}, out);
    for (std::int64_t i = 0; i < 40; ++i) {
      ASSERT_EQ(to.data()[i], static_cast<unsigned char>(i - 3));
      ASSERT_EQ(to.data()[kFar + i], static_cast<unsigned char>(2 * i - 3));
    }
  }
}

/// What only nests of more than 2^32 vectors take.
TEST(FusedHostTest, VectorsCountedIn64Bits) {
  const Dims shape{3, 5, 45};
  std::vector<float> a(675), b(15), out(675);
  for (std::size_t i = 0; i < a.size(); ++i) a[i] = static_cast<float>(i);
  for (std::size_t i = 0; i < b.size(); ++i) b[i] = static_cast<float>(1000 * i);
  constexpr DType kTypes[] = {kF32, kF32, kF32};
  detail::FusedNest nest =
      detail::fused_nest(Stream(Device::cpu()), {nullptr, kTypes, 2, 4},
                         {TensorView(a.data(), kF32, shape), TensorView(b.data(), kF32, {3, 5, 1})},
                         TensorView(out.data(), kF32, shape));
  EXPECT_TRUE(nest.small);
  ASSERT_EQ(nest.width, 4);
  nest.small = false;
  for (std::int64_t i = 0; i < nest.vectors; ++i)
    detail::FusedThread<float(float, float)>::run<4>(nest, functors::Subtract(), i);
  for (std::size_t i = 0; i < out.size(); ++i) ASSERT_EQ(out[i], a[i] - b[i / 45]);
}

template <class Out, class In>
void expect_conversions() {
  SCOPED_TRACE(std::string(relayout::name_of(dtype_of<In>)) + " to " + relayout::name_of(dtype_of<Out>));
  for (const std::uint64_t bits : interesting(dtype_of<In>)) {
    detail::Stored<In> in;
    std::memcpy(&in, &bits, sizeof in);
    const detail::Stored<Out> out = detail::stored_as<Out>(detail::value_of<In>(in));
    EXPECT_TRUE(same_element(reference::convert_bits(bits, dtype_of<In>, dtype_of<Out>),
                             load_bits(&out, dtype_of<Out>), dtype_of<Out>, NanRule::any))
        << bits;
  }
}

template <class Out, class... In>
void expect_conversions_to() {
  (expect_conversions<Out, In>(), ...);
}

template <class... T>
void expect_all_conversions() {
  (expect_conversions_to<T, T...>(), ...);
}

TEST(FusedHostTest, EveryConversion) {
  expect_all_conversions<std::uint8_t, std::uint16_t, std::uint32_t, std::uint64_t, std::int8_t, std::int16_t,
                         std::int32_t, std::int64_t, f16, bf16, float, double>();
  expect_conversions_to<bool, std::uint8_t, std::int64_t, f16, float, double>();
  expect_conversions<float, bool>();
  expect_conversions<f16, bool>();
  expect_conversions<std::int32_t, bool>();
}

static_assert(std::is_same_v<detail::Common<std::int8_t, std::int16_t>, std::int16_t>);
static_assert(std::is_same_v<detail::Common<std::int64_t, float>, float>);
static_assert(std::is_same_v<detail::Common<float, double>, double>);
static_assert(decltype(chain_of(functors::Multiply(), functors::Add(), functors::Relu()))::kOperands == 3);

/// Every refusal leaves the output as it was.
class FusedErrorTest : public FusedTest {
 protected:
  void refuses(ErrorCode code, const std::vector<std::string>& words, const std::vector<TensorView>& operands,
               const TensorView& to) const {
    expect_error(code, words, [&] { find("sub", {kF32, kF32, kF32}).run(stream(), operands, to); });
    EXPECT_TRUE(out_.check(NanRule::exact));
  }
  TensorView in(const Dims& shape, DType type = kF32) const {
    return TensorView(memory_.data(), type, shape);
  }

  const Dims shape_{6, 8};
  Buffer memory_{device(), 1024};
  GuardedBuffer out_{stream(), Role::output, kF32, shape_};
  const TensorView to_ = out_.device();
};
INSTANTIATE_TEST_SUITE_P(Devices, FusedErrorTest, ::testing::ValuesIn(test_devices()), device_test_name);

TEST_P(FusedErrorTest, Refusals) {
  const TensorView a = in(shape_), null(nullptr, kF32, shape_);
  refuses(ErrorCode::invalid_argument, {"fused", "1 operands", "for 2"}, {a}, to_);
  refuses(ErrorCode::dtype, {"fused", "operand 2", "f16", "f32"}, {a, in(shape_, kF16)}, to_);
  refuses(ErrorCode::dtype, {"fused", "the output", "i32"}, {a, a},
          TensorView(to_.data(), DType::i32, shape_));
  refuses(ErrorCode::shape, {"fused", "[6, 7]"}, {a, in({6, 7})}, to_);
  refuses(ErrorCode::shape, {"fused", "the output has shape [6, 8]", "[1, 8]"}, {in({8}), in({1, 8})}, to_);
  refuses(ErrorCode::output_overlap, {"fused", "share an address"}, {a, a},
          TensorView(to_.data(), kF32, shape_, {0, 1}));
  auto* const bytes = static_cast<unsigned char*>(to_.data());
  refuses(ErrorCode::partial_overlap, {"fused", "overlap"}, {a, TensorView(bytes + 4, kF32, shape_)}, to_);
  refuses(ErrorCode::partial_overlap, {"fused", "overlap"}, {TensorView(bytes, kF32, {8}), a}, to_);
  refuses(ErrorCode::null_pointer, {"fused", "operand 2"}, {a, null}, to_);
  refuses(ErrorCode::null_pointer, {"fused", "the output"}, {a, a}, null);
  refuses(ErrorCode::invalid_argument, {"fused", "operand 1", "multiple of 4"},
          {TensorView(static_cast<char*>(memory_.data()) + 2, kF32, shape_), a}, to_);
}

TEST_P(FusedErrorTest, TheOrderOfChecks) {
  const TensorView i8 = in({5}, kI8), twice(nullptr, kF32, shape_, {0, 1});
  refuses(ErrorCode::invalid_argument, {}, {i8}, twice);
  refuses(ErrorCode::dtype, {}, {i8, in({7})}, twice);
  refuses(ErrorCode::shape, {}, {in({5}), in({7})}, twice);
  refuses(ErrorCode::output_overlap, {}, {in(shape_), in(shape_)}, twice);
  const TensorView shifted(static_cast<char*>(to_.data()) + 4, kF32, shape_);
  refuses(ErrorCode::partial_overlap, {}, {TensorView(nullptr, kF32, shape_), shifted}, to_);
  const TensorView none(nullptr, kF32, {0, 8});
  EXPECT_NO_THROW(find("sub", {kF32, kF32, kF32}).run(stream(), {none, in({8})}, none));
}

/// A file without code for the GPU.
class FusedOnTheGpu : public DeviceTest {};
GTEST_ALLOW_UNINSTANTIATED_PARAMETERIZED_TEST(FusedOnTheGpu);
INSTANTIATE_TEST_SUITE_P(Devices, FusedOnTheGpu, ::testing::ValuesIn(gpu_devices()), device_test_name);

TEST_P(FusedOnTheGpu, NeedsItsCompiler) {
  const TensorView view(nullptr, kF32, {4});
  expect_error(ErrorCode::unsupported, {"fused", device().to_string(), "compile it with"},
               [&] { fused<float(float)>(stream(), functors::Relu(), {view}, view); });
}

}  // namespace
}  // namespace relayout::test
