// The tensors of a depthwise backward pass on a device, and the checks of what it writes.
#pragma once

#include <gtest/gtest.h>

#include <cmath>
#include <vector>

#include "host/reference/depthwise_backward.hpp"
#include "tests/cases/depthwise_backward_case.hpp"
#include "tests/support/depthwise_tensors.hpp"

namespace relayout::test {

using cases::DepthwiseBackwardCase;

inline DepthwiseBackwardCase make_backward(std::int64_t batch, std::int64_t channels, std::int64_t length,
                                           std::int64_t taps, Layout layout = Layout::ncl) {
  return DepthwiseBackwardCase(make(batch, channels, length, taps, layout));
}

/// The operands and results of one case on one device.
struct DepthwiseBackwardTensors {
  DepthwiseBackwardTensors(const Stream& on, const DepthwiseBackwardCase& from)
      : c(from),
        stream(on),
        in(on, Role::input, c.type, c.shape(), c.in_strides(), c.in_misaligned),
        weights(on, Role::input, c.weight_type, c.weight_shape(),
                strides_of(c.weight_layout, c.weight_shape())),
        bias(on, Role::input, c.bias_type, {c.channels}),
        initial(on, Role::input, c.type, c.state_shape(), state_strides()),
        ids(on, Role::input, DType::i32, {c.batch, c.length}),
        d_out(on, Role::input, c.type, c.shape(), c.out_strides(), c.out_misaligned),
        d_final(on, Role::input, c.type, c.state_shape(), state_strides()),
        d_in(on, Role::output, c.type, c.shape(), c.d_in_strides(), c.d_in_misaligned),
        d_weights(on, Role::output, c.d_weights_type, c.weight_shape(),
                  strides_of(written(c.weight_layout), c.weight_shape())),
        d_bias(on, Role::output, c.d_bias_type, {c.channels}, {2}),
        d_initial(on, Role::output, c.type, c.state_shape(),
                  strides_of(written(c.state_layout), c.state_shape())),
        workspace(on, Role::output, DType::f32,
                  {static_cast<std::int64_t>(
                       depthwise_conv1d_backward_workspace_bytes(on.device(), forward(), gradients())) /
                   4}) {
    fill_ids(ids.host());
  }

  void fill_integers() const {
    std::uint64_t seed = 1;
    for (const GuardedBuffer* input : {&in, &weights, &bias, &initial, &d_out, &d_final})
      fill_small_integers(input->host(), seed++);
  }
  void fill_reals() const {
    std::uint64_t seed = 1;
    for (const GuardedBuffer* input : {&in, &bias, &initial, &d_out, &d_final})
      fill_normal(input->host(), seed++);
    fill_normal(weights.host(), 9, 1.0 / std::sqrt(static_cast<double>(c.taps)));
  }
  DepthwiseForward forward() const {
    return {in.device(),
            weights.device(),
            DepthwiseTensors::given(c.bias, bias.device()),
            c.silu ? Activation::silu : Activation::none,
            DepthwiseTensors::given(c.initial_state, initial.device()),
            DepthwiseTensors::given(c.ids, ids.device())};
  }
  DepthwiseGradients gradients() const {
    return {d_out.device(),
            DepthwiseTensors::given(c.final_state, d_final.device()),
            d_in.device(),
            DepthwiseTensors::given(c.d_weights, d_weights.device()),
            DepthwiseTensors::given(c.d_bias, d_bias.device()),
            DepthwiseTensors::given(c.d_initial_state, d_initial.device())};
  }
  void upload() const {
    for (const GuardedBuffer* input : inputs()) input->upload();
  }
  void run() const {
    upload();
    EXPECT_NO_THROW(depthwise_conv1d_backward(stream, forward(), gradients(), workspace.device()));
  }
  reference::DepthwiseBackwardOperands host() const {
    return {{in.host(), weights.host(), DepthwiseTensors::given(c.bias, bias.host()),
             DepthwiseTensors::given(c.initial_state, initial.host()),
             DepthwiseTensors::given(c.ids, ids.host()), c.silu},
            d_out.host(),
            DepthwiseTensors::given(c.final_state, d_final.host())};
  }

