// Numbers that no enumerator has, in every place that takes one: each is refused, and nothing is written.
#include <gtest/gtest.h>

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include <relayout/relayout.hpp>

#include "tests/support/expect_error.hpp"

namespace relayout::test {
namespace {

/// The number behind the last enumerator, one far behind, and one before the first where the type has it.
template <class Enum>
std::vector<Enum> beyond(Enum last) {
  std::vector<Enum> numbers{static_cast<Enum>(static_cast<int>(last) + 1), static_cast<Enum>(200)};
  if (sizeof(Enum) > 1) numbers.push_back(static_cast<Enum>(-1));
  return numbers;
}

/// A call is given numbers that are no enumerators, and refuses each in the words of `name`.
template <class Enum>
void expect_refused(Enum last, const std::string& name, const std::function<void(Enum)>& call) {
  for (const Enum value : beyond(last)) {
    const auto number = static_cast<long long>(value);
    SCOPED_TRACE(name + " " + std::to_string(number));
    expect_error(
        ErrorCode::invalid_argument,
        {name + " is the number " + std::to_string(number), "0 to " + std::to_string(static_cast<int>(last))},
        [&] { call(value); });
  }
}

TEST(NoEnumerators, InViewsAndTypes) {
  const std::vector<float> memory(8);
  const void* const data = memory.data();
  expect_refused<DType>(DType::b128, "the element type", [&](DType type) { TensorView(data, type, {2}); });
  expect_refused<DType>(DType::b128, "the element type",
                        [&](DType type) { TensorView(data, type, {2}, {1}); });
  expect_refused<DType>(DType::b128, "the element type",
                        [&](DType type) { TensorView::from_bytes(data, type, {2}, {4}); });
  expect_refused<DType>(DType::b128, "an element type", [](DType type) { common_type(DType::f32, type); });
  expect_refused<DType>(DType::b128, "an element type",
                        [](DType type) { result_type(OperationClass::arithmetic, type, type); });
  expect_refused<DType>(DType::b128, "the element type", [](DType type) { common_type(type, Literal(1)); });
  expect_refused<OperationClass>(OperationClass::select, "the class of operations",
                                 [](OperationClass which) { result_type(which, DType::f32, DType::f32); });
  expect_refused<relayout::Layout>(relayout::Layout::nhwc16, "the layout", [&](relayout::Layout layout) {
    view_in(layout, data, DType::u8, {1, 2});
  });
  expect_refused<relayout::Layout>(relayout::Layout::nhwc16, "the layout", [&](relayout::Layout layout) {
    elements_in(layout, {1, 2});
  });
  expect_refused<DType>(DType::b128, "the element type",
                        [](DType type) { check_padding(type, TilePadding::zero); });
  expect_refused<TilePadding>(TilePadding::negative_infinity, "the padding",
                              [](TilePadding padding) { check_padding(DType::f32, padding); });
  expect_refused<ThreadOrder>(ThreadOrder::shuffled, "the order of threads", [](ThreadOrder order) {
    EmulationOptions options;
    options.order = order;
    Device::emulated(options);
  });
  for (const DType type : beyond(DType::b128)) {
    EXPECT_STREQ(name_of(type), "unknown");
    EXPECT_EQ(size_of(type), 0u);
  }
  for (const Operation operation : beyond(static_cast<Operation>(kOperations - 1))) {
    EXPECT_STREQ(name_of(operation), "unknown");
    EXPECT_EQ(operands_of(operation), 0);
  }
}

TEST(NoEnumerators, InCopiesAndOperations) {
  const Stream stream(Device::cpu());
  std::vector<float> a(4), b(4);
  std::vector<std::uint8_t> bytes(4, 9);
  const TensorView in(a.data(), DType::f32, {4}), out(b.data(), DType::f32, {4}),
      small(bytes.data(), DType::u8, {4});
  expect_refused<Rounding>(Rounding::up, "the rounding",
                           [&](Rounding rounding) { cast(stream, in, small, {}, {rounding}); });
  expect_refused<IntegerOverflow>(IntegerOverflow::saturate, "integer_overflow",
                                  [&](IntegerOverflow overflow) {
                                    fill(stream, 1, small, {std::nullopt, true, overflow});
                                  });
  const auto last = static_cast<Operation>(kOperations - 1);
  expect_refused<Operation>(last, "an operation",
                            [&](Operation operation) { elementwise(stream, operation, {in}, out); });
  expect_refused<Operation>(last, "an operation",
                            [&](Operation operation) { quantized(stream, operation, {in}, out); });
  expect_refused<Operation>(last, "an operation", [&](Operation operation) {
    chain(stream, {Operation::add, operation}, {in, 1}, out);
  });
  const auto with = [&](const std::function<void(ElementwiseOptions&)>& set) {
    ElementwiseOptions options;
    set(options);
    elementwise(stream, Operation::truediv, {in, 2}, out, options);
  };
  expect_refused<Rounding>(Rounding::up, "the rounding", [&](Rounding rounding) {
    with([&](ElementwiseOptions& options) { options.rounding = rounding; });
  });
  expect_refused<Precision>(Precision::approximate, "the precision", [&](Precision precision) {
    with([&](ElementwiseOptions& options) { options.precision = precision; });
  });
  expect_refused<Broadcasting>(Broadcasting::repeat, "the broadcasting", [&](Broadcasting broadcasting) {
    with([&](ElementwiseOptions& options) { options.broadcasting = broadcasting; });
  });
  EXPECT_EQ(b, std::vector<float>(4));
  EXPECT_EQ(bytes, std::vector<std::uint8_t>(4, 9));
}

TEST(NoEnumerators, InWindowsAndConvolutions) {
  const Stream stream(Device::cpu());
  std::vector<float> memory(64), written(64);
  const TensorView signal(memory.data(), DType::f32, {1, 2, 4}), out(written.data(), DType::f32, {1, 2, 4}),
      matrix(written.data(), DType::f32, {4, 2}), taps(memory.data(), DType::f32, {2, 2}), none;
  expect_refused<PadMode>(PadMode::reflect_zero_extended, "the pad mode", [&](PadMode mode) {
    pad(stream, signal, {0, 0, mode}, out);
  });
  expect_refused<PadMode>(PadMode::reflect_zero_extended, "the pad mode", [&](PadMode mode) {
    img2col(stream, signal, Window(), {0, 0, mode}, matrix);
  });
  expect_refused<PadPolicy>(PadPolicy::extended, "the pad policy", [&](PadPolicy policy) {
    pad(stream, signal, {0, 0, PadMode::constant, 0, policy}, out);
  });
  expect_refused<ColumnOrder>(ColumnOrder::channel_outer, "the window's order", [&](ColumnOrder order) {
    img2col(stream, signal, {1, 1, 1, 1, order}, {}, matrix);
  });
  expect_refused<ColumnOrder>(ColumnOrder::channel_outer, "the order", [&](ColumnOrder order) {
    rearrange_weights(stream, TensorView(memory.data(), DType::f32, {4, 2, 1}), order, matrix);
  });
  expect_refused<Causal>(Causal::frame, "the kind of causality",
                         [](Causal causal) { causal_padding(causal, 4, Window()); });
  expect_refused<Activation>(Activation::silu, "the activation", [&](Activation activation) {
    depthwise_conv1d(stream, signal, taps, none, activation, none, out);
  });
  expect_refused<Activation>(Activation::silu, "the activation", [&](Activation activation) {
    depthwise_update(stream, TensorView(written.data() + 32, DType::f32, {1, 2, 1}), signal, taps, none,
                     activation, out);
  });
  expect_refused<Activation>(Activation::silu, "the activation", [&](Activation activation) {
    DepthwiseForward forward;
    forward.in = signal;
    forward.weights = taps;
    forward.activation = activation;
    DepthwiseGradients gradients;
    gradients.d_out = signal;
    gradients.d_in = out;
    depthwise_conv1d_backward(stream, forward, gradients);
  });
  std::vector<std::int32_t> numbers{0, 4};
  const TensorView starts(numbers.data(), DType::i32, {2}), indices(numbers.data(), DType::i32, {1}),
      state(written.data() + 32, DType::f32, {1, 2, 1}), rows = TensorView(memory.data(), DType::f32, {2, 4}),
                                                         to = TensorView(written.data(), DType::f32, {2, 4});
  expect_refused<Activation>(Activation::silu, "the activation", [&](Activation activation) {
    depthwise_varlen(stream, rows, starts, taps, none, activation, state, to);
  });
  expect_refused<NullOutput>(NullOutput::untouched, "null_output", [&](NullOutput null_output) {
    DepthwiseVarlenOptions options;
    options.null_output = null_output;
    depthwise_varlen(stream, rows, starts, taps, none, Activation::none, state, to, options);
  });
  expect_refused<NullOutput>(NullOutput::untouched, "null_output", [&](NullOutput null_output) {
    DepthwiseUpdateOptions options;
    options.state_indices = indices;
    options.null_output = null_output;
    depthwise_update(stream, state, signal, taps, none, Activation::none, out, options);
  });
  Conv1d problem;
  problem.batch = 1;
  problem.in_channels = problem.out_channels = 2;
  problem.length = 4;
  problem.dtype = DType::f16;
  const TensorView weights(memory.data(), DType::f32, {2, 2, 1});
  expect_refused<ConvRoute>(ConvRoute::direct, "the route",
                            [&](ConvRoute route) { ConvPlan(stream, problem, route, weights); });
  expect_refused<ConvRoute>(ConvRoute::direct, "the route", [&](ConvRoute route) {
    Conv1dPipeline(stream, problem, {Upload::device, route}, signal, weights);
  });
  expect_refused<Upload>(Upload::overlap, "the upload",
                         [&](Upload upload) { Conv1dPipeline(stream, problem, {upload}, signal, weights); });
  expect_refused<HostWork>(HostWork::cast_transpose, "host_work", [&](HostWork work) {
    Conv1dPipeline(stream, problem, {Upload::overlap, ConvRoute::operand, {work}}, signal, weights);
  });
  problem.dtype = static_cast<DType>(200);
  expect_error(ErrorCode::dtype, {"f16 or bf16, not unknown"}, [&] { sizes_of(problem); });
  EXPECT_EQ(written, std::vector<float>(64));
}

}  // namespace
}  // namespace relayout::test
