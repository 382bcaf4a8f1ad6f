// The tensors of a depthwise case on a device, and the bounds of the result.
#pragma once

#include <gtest/gtest.h>

#include <cmath>
#include <vector>

#include "host/reference/depthwise.hpp"
#include "tests/cases/depthwise_case.hpp"
#include "tests/support/fill.hpp"
#include "tests/support/gates.hpp"
#include "tests/support/guarded_buffer.hpp"

namespace relayout::test {

using cases::DepthwiseCase;
using cases::Layout;

inline DepthwiseCase make(std::int64_t batch, std::int64_t channels, std::int64_t length, std::int64_t taps,
                          Layout layout = Layout::ncl) {
  DepthwiseCase c;
  c.batch = batch;
  c.channels = channels;
  c.length = length;
  c.taps = taps;
  c.in_layout = c.out_layout = c.state_layout = layout;
  return c;
}

/// Runs of equal ids, some of them negative.
inline void fill_ids(const TensorView& ids) {
  fill_with(ids, [&](std::uint64_t i) {
    const auto run = i / 5;
    return static_cast<double>(hash(run, 7) % 4) - 1.0;
  });
}

/// The operands of one case on one device.
struct DepthwiseTensors {
  DepthwiseTensors(const Stream& on, const DepthwiseCase& from)
      : c(from),
        stream(on),
        in(on, Role::input, c.type, c.shape(), c.in_strides(), c.in_misaligned),
        weights(on, Role::input, c.weight_type, c.weight_shape(),
                strides_of(c.weight_layout, c.weight_shape())),
        bias(on, Role::input, c.bias_type, {c.channels}),
        initial(on, Role::input, c.type, c.state_shape(), strides_of(c.state_layout, c.state_shape())),
        ids(on, Role::input, DType::i32, {c.batch, c.length}),
        out(on, Role::output, c.type, c.shape(), c.out_strides(), c.out_misaligned),
        final(on, Role::output, c.type, c.state_shape(), strides_of(c.state_layout, c.state_shape())) {
    fill_ids(ids.host());
  }

  void fill_integers() const {
    fill_small_integers(in.host(), 1);
    fill_small_integers(weights.host(), 2);
    fill_small_integers(bias.host(), 3);
    fill_small_integers(initial.host(), 4);
  }
  void fill_reals() const {
    fill_normal(in.host(), 1);
    fill_normal(weights.host(), 2, 1.0 / std::sqrt(static_cast<double>(c.taps)));
    fill_normal(bias.host(), 3);
    fill_normal(initial.host(), 4);
  }
  void run() const {
    for (const GuardedBuffer* input : {&in, &weights, &bias, &initial, &ids}) input->upload();
    EXPECT_NO_THROW(depthwise_conv1d(stream, in.device(), weights.device(), given(c.bias, bias.device()),
                                     activation(), given(c.initial_state, initial.device()), out.device(),
                                     given(c.final_state, final.device()), given(c.ids, ids.device())));
  }
  Activation activation() const { return c.silu ? Activation::silu : Activation::none; }
  reference::DepthwiseOperands host() const {
    return {in.host(),
            weights.host(),
            given(c.bias, bias.host()),
            given(c.initial_state, initial.host()),
            given(c.ids, ids.host()),
            c.silu};
  }
  static TensorView given(bool wanted, const TensorView& view) { return wanted ? view : TensorView(); }

  /// Every output is the exact value rounded once, the state bit for bit; nothing else was written.
  void expect_exact() const {
    reference::depthwise_conv1d(host(), out.host());
    EXPECT_TRUE(out.check());
    expect_the_rest();
  }
  void expect_within_gates() const {
    const std::vector<unsigned char> bytes = out.download();
    expect_gates(reference::check_depthwise(host(), out.view_of(bytes)));
    EXPECT_TRUE(out.check_outside());
    expect_the_rest();
  }
  void expect_the_rest() const {
    if (c.final_state) reference::depthwise_final_state(host(), final.host());
    EXPECT_TRUE(final.check(NanRule::exact));
    for (const GuardedBuffer* input : {&in, &weights, &bias, &initial, &ids}) EXPECT_TRUE(input->check());
  }

  DepthwiseCase c;
  Stream stream;
  GuardedBuffer in, weights, bias, initial, ids, out, final;
};

inline void check_integers(const Stream& stream, const DepthwiseCase& c) {
  SCOPED_TRACE(::testing::Message() << c);
  const DepthwiseTensors operands(stream, c);
  operands.fill_integers();
  operands.run();
  operands.expect_exact();
}

inline void check_reals(const Stream& stream, const DepthwiseCase& c) {
  SCOPED_TRACE(::testing::Message() << c);
  const DepthwiseTensors operands(stream, c);
  operands.fill_reals();
  operands.run();
  operands.expect_within_gates();
}

inline const std::vector<Layout> kFast{Layout::ncl, Layout::nlc};
/// Those in which no two elements share memory.
inline const std::vector<Layout> kOutputLayouts{Layout::ncl,      Layout::nlc,         Layout::lcn,
                                                Layout::gaps,     Layout::wide_rows,   Layout::nlc_gaps,
                                                Layout::reversed, Layout::every_second};
inline const std::vector<DType> kTypes{DType::f16, DType::bf16, DType::f32};

}  // namespace relayout::test
