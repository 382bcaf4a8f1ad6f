// Numbers near 2^31, 2^32 and 2^63 in every place that takes a number: views, copies, windows, depthwise.
// Each call gives an Error or what the oracle gives; the sanitizers see what neither of them shows.
#include <gtest/gtest.h>

#include <cstdint>
#include <cstdlib>
#include <vector>

#include "host/reference/depthwise.hpp"
#include "host/reference/img2col.hpp"
#include "host/reference/pad.hpp"
#include "host/reference/permute.hpp"
#include "tests/support/expect_error.hpp"
#include "tests/support/hostile_values.hpp"

namespace relayout::test {
namespace {

class HostileValuesTest : public HostileTest {
 protected:
  HostileValuesTest() : HostileTest(3000) {}
};

/// The farthest view that an operation takes, and one that reaches a byte further.
TEST(Reach, EndsWhereAddressesDo) {
  constexpr std::int64_t kMax = std::int64_t{1} << 57;
  const DeviceProperties h200 = DeviceProperties::h200();
  const auto plan = [&](std::int64_t step) {
    const TensorView far(nullptr, DType::u8, {2}, {step}), near(nullptr, DType::u8, {2});
    plan_copy(h200, far, near);
    plan_copy(h200, near, far);
    const TensorView before(nullptr, DType::u8, {2}, {-step});
    plan_copy(h200, before, near);
  };
  EXPECT_NO_THROW(plan(kMax - 1));
  expect_error(ErrorCode::invalid_shape, {"the input u8[2]", "2^57"}, [&] { plan(kMax); });
  expect_error(ErrorCode::invalid_shape, {"the output u8[2]"}, [&] {
    plan_copy(h200, TensorView(nullptr, DType::u8, {2}), TensorView(nullptr, DType::u8, {2}, {kMax}));
  });
  expect_error(ErrorCode::invalid_shape, {"the input"}, [&] {
    plan_copy(h200, TensorView(nullptr, DType::u8, {2}, {-kMax - 1}), TensorView(nullptr, DType::u8, {2}));
  });
  expect_error(ErrorCode::invalid_shape, {"fill", "the output"},
               [&] { plan_fill(h200, 1, TensorView(nullptr, DType::u8, {2}, {kMax})); });
  expect_error(ErrorCode::invalid_shape, {"2^60"}, [] {
    PadSpec pad;
    pad.left = (std::int64_t{1} << 60) + 1;
    output_length(4, Window(), pad);
  });
}

DType any_type(HostileValues& values) {
  return values.random().pick(std::vector<DType>{DType::u8, DType::f16, DType::bf16, DType::f32, DType::f64});
}

/// The results of a call that was taken; memory beside the elements must agree, too.
void expect_same(const HostileTensor& out, const HostileTensor& expected) {
  if (out.memory == nullptr) return;
  ASSERT_EQ(*out.memory, *expected.memory) << out.view.to_string();
}

TEST_F(HostileValuesTest, Views) {
  for (int i = 0; i < cases_; ++i) {
    SCOPED_TRACE(i);
    HostileValues values(static_cast<std::uint64_t>(i));
    const DType type = any_type(values);
    const int rank = static_cast<int>(values.random().integer(0, 4));
    const Dims shape = values.shape(rank), other = values.shape(rank);
    calls_([&] { contiguous_strides(shape); });
    calls_([&] { broadcast_shapes(shape, other); });
    calls_([&] { view_in(values.chance(0.5) ? Layout::nhwc8 : Layout::nhwc, nullptr, type, shape); });
    calls_([&] { elements_in(Layout::nhwc16, shape); });
    Dims byte_strides;
    for (int axis = 0; axis < rank; ++axis) byte_strides.push_back(values.any());
    calls_([&] { TensorView::from_bytes(nullptr, type, shape, byte_strides); });
    calls_([&] { TensorView::from_ggml(nullptr, type, shape, byte_strides); });
    calls_([&] {
      const TensorView view = values.input(type, shape).view;
      view.byte_range();
      view.is_contiguous();
      calls_([&] { view.reshaped(other); });
      calls_([&] { view.reshaped({view.elements()}); });
      calls_([&] { view.broadcast_to(other); });
      std::vector<int> axes;
      for (int axis = 0; axis < rank; ++axis) axes.push_back(rank - 1 - axis);
      if (values.chance(0.2)) axes.push_back(static_cast<int>(values.any()));
      calls_([&] { view.permuted(axes); });
      const std::int64_t begin = values.any(), end = values.chance(0.5) ? begin : values.any();
      const int axis = static_cast<int>(values.random().integer(-1, rank));
      calls_([&] { view.slice(axis, begin, end).byte_range(); });
      calls_([&] { view.extent(axis), view.stride(axis); });
      if (rank == 2) calls_([&] { tile_space<2>(view, {values.any(), values.any()}).tiles(); });
    });
  }
}

TEST_F(HostileValuesTest, Copies) {
  for (int i = 0; i < cases_; ++i) {
    SCOPED_TRACE(i);
    HostileValues values(static_cast<std::uint64_t>(i));
    const DType type = any_type(values), to = values.chance(0.7) ? type : any_type(values);
    const int rank = static_cast<int>(values.random().integer(1, 5));
    calls_([&] {
      const Dims shape = values.shape(rank);
      const HostileTensor in = values.input(type, shape);
      std::vector<int> axes;
      for (int axis = 0; axis < rank; ++axis) axes.push_back(axis);
      values.random().shuffle(axes);
      const HostileTensor out = values.output(to, in.view.permuted(axes).shape()), expected = out.twin();
      const auto call = [&] { permute(stream_, in.view, axes, out.view); };
      if (calls_(call) && out.view.elements() > 0) {
        ASSERT_TRUE(in.is_real() && out.is_real()) << in.view.to_string() << " -> " << out.view.to_string();
        reference::permute(in.view, axes, expected.view);
        expect_same(out, expected);
      }
      plan_everywhere(
          [&](const PlanTarget& target) { return plan_permute(target, in.view, axes, out.view); });
      plan_everywhere([&](const PlanTarget& target) {
        CopyPlanOptions options;
        options.indirect = true;
        return plan_copy(target, in.view, out.view, options);
      });
      plan_everywhere([&](const PlanTarget& target) { return plan_contiguous(target, in.view, nullptr); });
      calls_([&] { contiguous(stream_, in.view, nullptr); });
    });
  }
}

PadSpec any_pad(HostileValues& values, std::int64_t length) {
  PadSpec pad;
  pad.left = values.small_or(0.3, -2);
  pad.right = values.small_or(0.3, -2);
  // Far to one side: few samples are left, which can be looked at.
  if (values.chance(0.4)) {
    std::int64_t rest = 0;
    if (!__builtin_sub_overflow(values.random().integer(1, 9), length, &rest) &&
        !__builtin_sub_overflow(rest, pad.left, &rest))
      pad.right = rest;
  }
  pad.mode = static_cast<PadMode>(values.random().integer(0, 5));
  if (values.chance(0.7)) pad.policy = PadPolicy::extended;
  return pad;
}

/// Whether the oracle, which goes to a sample in steps of the length, gets there.
bool oracle_can_pad(const PadSpec& pad, std::int64_t reach) {
  constexpr std::int64_t kNear = 100000;
  if (pad.mode == PadMode::constant || pad.mode == PadMode::replicate) return true;
  return std::abs(pad.left / 2) < kNear && std::abs(pad.right / 2) < kNear && reach < kNear;
}

TEST_F(HostileValuesTest, Pads) {
  for (int i = 0; i < cases_; ++i) {
    SCOPED_TRACE(i);
    HostileValues values(static_cast<std::uint64_t>(i));
    const DType type = any_type(values);
    calls_([&] {
      const HostileTensor in = values.input(type, values.shape(3));
      const PadSpec pad = any_pad(values, in.view.extent(2));
      std::int64_t padded = 1;
      calls_([&] { padded = output_length(in.view.extent(2), Window(), pad); });
      const HostileTensor out = values.output(type, {in.view.extent(0), in.view.extent(1), padded}),
                          expected = out.twin();
      if (calls_([&] { relayout::pad(stream_, in.view, pad, out.view); }) && out.view.elements() > 0) {
        ASSERT_TRUE(in.is_real() && out.is_real()) << in.view.to_string() << " -> " << out.view.to_string();
        if (oracle_can_pad(pad, padded)) {
          reference::pad(in.view, pad, expected.view);
          expect_same(out, expected);
        }
      }
      plan_everywhere([&](const PlanTarget& target) { return plan_pad(target, in.view, pad, out.view); });
    });
  }
}

TEST_F(HostileValuesTest, Windows) {
  for (int i = 0; i < cases_; ++i) {
    SCOPED_TRACE(i);
    HostileValues values(static_cast<std::uint64_t>(i));
    const DType type = any_type(values);
    calls_([&] {
      const HostileTensor in = values.input(type, values.shape(3));
      Window window;
      window.taps = values.small_or(0.2, 1);
      window.stride = values.small_or(0.4, 1);
      window.dilation = values.small_or(0.4, 1);
      window.groups = values.chance(0.8) ? 1 : values.small_or(0.5, 1);
      window.order = values.chance(0.5) ? ColumnOrder::tap_outer : ColumnOrder::channel_outer;
      PadSpec pad = any_pad(values, in.view.extent(2));
      calls_([&] {
        const PadSpec causal =
            causal_padding(values.chance(0.5) ? Causal::sample : Causal::frame, in.view.extent(2), window);
        if (values.chance(0.4)) pad = causal;
      });
      std::int64_t positions = 1, rows = 1, columns = 1;
      calls_([&] { positions = output_length(in.view.extent(2), window, pad); });
      if (__builtin_mul_overflow(positions, in.view.extent(0), &rows)) rows = 1;
      if (window.groups < 1 ||
          __builtin_mul_overflow(in.view.extent(1) / window.groups, window.taps, &columns))
        columns = 1;
      const HostileTensor out =
          values.output(type, window.groups == 1 ? Dims{rows, columns} : Dims{window.groups, rows, columns});
      const HostileTensor expected = out.twin();
      if (calls_([&] { img2col(stream_, in.view, window, pad, out.view); }) && out.view.elements() > 0) {
        ASSERT_TRUE(in.is_real() && out.is_real()) << in.view.to_string() << " -> " << out.view.to_string();
        if (oracle_can_pad(pad, window.span()) && window.stride < 100000) {
          reference::img2col(in.view, window, pad, expected.view);
          expect_same(out, expected);
        }
      }
      plan_everywhere(
          [&](const PlanTarget& target) { return plan_img2col(target, in.view, window, pad, out.view); });
    });
    calls_([&] {
      const HostileTensor weights = values.input(type, values.shape(3));
      const Dims& shape = weights.view.shape();
      std::int64_t row = 1;
      if (__builtin_mul_overflow(shape[1], shape[2], &row)) row = 1;
      const HostileTensor out = values.output(type, {shape[0], row});
      calls_([&] { rearrange_weights(stream_, weights.view, ColumnOrder::tap_outer, out.view); });
      plan_everywhere([&](const PlanTarget& target) {
        return plan_rearrange_weights(target, weights.view, ColumnOrder::channel_outer, out.view);
      });
    });
  }
}

TEST_F(HostileValuesTest, Depthwise) {
  for (int i = 0; i < cases_; ++i) {
    SCOPED_TRACE(i);
    HostileValues values(static_cast<std::uint64_t>(i));
    const DType type = values.random().pick(std::vector<DType>{DType::f16, DType::bf16, DType::f32});
    calls_([&] {
      const Dims shape = values.shape(3);
      const std::int64_t taps = values.small_or(0.2, 1), more = values.small_or(0.1, 0);
      const HostileTensor in = values.input(type, shape), out = values.output(type, shape),
                          weights = values.input(type, {shape[1], taps});
      HostileTensor bias, state, final_state, ids;
      if (values.chance(0.3)) bias = values.input(DType::f32, {shape[1]});
      if (values.chance(0.3)) state = values.input(type, {shape[0], shape[1], taps - 1});
      if (values.chance(0.3)) final_state = values.output(type, {shape[0], shape[1], taps - 1});
      if (values.chance(0.1)) ids = values.input(DType::i32, {shape[0], shape[2]});
      // Taps with stride 0 are legal, and billions of them would take their time.
      if (taps < 10000 || !weights.is_real())
        calls_([&] {
          depthwise_conv1d(stream_, in.view, weights.view, bias.view, Activation::silu, state.view, out.view,
                           final_state.view, ids.view);
        });
      plan_everywhere([&](const PlanTarget& target) {
        return plan_depthwise_conv1d(target, in.view, weights.view, bias.view, Activation::none, state.view,
                                     out.view, final_state.view, ids.view);
      });
      std::int64_t columns = 0;
      if (__builtin_add_overflow(taps - 1, more, &columns)) columns = taps;
      const HostileTensor moving = values.output(type, {shape[0], shape[1], columns});
      if (taps < 10000 || !weights.is_real())
        calls_([&] {
          depthwise_update(stream_, moving.view, in.view, weights.view, bias.view, Activation::none,
                           out.view);
        });
      plan_everywhere([&](const PlanTarget& target) {
        return plan_depthwise_update(target, moving.view, in.view, weights.view, bias.view, Activation::silu,
                                     out.view);
      });
    });
  }
}

TEST_F(HostileValuesTest, DepthwiseSequences) {
  for (int i = 0; i < cases_; ++i) {
    SCOPED_TRACE(i);
    HostileValues values(static_cast<std::uint64_t>(i));
    const DType type = values.random().pick(std::vector<DType>{DType::f16, DType::bf16, DType::f32});
    calls_([&] {
      const Dims shape = values.shape(2);
      const std::int64_t taps = values.small_or(0.1, 1), batch = values.small_or(0.1, 0),
                         slots = values.small_or(0.1, 0), more = values.small_or(0.1, 0);
      std::int64_t numbers = 0, columns = 0;
      if (__builtin_add_overflow(batch, 1, &numbers)) numbers = batch;
      if (__builtin_add_overflow(taps - 1, more, &columns)) columns = taps;
      const HostileTensor in = values.input(type, shape), out = values.output(type, shape),
                          weights = values.input(type, {shape[0], taps}),
                          starts = values.input(DType::i32, {numbers}),
                          indices = values.input(DType::i32, {batch}),
                          states = values.output(type, {slots, shape[0], taps - 1}),
                          wide = values.output(type, {slots, shape[0], columns});
      DepthwiseVarlenOptions options;
      options.state_indices = indices.view;
      DepthwiseUpdateOptions update;
      update.state_indices = indices.view;
      update.query_start_loc = starts.view;
      HostileTensor positions;
      if (values.chance(0.3)) positions = values.input(DType::i32, {batch});
      update.cache_seqlens = positions.view;
      // Numbers with stride 0 are legal, and billions of sequences would take their time.
      const bool runs = (taps < 10000 || !weights.is_real()) && batch < 10000;
      if (runs)
        calls_([&] {
          depthwise_varlen(stream_, in.view, starts.view, weights.view, TensorView(), Activation::silu,
                           states.view, out.view, options);
        });
      if (runs)
        calls_([&] {
          depthwise_update(stream_, wide.view, in.view, weights.view, TensorView(), Activation::none,
                           out.view, update);
        });
      plan_everywhere([&](const PlanTarget& target) {
        return plan_depthwise_varlen(target, in.view, starts.view, weights.view, TensorView(),
                                     Activation::none, states.view, out.view, options);
      });
      plan_everywhere([&](const PlanTarget& target) {
        return plan_depthwise_update(target, wide.view, in.view, weights.view, TensorView(), Activation::none,
                                     out.view, update);
      });
      plan_everywhere([&](const PlanTarget& target) {
        return plan_depthwise_varlen_states(target, in.view, starts.view, wide.view);
      });
    });
  }
}

TEST_F(HostileValuesTest, DepthwiseBackward) {
  for (int i = 0; i < cases_; ++i) {
    SCOPED_TRACE(i);
    HostileValues values(static_cast<std::uint64_t>(i));
    const DType type = values.random().pick(std::vector<DType>{DType::f16, DType::bf16, DType::f32});
    calls_([&] {
      const Dims shape = values.shape(3);
      const std::int64_t taps = values.small_or(0.2, 1);
      const Dims state{shape[0], shape[1], taps - 1};
      const HostileTensor in = values.input(type, shape), d_out = values.input(type, shape),
                          d_in = values.output(type, shape), weights = values.input(type, {shape[1], taps});
      HostileTensor bias, initial, d_final, ids, d_weights, d_bias, d_initial;
      if (values.chance(0.3)) bias = values.input(DType::f32, {shape[1]});
      if (values.chance(0.3)) initial = values.input(type, state);
      if (values.chance(0.3)) d_final = values.input(type, state);
      if (values.chance(0.1)) ids = values.input(DType::i32, {shape[0], shape[2]});
      if (values.chance(0.5)) d_weights = values.output(DType::f32, {shape[1], taps});
      if (values.chance(0.5)) d_bias = values.output(type, {shape[1]});
      if (values.chance(0.3)) d_initial = values.output(type, state);
      const DepthwiseForward forward{in.view,          weights.view, bias.view,
                                     Activation::silu, initial.view, ids.view};
      const DepthwiseGradients gradients{d_out.view,     d_final.view, d_in.view,
                                         d_weights.view, d_bias.view,  d_initial.view};
      const Buffer workspace(cpu_, 4096);
      const TensorView room(workspace.data(), DType::u8, {4096});
      if (taps < 10000 || !weights.is_real())
        calls_([&] { depthwise_conv1d_backward(stream_, forward, gradients, room); });
      calls_([&] { depthwise_conv1d_backward_workspace_bytes(h200_, forward, gradients); });
      plan_everywhere([&](const PlanTarget& target) {
        return plan_depthwise_conv1d_backward(target, forward, gradients, room);
      });
    });
  }
}

}  // namespace
}  // namespace relayout::test
