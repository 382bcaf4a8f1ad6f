// The depthwise oracles against values written by hand, and that of the backward pass against differences.
#include <gtest/gtest.h>

#include <cmath>
#include <cstdint>
#include <vector>

#include "host/reference/depthwise_backward.hpp"

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

/// The loss sum of d_out * out + sum of d_final * final state, whose gradients the backward oracle gives.
double loss_of(const DepthwiseOperands& o, const TensorView& d_out, const TensorView& d_final) {
  double loss = 0.0;
  const std::int64_t length = o.in.extent(2), columns = o.weights.extent(1) - 1;
  for_each_index(o.in.shape(),
                 [&](const Dims& i) { loss += load(d_out, i) * depthwise_element(o, i[0], i[1], i[2]).sum; });
  if (d_final.data() == nullptr) return loss;
  for_each_index(d_final.shape(), [&](const Dims& i) {
    loss += load(d_final, i) * decode(o.in.dtype(), depthwise_sample(o, i[0], i[1], length - columns + i[2]));
  });
  return loss;
}

/// The gradients of the backward oracle are the differences of that loss by small steps of each operand.
TEST(DepthwiseBackward, TheGradientsAreFiniteDifferences) {
  const auto random = [](std::int64_t count, int salt) {
    Values values;
    for (std::int64_t i = 0; i < count; ++i)
      values.push_back(static_cast<double>((i * 37 + salt * 101 + i * i * 13) % 64 - 32) / 32.0);
    return values;
  };
  for (const std::int64_t length : {2, 7})
    for (const bool ids : {false, true})
      for (const bool silu : {false, true}) {
        const Dims shape{2, 2, length}, states{2, 2, 3};
        const DType type = DType::f64;
        const Tensor in(type, shape, random(4 * length, 1)), weights(type, {2, 4}, random(8, 2)),
            bias(type, {2}, random(2, 3)), initial(type, states, random(12, 4)),
            d_out(type, shape, random(4 * length, 5)), d_final(type, states, random(12, 6));
        Values numbers;
        for (std::int64_t i = 0; i < 2 * length; ++i) numbers.push_back(static_cast<double>(i / 3 % 3 - 1));
        const Tensor sequence(DType::i32, {2, length}, numbers);
        DepthwiseBackwardOperands o{{in.view, weights.view, bias.view, {}, {}, silu}, d_out.view, {}};
        if (ids) {
          o.forward.sequence_ids = sequence.view;
        } else {
          o.forward.initial_state = initial.view;
          o.d_final = d_final.view;
        }
        const DepthwiseBackwardOracle gradients(o);
        const auto slope = [&](const TensorView& operand, const Dims& i) {
          constexpr double kStep = 1e-4;
          const std::uint64_t before = load_bits(operand, i);
          const double value = load(operand, i);
          store_bits(operand, i, encode(type, value + kStep));
          const double above = loss_of(o.forward, o.d_out, o.d_final);
          store_bits(operand, i, encode(type, value - kStep));
          const double below = loss_of(o.forward, o.d_out, o.d_final);
          store_bits(operand, i, before);
          return (above - below) / (2 * kStep);
        };
        for_each_index(shape, [&](const Dims& i) {
          EXPECT_NEAR(gradients.sample(i[0], i[1], i[2]).sum, slope(in.view, i), 1e-6) << to_string(i);
        });
        for_each_index({2, 4}, [&](const Dims& i) {
          EXPECT_NEAR(gradients.weight(i[0], i[1]).sum, slope(weights.view, i), 1e-6) << to_string(i);
        });
        for_each_index({2}, [&](const Dims& i) {
          EXPECT_NEAR(gradients.bias(i[0]).sum, slope(bias.view, i), 1e-6) << to_string(i);
        });
        if (ids) continue;
        for_each_index(states, [&](const Dims& i) {
          EXPECT_NEAR(gradients.sample(i[0], i[1], i[2] - 3).sum, slope(initial.view, i), 1e-6)
              << to_string(i);
        });
      }
}

/// By hand: d_in of the last sample meets the last tap only; a final state's gradient is added as it is.
TEST(DepthwiseBackward, OneChannelByHand) {
  const Tensor in(DType::f32, {1, 1, 3}, {1, 2, 3}), weights(DType::f32, {1, 2}, {10, 100}),
      initial(DType::f32, {1, 1, 1}, {7}), d_out(DType::f32, {1, 1, 3}, {1, -1, 2}),
      d_final(DType::f32, {1, 1, 1}, {0.5});
  const DepthwiseBackwardOracle gradients(
      {{in.view, weights.view, {}, initial.view, {}}, d_out.view, d_final.view});
  EXPECT_EQ(gradients.sample(0, 0, -1).sum, 10);
  EXPECT_EQ(gradients.sample(0, 0, 0).sum, 100 - 10);
  EXPECT_EQ(gradients.sample(0, 0, 1).sum, -100 + 20);
  EXPECT_EQ(gradients.sample(0, 0, 2).sum, 200 + 0.5);
  EXPECT_EQ(gradients.weight(0, 0).sum, 7 - 1 + 4);
  EXPECT_EQ(gradients.weight(0, 1).sum, 1 - 2 + 6);
  EXPECT_EQ(gradients.bias(0).sum, 2);
}

}  // namespace
}  // namespace relayout::reference
