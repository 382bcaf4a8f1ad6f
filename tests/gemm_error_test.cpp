// What gemm refuses, before anything is written.
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "tests/support/devices.hpp"
#include "tests/support/expect_error.hpp"
#include "tests/support/gemm_operands.hpp"

namespace relayout::test {
namespace {

class GemmErrorTest : public DeviceTest {
 protected:
  GemmErrorTest() : operands_(stream(), make(4, 3, 5)) {}
  TensorView a(const Dims& shape = {4, 5}, DType type = DType::f16) const {
    return view(operands_.a, type, shape, {});
  }
  TensorView bt(const Dims& shape = {3, 5}, DType type = DType::f16) const {
    return view(operands_.bt, type, shape, {});
  }
  TensorView y(const Dims& shape = {4, 3}, DType type = DType::f16, const Dims& strides = {}) const {
    return view(operands_.y, type, shape, strides);
  }
  TensorView bias(const Dims& shape = {3}, DType type = DType::f32, const Dims& strides = {}) const {
    return view(operands_.bias, type, shape, strides);
  }
  static TensorView view(const GuardedBuffer& buffer, DType type, const Dims& shape, const Dims& strides) {
    return TensorView(buffer.device().data(), type, shape,
                      strides.empty() ? contiguous_strides(shape) : strides);
  }
  void expect(ErrorCode code, const std::vector<std::string>& words, const TensorView& a_view,
              const TensorView& b_view, const TensorView& bias_view, const TensorView& y_view) {
    expect_error(code, words, [&] { gemm(stream(), a_view, b_view, bias_view, y_view); });
    EXPECT_TRUE(operands_.y.check()) << "something was written before the error";
  }
  GemmOperands operands_;
};
INSTANTIATE_TEST_SUITE_P(Devices, GemmErrorTest, ::testing::ValuesIn(test_devices()), device_test_name);

TEST_P(GemmErrorTest, ShapesThatDoNotGoTogether) {
  expect(ErrorCode::shape, {"[4, 5]", "[3, 4]", "[4, 3]"}, a(), bt({3, 4}), bias(), y());
  expect(ErrorCode::shape, {"[4, 5]", "[3, 5]", "[3, 4]"}, a(), bt(), bias(), y({3, 4}));
  expect(ErrorCode::shape, {"[3, 5]", "[2, 5]", "[4, 3]"}, a({3, 5}), bt({2, 5}), bias(), y());
  expect(ErrorCode::shape, {"[2, 2, 5]", "[3, 1, 5]"}, a({2, 2, 5}), bt({3, 1, 5}), TensorView(),
         y({2, 2, 1}));
  expect(ErrorCode::shape, {"3"}, a(), bt(), bias({2}), y());
  expect(ErrorCode::shape, {"3"}, a(), bt(), bias({1, 3}), y());
}

TEST_P(GemmErrorTest, Ranks) {
  expect(ErrorCode::rank, {}, a({20}), bt(), bias(), y());
  expect(ErrorCode::rank, {}, a(), bt({15}), bias(), y());
  expect(ErrorCode::rank, {}, a(), bt(), bias(), y({1, 1, 4, 3}));
}

TEST_P(GemmErrorTest, Types) {
  expect(ErrorCode::dtype, {"f16", "bf16"}, a(), bt({3, 5}, DType::bf16), bias(), y());
  expect(ErrorCode::dtype, {"f16", "bf16"}, a(), bt(), bias(), y({4, 3}, DType::bf16));
  expect(ErrorCode::dtype, {"f32"}, a({2, 5}, DType::f32), bt({1, 5}, DType::f32), TensorView(),
         y({2, 1}, DType::f32));
  expect(ErrorCode::dtype, {"f64"}, a(), bt(), bias(), y({1, 3}, DType::f64));
}

TEST_P(GemmErrorTest, Strides) {
  const TensorView across(operands_.a.device().data(), DType::f16, {4, 5}, {1, 4});
  expect(ErrorCode::invalid_argument, {"stride"}, across, bt(), bias(), y());
  const TensorView backwards(operands_.a.device().data(), DType::f16, {4, 5}, {-5, 1});
  expect(ErrorCode::invalid_argument, {"pitch"}, backwards, bt(), bias(), y());
  const TensorView short_pitch(operands_.bt.device().data(), DType::f16, {3, 5}, {4, 1});
  expect(ErrorCode::invalid_argument, {"pitch"}, a(), short_pitch, bias(), y());
  expect(ErrorCode::invalid_argument, {"pitch"}, a(), bt(), bias(), y({4, 3}, DType::f16, {2, 1}));
  expect(ErrorCode::invalid_argument, {"stride"}, a(), bt(), bias(), y({4, 3}, DType::f16, {1, 4}));
}

TEST_P(GemmErrorTest, Overlaps) {
  // Two groups at one address.
  expect(ErrorCode::output_overlap, {}, a({2, 2, 2}), bt({2, 3, 2}), TensorView(),
         y({2, 2, 3}, DType::f16, {0, 3, 1}));
  expect(ErrorCode::partial_overlap, {}, TensorView(operands_.y.device().data(), DType::f16, {4, 3}),
         bt({3, 3}), bias(), y());
  expect(ErrorCode::partial_overlap, {}, a({4, 3}),
         TensorView(operands_.y.device().data(), DType::f16, {3, 3}), bias(), y());
  expect(ErrorCode::partial_overlap, {}, a(), bt(), TensorView(operands_.y.device().data(), DType::f32, {3}),
         y());
}

TEST_P(GemmErrorTest, NullPointers) {
  expect(ErrorCode::null_pointer, {}, TensorView(nullptr, DType::f16, {4, 5}), bt(), bias(), y());
  expect(ErrorCode::null_pointer, {"bt f16[3, 5]"}, a(), TensorView(nullptr, DType::f16, {3, 5}), bias(),
         y());
  expect(ErrorCode::null_pointer, {}, a(), bt(), bias(), TensorView(nullptr, DType::f16, {4, 3}));
}

/// "None" is a view without shape and memory; one that has either is a bias.
TEST_P(GemmErrorTest, WhatIsNoBias) {
  const TensorView no_memory(nullptr, DType::f32, {3}),
      no_shape(operands_.bias.device().data(), DType::f32, {});
  expect(ErrorCode::null_pointer, {"the bias f32[3]"}, a(), bt(), no_memory, y());
  expect(ErrorCode::shape, {"f32[]", "[3]"}, a(), bt(), no_shape, y());
  const GemmPlan plan = plan_gemm(device(), a(), bt(), no_memory, y());
  expect_error(ErrorCode::null_pointer, {"f32[3]"}, [&] { plan.run(stream()); });
  EXPECT_TRUE(operands_.y.check()) << "something was written before the error";
}

}  // namespace
}  // namespace relayout::test
