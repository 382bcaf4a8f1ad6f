// Objects that were moved from: views and buffers are empty then, all others are as they were. None of them
// ends the program.
#include <gtest/gtest.h>

#include <type_traits>
#include <utility>
#include <vector>

#include "tests/support/devices.hpp"
#include "tests/support/expect_error.hpp"

namespace relayout::test {
namespace {

class MovedFromTest : public DeviceTest {
 protected:
  TensorView in() const { return TensorView(in_.data(), DType::f32, {2, 3}); }
  TensorView out() const { return TensorView(out_.data(), DType::f32, {3, 2}); }
  void expect_transposed() {
    EXPECT_EQ(out_, (std::vector<float>{1, 4, 2, 5, 3, 6}));
    out_.assign(6, 0.0f);
  }
  std::vector<float> in_{1, 2, 3, 4, 5, 6}, out_ = std::vector<float>(6);
};
INSTANTIATE_TEST_SUITE_P(Devices, MovedFromTest, ::testing::ValuesIn(host_memory_devices()),
                         device_test_name);

TEST_P(MovedFromTest, ViewsAndBuffersAreEmpty) {
  TensorView view = in();
  const TensorView taken = std::move(view);
  EXPECT_EQ(taken.to_string(), in().to_string());
  EXPECT_EQ(view.data(), nullptr);
  EXPECT_EQ(view.rank(), 0);
  EXPECT_EQ(view.elements(), 1);
  expect_error(ErrorCode::shape, {"[]"}, [&] { copy(stream(), view, out()); });
  view = taken;
  TensorView& same = view;
  view = std::move(same);
  EXPECT_EQ(view.to_string(), in().to_string());

  Buffer buffer(device(), 24);
  Buffer other = std::move(buffer);
  EXPECT_EQ(buffer.data(), nullptr);
  EXPECT_EQ(buffer.bytes(), 0u);
  EXPECT_EQ(other.bytes(), 24u);
  Buffer& itself = other;
  other = std::move(itself);
  EXPECT_EQ(other.bytes(), 24u);
  EXPECT_NE(other.data(), nullptr);
  PinnedBuffer pinned(device(), 24), second;
  second = std::move(pinned);
  EXPECT_EQ(pinned.data(), nullptr);
  EXPECT_EQ(pinned.bytes(), 0u);
  EXPECT_EQ(second.bytes(), 24u);
}

TEST_P(MovedFromTest, DevicesStreamsAndEventsStay) {
  Device first = device();
  const Device moved_device = std::move(first);
  Stream stream(first);
  const Stream moved = std::move(stream);
  EXPECT_EQ(stream.native(), moved.native());
  EXPECT_EQ(stream.device().kind(), device().kind());
  transpose(stream, in(), out());
  stream.synchronize();
  expect_transposed();
  Event event(first);
  Event taken = std::move(event);
  event.record(stream);
  taken.synchronize();
  stream.wait(event);
  EXPECT_EQ(event.milliseconds_since(taken), 0.0f);
}

TEST_P(MovedFromTest, PlansAndGraphsStay) {
  CopyPlan copy_plan = plan_transpose(device(), in(), out());
  const CopyPlan taken = std::move(copy_plan);
  copy_plan.run(stream());
  expect_transposed();
  EXPECT_EQ(copy_plan.explain(), taken.explain());
  Graph graph(stream(), [&] { taken.run(stream()); });
  const Graph moved_graph = std::move(graph);
  graph.launch(stream());
  expect_transposed();

  const auto explains_as_before = [](auto plan) {
    const std::string words = plan.explain();
    const auto other = std::move(plan);
    EXPECT_EQ(plan.explain(), words);
    plan = std::move(other);
    EXPECT_EQ(plan.explain(), words);
  };
  const TensorView signal(nullptr, DType::f32, {1, 4, 9}), weights(nullptr, DType::f32, {4, 3}),
      a(nullptr, DType::f16, {4, 5}), bt(nullptr, DType::f16, {3, 5}), y(nullptr, DType::f16, {4, 3});
  explains_as_before(plan_pad(device(), signal, PadSpec(), signal));
  explains_as_before(
      plan_depthwise_conv1d(device(), signal, weights, TensorView(), Activation::none, TensorView(), signal));
  DepthwiseForward forward;
  forward.in = signal;
  forward.weights = weights;
  DepthwiseGradients gradients;
  gradients.d_out = gradients.d_in = signal;
  explains_as_before(plan_depthwise_conv1d_backward(device(), forward, gradients));
  explains_as_before(plan_gemm(device(), a, bt, TensorView(), y));
  const Distribution whole = Distribution::replicated({2, 3}, 1);
  Distribution cut = Distribution::split({3, 2}, 0, 1);
  Group group = Group::emulated(1, device());
  const Distribution moved_distribution = std::move(cut);
  const Group moved_group = std::move(group);
  explains_as_before(plan_redistribute(group, whole, {1, 0}, cut, DType::f32, DType::f16));
  explains_as_before(plan_add(device(), in(), 1, TensorView(out().data(), DType::f32, {2, 3})));
}

TEST_P(MovedFromTest, ConvolutionsStayAndPipelinesSaySo) {
  Conv1d problem;
  problem.in_channels = problem.out_channels = 2;
  problem.length = 5;
  const std::vector<float> x(10, 1.0f), w(4, 0.5f);
  const TensorView input(x.data(), DType::f32, {1, 2, 5}), weights(w.data(), DType::f32, {2, 2, 1});
  ConvPlan plan(stream(), problem, ConvRoute::direct, weights);
  const ConvPlan taken = std::move(plan);
  std::vector<f16> y(10);
  plan.run(stream(), input, TensorView(y.data(), DType::f16, {1, 5, 2}));
  for (const f16 value : y) EXPECT_EQ(value.bits, to_f16(1.0).bits);
  EXPECT_EQ(plan.sizes().rows, 5);

  Conv1dPipeline pipeline(stream(), problem, Conv1dOptions(), input, weights);
  const Conv1dPipeline running = std::move(pipeline);
  running.run();
  expect_error(ErrorCode::invalid_argument, {"moved from"}, [&] { pipeline.run(); });
}

TEST(MovedFrom, MovesOfHandlesThrowNothing) {
  static_assert(std::is_nothrow_move_constructible_v<TensorView> &&
                std::is_nothrow_move_assignable_v<TensorView>);
  static_assert(std::is_nothrow_move_constructible_v<Buffer> && std::is_nothrow_move_assignable_v<Buffer>);
  static_assert(std::is_nothrow_move_constructible_v<Stream> && std::is_nothrow_move_assignable_v<CopyPlan>);
}

TEST(MovedFrom, AxesThatAViewDoesNotHave) {
  const TensorView view(nullptr, DType::f32, {2, 3});
  expect_error(ErrorCode::invalid_argument, {"99", "f32[2, 3]", "2 axes"}, [&] { view.extent(99); });
  expect_error(ErrorCode::invalid_argument, {"-1"}, [&] { view.stride(-1); });
  expect_error(ErrorCode::invalid_argument, {"0"}, [] { TensorView().extent(0); });
  expect_error(ErrorCode::invalid_argument, {"constant"}, [&] { Operand(view).literal(); });
}

}  // namespace
}  // namespace relayout::test
