// What depthwise_conv1d_backward refuses, before anything is written.
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "tests/support/depthwise_backward_tensors.hpp"
#include "tests/support/devices.hpp"
#include "tests/support/expect_error.hpp"

namespace relayout::test {
namespace {

DepthwiseBackwardCase everything() {
  DepthwiseBackwardCase c = make_backward(2, 6, 8, 4);
  c.initial_state = c.final_state = c.d_initial_state = true;
  return c;
}

class DepthwiseBackwardErrorTest : public DeviceTest {
 protected:
  DepthwiseBackwardErrorTest() : o_(stream(), everything()) {
    forward_ = o_.forward();
    d_ = o_.gradients();
    workspace_ = o_.workspace.device();
    o_.fill_integers();
    o_.upload();
  }
  static TensorView as(const TensorView& view, DType type, const Dims& shape) {
    return TensorView(view.data(), type, shape);
  }
  /// Calls the function with the views as they are now.
  void expect(ErrorCode code, const std::vector<std::string>& words) {
    expect_error(code, words, [&] { depthwise_conv1d_backward(stream(), forward_, d_, workspace_); });
    for (const GuardedBuffer* output : {&o_.d_in, &o_.d_weights, &o_.d_bias, &o_.d_initial, &o_.workspace})
      EXPECT_TRUE(output->check(NanRule::exact)) << "something was written before the error";
  }
  void with(TensorView& view, const TensorView& wrong, ErrorCode code,
            const std::vector<std::string>& words) {
    const TensorView right = view;
    view = wrong;
    expect(code, words);
    view = right;
  }
  DepthwiseBackwardTensors o_;
  DepthwiseForward forward_;
  DepthwiseGradients d_;
  TensorView workspace_;
};
INSTANTIATE_TEST_SUITE_P(Devices, DepthwiseBackwardErrorTest, ::testing::ValuesIn(test_devices()),
                         device_test_name);

TEST_P(DepthwiseBackwardErrorTest, RanksAndShapes) {
  const DType f16 = DType::f16, f32 = DType::f32;
  with(forward_.in, as(forward_.in, f16, {12, 8}), ErrorCode::rank, {"input", "[12, 8]"});
  with(forward_.weights, as(forward_.weights, f16, {24}), ErrorCode::rank, {"weights"});
  with(forward_.weights, as(forward_.weights, f16, {5, 4}), ErrorCode::shape,
       {"weights", "[5, 4]", "[6, 4]"});
  with(forward_.weights, as(forward_.weights, f16, {6, 0}), ErrorCode::invalid_argument, {"taps"});
  with(forward_.bias, as(forward_.bias, f32, {5}), ErrorCode::shape, {"bias", "[5]", "[6]"});
  with(forward_.initial_state, as(forward_.initial_state, f16, {2, 6, 4}), ErrorCode::shape,
       {"initial", "[2, 6, 4]", "[2, 6, 3]"});
  with(d_.d_out, as(d_.d_out, f16, {2, 6, 7}), ErrorCode::shape, {"gradient of the output", "[2, 6, 7]"});
  with(d_.d_out, TensorView(), ErrorCode::dtype, {"gradient of the output"});
  with(d_.d_in, as(d_.d_in, f16, {2, 8, 6}), ErrorCode::shape, {"gradient of the input", "[2, 8, 6]"});
  with(d_.d_final_state, as(d_.d_final_state, f16, {2, 6, 2}), ErrorCode::shape, {"final state"});
  with(d_.d_initial_state, as(d_.d_initial_state, f16, {2, 5, 3}), ErrorCode::shape,
       {"gradient of the initial state"});
  with(d_.d_weights, as(d_.d_weights, f32, {4, 6}), ErrorCode::shape, {"gradient of the weights", "[4, 6]"});
  with(d_.d_bias, as(d_.d_bias, f32, {1, 6}), ErrorCode::rank, {"gradient of the bias"});
}

TEST_P(DepthwiseBackwardErrorTest, TypesThatDoNotGoTogether) {
  const auto retyped = [&](TensorView& view, DType type, const std::vector<std::string>& words) {
    with(view, as(view, type, view.shape()), ErrorCode::dtype, words);
  };
  retyped(forward_.in, DType::i16, {"input", "i16"});
  retyped(forward_.in, DType::bf16, {"gradient of the output", "f16", "bf16"});
  retyped(forward_.weights, DType::f64, {"weights", "f64"});
  retyped(forward_.bias, DType::i32, {"bias", "i32"});
  retyped(forward_.initial_state, DType::bf16, {"initial", "bf16"});
  retyped(d_.d_out, DType::f32, {"gradient of the output", "f32"});
  retyped(d_.d_in, DType::bf16, {"gradient of the input", "bf16"});
  retyped(d_.d_final_state, DType::bf16, {"final state", "bf16"});
  retyped(d_.d_initial_state, DType::f32, {"initial state", "f32"});
  retyped(d_.d_weights, DType::f64, {"gradient of the weights", "f64"});
  retyped(d_.d_bias, DType::i32, {"gradient of the bias", "i32"});
}

TEST_P(DepthwiseBackwardErrorTest, SequenceIdsGoWithoutStates) {
  const Buffer ids(device(), 64);
  forward_.sequence_ids = TensorView(ids.data(), DType::i32, {2, 8});
  expect(ErrorCode::invalid_argument, {"the initial state"});
  forward_.initial_state = TensorView();
  expect(ErrorCode::invalid_argument, {"the gradient of the final state"});
  d_.d_final_state = TensorView();
  expect(ErrorCode::invalid_argument, {"the gradient of the initial state"});
  d_.d_initial_state = TensorView();
  forward_.sequence_ids = as(forward_.sequence_ids, DType::i32, {2, 7});
  expect(ErrorCode::shape, {"[2, 7]", "[2, 8]"});
  forward_.sequence_ids = as(forward_.sequence_ids, DType::f32, {2, 8});
  expect(ErrorCode::dtype, {"f32", "i32"});
}

TEST_P(DepthwiseBackwardErrorTest, OverlapsAndNullPointers) {
  const DType f16 = DType::f16;
  with(d_.d_in, TensorView(d_.d_in.data(), f16, {2, 6, 8}, {48, 7, 1}), ErrorCode::output_overlap, {});
  with(d_.d_in, d_.d_out, ErrorCode::partial_overlap, {});
  with(d_.d_in, forward_.in, ErrorCode::partial_overlap, {});
  with(d_.d_weights, as(d_.d_in, DType::f32, {6, 4}), ErrorCode::partial_overlap, {});
  with(d_.d_initial_state, d_.d_final_state, ErrorCode::partial_overlap, {});
  with(d_.d_bias, TensorView(d_.d_bias.data(), DType::f32, {6}, {0}), ErrorCode::output_overlap, {});
  with(workspace_, as(d_.d_out, DType::f32, workspace_.shape()), ErrorCode::partial_overlap, {});
  with(workspace_, as(d_.d_in, DType::f32, workspace_.shape()), ErrorCode::partial_overlap, {});
  for (TensorView* view :
       {&forward_.in, &forward_.weights, &forward_.bias, &forward_.initial_state, &d_.d_out,
        &d_.d_final_state, &d_.d_in, &d_.d_weights, &d_.d_bias, &d_.d_initial_state, &workspace_})
    with(*view, TensorView(nullptr, view->dtype(), view->shape()), ErrorCode::null_pointer, {});
}

TEST_P(DepthwiseBackwardErrorTest, WorkspacesThatAreTooSmall) {
  const std::int64_t numbers = workspace_.extent(0);
  const std::string bytes = std::to_string(4 * numbers) + " bytes";
  with(workspace_, TensorView(), ErrorCode::invalid_argument, {"workspace", bytes});
  with(workspace_, as(workspace_, DType::u8, {4 * numbers - 1}), ErrorCode::invalid_argument,
       {"workspace", bytes});
  with(workspace_, TensorView(workspace_.data(), DType::f32, {numbers}, {2}), ErrorCode::invalid_argument,
       {"not contiguous"});
  with(workspace_, TensorView(static_cast<char*>(workspace_.data()) + 2, DType::u8, {4 * numbers}),
       ErrorCode::invalid_argument, {"multiple of 4"});
  d_.d_weights = d_.d_bias = TensorView();
  EXPECT_EQ(depthwise_conv1d_backward_workspace_bytes(device(), forward_, d_), 0u);
  EXPECT_NO_THROW(depthwise_conv1d_backward(stream(), forward_, d_)) << "it needs none";
}

TEST_P(DepthwiseBackwardErrorTest, Plans) {
  const TensorView in = forward_.in;
  forward_.in = TensorView(nullptr, DType::f16, {2, 6, 8});
  const DepthwiseBackwardPlan plan = plan_depthwise_conv1d_backward(device(), forward_, d_, workspace_);
  expect_error(ErrorCode::null_pointer, {}, [&] { plan.run(stream()); });
  expect_error(ErrorCode::partial_overlap, {},
               [&] { plan.run(stream(), in.data(), d_.d_out.data(), in.data(), workspace_.data()); });
  const DepthwiseBackwardPlan properties =
      plan_depthwise_conv1d_backward(DeviceProperties::h200(), forward_, d_, workspace_);
  expect_error(ErrorCode::unsupported, {}, [&] { properties.run(stream()); });
}

/// One workspace is enough for what plans of properties and of devices with kernels need.
TEST(DepthwiseBackwardPlanTest, KernelsAndWorkspaces) {
  DepthwiseForward forward;
  DepthwiseGradients d;
  const auto shaped = [&](std::int64_t taps, std::int64_t length, std::int64_t batch = 8) {
    forward.in = d.d_out = d.d_in = TensorView(nullptr, DType::f16, {batch, 2048, length});
    forward.weights = TensorView(nullptr, DType::f32, {2048, taps});
    d.d_weights = TensorView(nullptr, DType::f32, {2048, taps});
    return plan_depthwise_conv1d_backward(DeviceProperties::h200(), forward, d,
                                          TensorView(nullptr, DType::u8, {std::int64_t{1} << 40}));
  };
  DepthwiseBackwardPlan plan = shaped(4, 8192);
  EXPECT_NE(plan.explain().find("depthwise_backward_time"), std::string::npos) << plan.explain();
  EXPECT_NE(plan.explain().find("4 channels x 8192 samples"), std::string::npos) << plan.explain();
  EXPECT_EQ(plan.workspace_bytes(), 8u * 64 * 5 * 2048 * 4) << "room for the blocks of any layout";
  for (const std::int64_t batch : {2, 4}) {
    plan = shaped(4, 2048, batch);
    const std::string block = std::to_string(4 / batch) + " channel" + (batch == 2 ? "s" : "") + " x " +
                              std::to_string(batch) + " items of the batch x ";
    EXPECT_NE(plan.explain().find(block), std::string::npos) << plan.explain();
    EXPECT_NE(plan.explain().find("one block has all samples"), std::string::npos) << plan.explain();
  }
  plan = shaped(5, 8192);
  EXPECT_NE(plan.explain().find("depthwise_backward_tile"), std::string::npos) << plan.explain();
  EXPECT_NE(plan.explain().find("32 channels x 128 samples"), std::string::npos) << plan.explain();
  EXPECT_EQ(plan.workspace_bytes(), 8u * 64 * 6 * 2048 * 4);
  plan = shaped(9, 8192);
  EXPECT_EQ(plan.explain().find("depthwise_backward_tile"), std::string::npos) << plan.explain();
  EXPECT_EQ(plan.workspace_bytes(), (8u * 32 * 10 * 2048 + 8u * 2048 * 8192) * 4);
  forward.sequence_ids = TensorView(nullptr, DType::i32, {8, 8192});
  EXPECT_NE(shaped(4, 8192).explain().find("tile"), std::string::npos);
  plan = shaped(5, 8192);
  EXPECT_EQ(plan.explain().find("depthwise_backward_tile"), std::string::npos) << plan.explain();
  forward.sequence_ids = TensorView();
  for (const std::int64_t taps : {1, 4, 8})
    for (const std::int64_t length : {2, 20, 8192})
      EXPECT_EQ(shaped(taps, length).explain().find("Tile: 32 channels") == std::string::npos,
                taps <= 4 && length == 8192)
          << taps << " taps, " << length << " samples";
}

}  // namespace
}  // namespace relayout::test