  /// Calls visit(output, oracle(index)) for what was asked for.
  template <class Visit>
  void each_output(const Visit& visit) const {
    const reference::DepthwiseBackwardOracle gradients(host());
    visit(d_in, [&](const Dims& i) { return gradients.sample(i[0], i[1], i[2]); });
    if (c.d_weights) visit(d_weights, [&](const Dims& i) { return gradients.weight(i[0], i[1]); });
    if (c.d_bias) visit(d_bias, [&](const Dims& i) { return gradients.bias(i[0]); });
    if (c.d_initial_state) {
      const std::int64_t before = weights.host().extent(1) - 1;
      visit(d_initial, [&](const Dims& i) { return gradients.sample(i[0], i[1], i[2] - before); });
    }
  }
  /// Every result is the exact value rounded once; nothing else was written.
  void expect_exact() const {
    each_output([](const GuardedBuffer& output, const auto& oracle) {
      reference::for_each_index(output.host().shape(), [&](const Dims& i) {
        reference::store_bits(output.host(), i, reference::encode(output.host().dtype(), oracle(i).sum));
      });
    });
    for (const GuardedBuffer* output : {&d_in, &d_weights, &d_bias, &d_initial}) EXPECT_TRUE(output->check());
    expect_the_rest();
  }
  void expect_within_bounds() const {
    each_output([](const GuardedBuffer& output, const auto& oracle) {
      const std::vector<unsigned char> bytes = output.download();
      const TensorView actual = output.view_of(bytes);
      double worst = 0.0;
      reference::for_each_index(actual.shape(), [&](const Dims& i) {
        const reference::BoundedSum wanted = oracle(i);
        const double error = std::fabs(reference::load(actual, i) - wanted.sum);
        worst = std::max(worst,
                         std::isnan(error) ? 1e30 : error / reference::error_bound(wanted, actual.dtype()));
      });
      EXPECT_LE(worst, 1.0) << "of the bound, in " << actual.to_string();
      EXPECT_TRUE(output.check_outside());
    });
    expect_the_rest();
  }
  void expect_the_rest() const {
    for (const GuardedBuffer* input : inputs()) EXPECT_TRUE(input->check());
    EXPECT_TRUE(workspace.check_outside());
  }
  /// All bits that were written, one output behind the other.
  std::vector<unsigned char> results() const {
    std::vector<unsigned char> all;
    for (const GuardedBuffer* output : {&d_in, &d_weights, &d_bias, &d_initial}) {
      const std::vector<unsigned char> bytes = output->download();
      const TensorView view = output->view_of(bytes);
      reference::for_each_index(view.shape(), [&](const Dims& i) {
        const std::uint64_t bits = reference::load_bits(view, i);
        for (int byte = 0; byte < 4; ++byte) all.push_back(static_cast<unsigned char>(bits >> (8 * byte)));
      });
    }
    return all;
  }
  std::vector<const GuardedBuffer*> inputs() const {
    return {&in, &weights, &bias, &initial, &ids, &d_out, &d_final};
  }
  /// Inputs may share elements, outputs may not.
  static Layout written(Layout layout) { return layout >= Layout::one_batch ? Layout::ncl : layout; }
  Dims state_strides() const { return strides_of(c.state_layout, c.state_shape()); }

  DepthwiseBackwardCase c;
  Stream stream;
  GuardedBuffer in, weights, bias, initial, ids, d_out, d_final, d_in, d_weights, d_bias, d_initial,
      workspace;
};

inline void check_integers(const Stream& stream, const DepthwiseBackwardCase& c) {
  SCOPED_TRACE(::testing::Message() << c);
  const DepthwiseBackwardTensors tensors(stream, c);
  tensors.fill_integers();
  tensors.run();
  tensors.expect_exact();
}

inline void check_reals(const Stream& stream, const DepthwiseBackwardCase& c) {
  SCOPED_TRACE(::testing::Message() << c);
  const DepthwiseBackwardTensors tensors(stream, c);
  tensors.fill_reals();
  tensors.run();
  tensors.expect_within_bounds();
}

}  // namespace relayout::test
