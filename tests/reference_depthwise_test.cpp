// The depthwise oracle against values written by hand.
#include <gtest/gtest.h>

#include <cmath>
#include <cstdint>
#include <vector>

#include "host/reference/depthwise.hpp"

namespace relayout::reference {
namespace {

/// A tensor with its memory and its values in C order.
struct Tensor {
  std::vector<std::uint64_t> memory;
  TensorView view;
  Tensor(DType type, const Dims& shape, const std::vector<double>& values = {}) {
    view = TensorView(nullptr, type, shape);
    memory.resize(static_cast<std::size_t>(view.elements()) + 1);
    view = TensorView(memory.data(), type, shape);
    std::size_t next = 0;
    if (!values.empty()) {
      for_each_index(shape, [&](const Dims& i) {
        store_bits(view, i,
                   is_floating(type) ? encode(type, values[next])
                                     : static_cast<std::uint64_t>(static_cast<std::int64_t>(values[next])));
        ++next;
      });
    }
  }
  std::vector<double> values() const {
    std::vector<double> all;
    for_each_index(view.shape(), [&](const Dims& i) { all.push_back(load(view, i)); });
    return all;
  }
};

using Values = std::vector<double>;

TEST(Depthwise, TheLastTapMeetsTheNewestSample) {
  const Tensor in(DType::f16, {1, 2, 4}, {1, 2, 3, 4, 10, 20, 30, 40});
  const Tensor weights(DType::f16, {2, 3}, {1, 10, 100, -1, 0, 2});
  const Tensor bias(DType::f32, {2}, {0.5, 1000});
  Tensor out(DType::f16, {1, 2, 4});
  DepthwiseOperands operands{in.view, weights.view, {}, {}, {}};
  depthwise_conv1d(operands, out.view);
  EXPECT_EQ(out.values(), (Values{100, 210, 321, 432, 20, 40, 50, 60}));
  operands.bias = bias.view;
  depthwise_conv1d(operands, out.view);
  EXPECT_EQ(out.values(), (Values{100.5, 210.5, 321.5, 432.5, 1020, 1040, 1050, 1060}));
  EXPECT_TRUE(check_depthwise(operands, out.view).ok());
  store_bits(out.view, {0, 1, 3}, load_bits(out.view, {0, 1, 3}) + 1);
  EXPECT_FALSE(check_depthwise(operands, out.view).bound_ok());
}

TEST(Depthwise, StatesComeBeforeTheSignal) {
  const Tensor in(DType::f32, {1, 1, 2}, {5, 6});
  const Tensor weights(DType::f32, {1, 4}, {1000, 100, 10, 1});
  const Tensor initial(DType::f32, {1, 1, 3}, {2, 3, 4});
  Tensor out(DType::f32, {1, 1, 2}), state(DType::f32, {1, 1, 3});
  DepthwiseOperands operands{in.view, weights.view, {}, initial.view, {}};
  depthwise_conv1d(operands, out.view);
  EXPECT_EQ(out.values(), (Values{2345, 3456}));
  depthwise_final_state(operands, state.view);
  EXPECT_EQ(state.values(), (Values{4, 5, 6}));
  operands.initial_state = TensorView();
  depthwise_final_state(operands, state.view);
  EXPECT_EQ(state.values(), (Values{0, 5, 6})) << "zeros on the left";
}

TEST(Depthwise, SequencesDoNotSeeEachOther) {
  const Tensor in(DType::f32, {1, 1, 7}, {1, 2, 3, 4, 5, 6, 7});
  const Tensor weights(DType::f32, {1, 2}, {10, 1});
  const Tensor bias(DType::f32, {1}, {0.5});
  const Tensor ids(DType::i32, {1, 7}, {0, 0, 3, 3, -1, -1, 0});
  Tensor out(DType::f32, {1, 1, 7});
  depthwise_conv1d({in.view, weights.view, bias.view, {}, ids.view}, out.view);
  EXPECT_EQ(out.values(), (Values{1.5, 12.5, 3.5, 34.5, 0, 0, 7.5}));
}

TEST(Depthwise, Silu) {
  const Tensor in(DType::f32, {1, 1, 3}, {0, 2, -2});
  const Tensor weights(DType::f32, {1, 1}, {1});
  Tensor out(DType::f32, {1, 1, 3});
  const DepthwiseOperands operands{in.view, weights.view, {}, {}, {}, true};
  depthwise_conv1d(operands, out.view);
  EXPECT_EQ(out.values()[0], 0.0);
  EXPECT_NEAR(out.values()[1], 1.7615941559557649, 1e-7);
  EXPECT_NEAR(out.values()[2], -0.2384058440442351, 1e-7);
  const GemmElement two = depthwise_element(operands, 0, 0, 1);
  EXPECT_NEAR(
      error_bound(two, 1, DType::f32, false),
      std::ldexp(1.0 + 1.76159, -21) + std::ldexp(1.76159, -23) + std::ldexp(2.0, -26) + std::ldexp(2.0, -21),
      1e-10);
}

TEST(Depthwise, UpdatedStates) {
  const Tensor samples(DType::f16, {1, 1, 2}, {8, 9});
  Tensor state(DType::f16, {1, 1, 4}, {1, 2, 3, 4}), shorter(DType::f16, {1, 1, 1}, {1});
  depthwise_updated_state(samples.view, state.view);
  EXPECT_EQ(state.values(), (Values{3, 4, 8, 9}));
  depthwise_updated_state(samples.view, shorter.view);
  EXPECT_EQ(shorter.values(), (Values{9}));
}

}  // namespace
}  // namespace relayout::reference
