// What depthwise_conv1d and depthwise_update refuse, before anything is written.
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "tests/support/depthwise_tensors.hpp"
#include "tests/support/devices.hpp"
#include "tests/support/expect_error.hpp"

namespace relayout::test {
namespace {

class DepthwiseErrorTest : public DeviceTest {
 protected:
  DepthwiseErrorTest() : o_(stream(), make(2, 6, 8, 4)) {
    o_.fill_integers();
    in_ = o_.in.device();
    weights_ = o_.weights.device();
    bias_ = o_.bias.device();
    initial_ = o_.initial.device();
    out_ = o_.out.device();
    final_ = o_.final.device();
  }
  static TensorView as(const TensorView& view, DType type, const Dims& shape) {
    return TensorView(view.data(), type, shape);
  }
  /// Calls both functions with the views as they are now.
  void expect(ErrorCode code, const std::vector<std::string>& words, bool update_too = true) {
    expect_error(code, words, [&] {
      depthwise_conv1d(stream(), in_, weights_, bias_, Activation::none, initial_, out_, final_, ids_);
    });
    if (update_too) {
      expect_error(code, words,
                   [&] { depthwise_update(stream(), final_, in_, weights_, bias_, Activation::none, out_); });
    }
    EXPECT_TRUE(o_.out.check()) << "something was written before the error";
    EXPECT_TRUE(o_.final.check(NanRule::exact)) << "something was written before the error";
  }
  DepthwiseTensors o_;
  TensorView in_, weights_, bias_, initial_, out_, final_, ids_;
};
INSTANTIATE_TEST_SUITE_P(Devices, DepthwiseErrorTest, ::testing::ValuesIn(test_devices()), device_test_name);

TEST_P(DepthwiseErrorTest, RanksAndShapes) {
  const auto with = [&](TensorView& view, const TensorView& wrong, ErrorCode code,
                        const std::vector<std::string>& words, bool update_too = true) {
    const TensorView right = view;
    view = wrong;
    expect(code, words, update_too);
    view = right;
  };
  with(in_, as(in_, DType::f16, {12, 8}), ErrorCode::rank, {"input", "[12, 8]"});
  with(weights_, as(weights_, DType::f16, {24}), ErrorCode::rank, {"weights"});
  with(weights_, as(weights_, DType::f16, {5, 4}), ErrorCode::shape, {"weights", "[5, 4]", "[6, 4]"});
  with(weights_, as(weights_, DType::f16, {6, 0}), ErrorCode::invalid_argument, {"taps"});
  with(bias_, as(bias_, DType::f32, {5}), ErrorCode::shape, {"bias", "[5]", "[6]"});
  with(out_, as(out_, DType::f16, {2, 6, 7}), ErrorCode::shape, {"output", "[2, 6, 7]", "[2, 6, 8]"});
  with(initial_, as(initial_, DType::f16, {2, 6, 4}), ErrorCode::shape, {"initial", "[2, 6, 4]", "[2, 6, 3]"},
       false);
  with(final_, as(final_, DType::f16, {2, 6, 2}), ErrorCode::shape, {"state", "[2, 6, 2]"});
  with(final_, as(final_, DType::f16, {2, 5, 3}), ErrorCode::shape, {"state", "[2, 5, 3]", "[2, 6, 3]"});
  with(final_, as(final_, DType::f16, {12, 3}), ErrorCode::rank, {"state"});
}

TEST_P(DepthwiseErrorTest, TypesThatDoNotGoTogether) {
  const auto with = [&](TensorView& view, DType type, const std::vector<std::string>& words,
                        bool update_too = true) {
    const TensorView right = view;
    view = as(view, type, view.shape());
    expect(ErrorCode::dtype, words, update_too);
    view = right;
  };
  with(in_, DType::i16, {"input", "i16"});
  with(in_, DType::bf16, {"output", "f16", "bf16"});
  with(weights_, DType::bf16, {"weights", "bf16"});
  with(bias_, DType::i32, {"bias", "i32"});
  with(initial_, DType::bf16, {"initial", "bf16"}, false);
  with(final_, DType::bf16, {"state", "bf16"});
}

TEST_P(DepthwiseErrorTest, SequenceIdsGoWithoutStates) {
  const Buffer ids(device(), 64);
  ids_ = TensorView(ids.data(), DType::i32, {2, 8});
  expect(ErrorCode::invalid_argument, {"initial"}, false);
  initial_ = TensorView();
  expect(ErrorCode::invalid_argument, {"final"}, false);
  final_ = TensorView();
  ids_ = as(ids_, DType::i32, {2, 7});
  expect(ErrorCode::shape, {"[2, 7]", "[2, 8]"}, false);
  ids_ = as(ids_, DType::f32, {2, 8});
  expect(ErrorCode::dtype, {"f32", "i32"}, false);
}

TEST_P(DepthwiseErrorTest, OverlapsAndNullPointers) {
  const TensorView right = out_;
  out_ = TensorView(right.data(), DType::f16, {2, 6, 8}, {48, 7, 1});
  expect(ErrorCode::output_overlap, {});
  out_ = in_;
  expect(ErrorCode::partial_overlap, {}, false);  // an update may run in place
  out_ = TensorView(in_.data(), DType::f16, {2, 6, 8}, {8, 16, 1});
  expect(ErrorCode::partial_overlap, {});
  out_ = TensorView(nullptr, DType::f16, {2, 6, 8});
  expect(ErrorCode::null_pointer, {});
  out_ = right;
  final_ = as(out_, DType::f16, {2, 6, 3});
  expect(ErrorCode::partial_overlap, {});
  final_ = o_.final.device();
  in_ = TensorView(nullptr, DType::f16, {2, 6, 8});
  expect(ErrorCode::null_pointer, {});
  in_ = o_.in.device();
  weights_ = TensorView(nullptr, DType::f16, {6, 4});
  expect(ErrorCode::null_pointer, {});
}

TEST_P(DepthwiseErrorTest, NothingToDo) {
  const TensorView none(nullptr, DType::f16, {0, 6, 8});
  EXPECT_NO_THROW(depthwise_conv1d(stream(), none, weights_, bias_, Activation::none, TensorView(), none));
  const TensorView empty(nullptr, DType::f16, {2, 6, 0});
  EXPECT_NO_THROW(depthwise_update(stream(), final_, empty, weights_, bias_, Activation::none, empty));
  EXPECT_TRUE(o_.final.check(NanRule::exact)) << "no samples: the state stays";
}

}  // namespace
}  // namespace relayout::test
