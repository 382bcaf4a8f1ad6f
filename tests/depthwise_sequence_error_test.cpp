// What operations on sequences refuse, before anything is written.
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "tests/support/depthwise_sequences.hpp"
#include "tests/support/devices.hpp"
#include "tests/support/expect_error.hpp"

namespace relayout::test {
namespace {

class DepthwiseSequenceErrorTest : public DeviceTest {
 protected:
  DepthwiseSequenceErrorTest() : t_(stream(), small()) {
    t_.fill_integers();
    t_.upload();
    state_ = t_.state.device();
    in_ = t_.in.device();
    out_ = t_.out.device();
    options_ = t_.options();
  }
  static DepthwiseSequenceCase small() {
    DepthwiseSequenceCase c;
    c.lengths = {2, 2, 2};
    c.channels = 6;
    return c;
  }
  TensorView numbers(const Dims& shape, DType type = DType::i32) const {
    return TensorView(t_.numbers.device().data(), type, shape);
  }
  void expect(ErrorCode code, const std::vector<std::string>& words) {
    const auto call = [&] {
      depthwise_update(stream(), state_, in_, t_.weights.device(), t_.bias.device(), Activation::none, out_,
                       options_);
    };
    expect_error(code, words, call);
    expect_error(code, words, [&] {
      plan_depthwise_update(DeviceProperties::h200(), state_, in_, t_.weights.device(), t_.bias.device(),
                            Activation::none, out_, options_);
    });
    EXPECT_TRUE(t_.out.check()) << "something was written before the error";
    EXPECT_TRUE(t_.state.check(NanRule::exact)) << "something was written before the error";
    options_ = t_.options();
    state_ = t_.state.device();
    in_ = t_.in.device();
    out_ = t_.out.device();
  }
  DepthwiseSequenceTensors t_;
  TensorView state_, in_, out_;
  DepthwiseUpdateOptions options_;
};
INSTANTIATE_TEST_SUITE_P(Devices, DepthwiseSequenceErrorTest, ::testing::ValuesIn(test_devices()),
                         device_test_name);

TEST_P(DepthwiseSequenceErrorTest, NumbersOfSequences) {
  options_.state_indices = numbers({2});
  expect(ErrorCode::shape, {"state indices", "[2]", "[3]"});
  options_.state_indices = numbers({3, 1});
  expect(ErrorCode::invalid_argument, {"initial_block", "[batch, blocks]"});
  options_.state_indices = numbers({3, 1, 1});
  expect(ErrorCode::rank, {"state indices", "[3, 1, 1]"});
  options_.state_indices = numbers({1}, DType::i64);
  expect(ErrorCode::dtype, {"state indices", "i64", "i32"});
  options_.cache_seqlens = numbers({1});
  expect(ErrorCode::shape, {"cache_seqlens", "[1]", "[3]"});
  options_.num_accepted_tokens = numbers({4});
  expect(ErrorCode::shape, {"accepted", "[4]", "[3]"});
  options_.cache_seqlens = options_.num_accepted_tokens = numbers({3});
  expect(ErrorCode::invalid_argument, {"cache_seqlens", "num_accepted_tokens"});
}

TEST_P(DepthwiseSequenceErrorTest, StatesAndSamples) {
  options_.state_indices = TensorView();
  expect(ErrorCode::shape, {"state", "[6, 6, 3]", "[3, 6, 3]"});
  state_ = state_.slice(2, 0, 2);
  expect(ErrorCode::shape, {"state", "[6, 6, 2]", "fewer columns"});
  options_.num_accepted_tokens = numbers({3});
  expect(ErrorCode::shape, {"state", "[6, 6, 3]", "fewer columns", "accepted"});
  state_ = state_.slice(1, 0, 5);
  expect(ErrorCode::shape, {"state", "[6, 5, 3]", "[6, 6, 3]"});
  options_.query_start_loc = numbers({3});
  expect(ErrorCode::rank, {"input", "[3, 6, 2]"});
  in_ = TensorView(in_.data(), DType::f16, {6, 6});
  out_ = TensorView(out_.data(), DType::f16, {6, 5});
  options_.query_start_loc = numbers({3});
  expect(ErrorCode::shape, {"output", "[6, 5]", "[6, 6]"});
  in_ = TensorView(in_.data(), DType::f16, {6, 6});
  out_ = TensorView(out_.data(), DType::f16, {6, 6});
  options_.query_start_loc = TensorView(in_.data(), DType::i32, {0});
  expect(ErrorCode::shape, {"query_start_loc", "one more"});
}

TEST_P(DepthwiseSequenceErrorTest, OptionsOfStatesNeedStates) {
  const TensorView in(in_.data(), DType::f16, {6, 6}), out(out_.data(), DType::f16, {6, 6}),
      starts = numbers({4});
  DepthwiseVarlenOptions options;
  for (TensorView* option : {&options.state_indices, &options.has_initial_state, &options.initial_block,
                             &options.last_block, &options.first_block, &options.computed_tokens}) {
    *option = numbers({3});
    expect_error(ErrorCode::invalid_argument, {"depthwise_varlen", "need states"}, [&] {
      depthwise_varlen(stream(), in, starts, t_.weights.device(), TensorView(), Activation::none,
                       TensorView(), out, options);
    });
    *option = TensorView();
  }
  EXPECT_TRUE(t_.out.check()) << "something was written before the error";
}

TEST_P(DepthwiseSequenceErrorTest, MemoryOfTheNumbers) {
  options_.state_indices = TensorView(state_.data(), DType::i32, {3});
  expect(ErrorCode::partial_overlap, {"i32[3]"});
  state_ = TensorView(state_.data(), DType::f16, {6, 6, 3}, {0, 3, 1});
  expect(ErrorCode::output_overlap, {"[6, 6, 3]"});
  options_.state_indices = TensorView(nullptr, DType::i32, {3});
  expect_error(ErrorCode::null_pointer, {"i32[3]"}, [&] {
    depthwise_update(stream(), state_, in_, t_.weights.device(), t_.bias.device(), Activation::none, out_,
                     options_);
  });
}

/// A plan reads the numbers as they are when it runs.
TEST_P(DepthwiseSequenceErrorTest, PlansRunAgain) {
  DepthwiseSequenceCase c = small();
  c.mode = SequenceMode::ring;
  c.in_place = true;
  const DepthwiseSequenceTensors t(stream(), c);
  t.fill_integers();
  const DepthwisePlan plan =
      plan_depthwise_update(device(), t.state.device(), t.samples().device(), t.weights.device(),
                            t.bias.device(), Activation::none, t.out.device(), t.options());
  EXPECT_NE(plan.explain().find("Kernel "), std::string::npos);
  for (int turn = 0; turn < 2; ++turn) {
    t.upload();
    plan.run(stream());
    t.compute_update();
    EXPECT_TRUE(t.out.check());
    t.expect_the_rest();
    fill_with(t.numbers.host(), [](std::uint64_t i) { return static_cast<double>(i) + 1.0; });
  }
}

}  // namespace
}  // namespace relayout::test
