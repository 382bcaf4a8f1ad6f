// depthwise_varlen and depthwise_varlen_states: exact against the oracle, and the bits of depthwise_conv1d.
#include <gtest/gtest.h>

#include <cstdint>
#include <string>
#include <vector>

#include "tests/support/depthwise_sequences.hpp"
#include "tests/support/devices.hpp"

namespace relayout::test {
namespace {

using cases::Layout;

class DepthwiseVarlenTest : public DeviceTest {};
INSTANTIATE_TEST_SUITE_P(Devices, DepthwiseVarlenTest, ::testing::ValuesIn(test_devices()), device_test_name);

const std::vector<DType> kSignalTypes{DType::f16, DType::bf16, DType::f32};
/// Lengths around the runs and packs of the kernels, and shorter than the taps.
const std::vector<std::vector<std::int64_t>> kLengths{
    {5}, {1, 2, 0, 3, 1, 1}, {17, 0, 0, 64, 7, 1, 30}, {8, 8, 16, 24}, {130, 1, 66}};

DepthwiseSequenceCase varlen(const std::vector<std::int64_t>& lengths, std::int64_t channels,
                             std::int64_t taps, Layout layout) {
  DepthwiseSequenceCase c;
  c.lengths = lengths;
  c.channels = channels;
  c.taps = taps;
  c.in_layout = c.out_layout = layout;
  c.starts = true;
  return c;
}

TEST_P(DepthwiseVarlenTest, IsExact) {
  for (const Layout layout : {Layout::ncl, Layout::nlc})
    for (const DType type : kSignalTypes)
      for (const std::vector<std::int64_t>& lengths : kLengths)
        for (const std::int64_t taps : {1, 2, 3, 4, 5, 8, 11}) {
          DepthwiseSequenceCase c = varlen(lengths, 6, taps, layout);
          c.type = type;
          c.weight_type = taps % 2 == 0 ? type : DType::f32;
          c.seed = static_cast<std::uint64_t>(taps);
          c.zero_null = taps % 3 != 0;
          c.stride = taps == 4 ? 2 : 1;
          check_varlen_integers(stream(), c);
        }
}

/// An end before its begin is an empty sequence.
TEST_P(DepthwiseVarlenTest, TablesOfStartsMayEndInZeros) {
  for (const Layout layout : {Layout::ncl, Layout::nlc, Layout::gaps})
    for (const std::vector<std::int64_t>& lengths :
         std::vector<std::vector<std::int64_t>>{{3, 0}, {2, 2, 0, 0, 0, 0}, {17, 0, 130, 0, 0, 0, 0, 0}})
      for (const std::int64_t taps : {2, 4, 9}) {
        DepthwiseSequenceCase c = varlen(lengths, 16, taps, layout);
        c.padded_starts = lengths.size() < 3 ? 1 : static_cast<std::int64_t>(lengths.size() / 2);
        check_varlen_integers(stream(), c);
      }
}

TEST_P(DepthwiseVarlenTest, HasTheBitsOfAConvolution) {
  for (const Layout layout : {Layout::ncl, Layout::nlc, Layout::gaps})
    for (const DType type : kSignalTypes)
      for (const std::vector<std::int64_t>& lengths : kLengths)
        for (const std::int64_t taps : {4, 9}) {
          DepthwiseSequenceCase c = varlen(lengths, 16, taps, layout);
          c.type = type;
          c.weight_type = taps == 4 ? type : DType::f32;
          c.silu = true;
          check_varlen_bits(stream(), c);
        }
}

TEST_P(DepthwiseVarlenTest, Layouts) {
  for (const Layout in : {Layout::ncl, Layout::nlc, Layout::gaps, Layout::nlc_gaps, Layout::wide_rows,
                          Layout::every_second, Layout::reversed})
    for (const Layout out :
         {Layout::ncl, Layout::nlc, Layout::gaps, Layout::nlc_gaps, Layout::wide_rows, Layout::reversed})
      for (const Layout states : {Layout::ncl, Layout::nlc, Layout::nlc_gaps, Layout::every_second}) {
        DepthwiseSequenceCase c = varlen({3, 40, 1, 25}, 8, 4, in);
        c.out_layout = out;
        c.state_layout = states;
        c.weight_layout = states;
        check_varlen_integers(stream(), c);
      }
}

TEST_P(DepthwiseVarlenTest, WithoutStatesIndicesOrInitialStates) {
  for (const Layout layout : {Layout::ncl, Layout::nlc, Layout::gaps})
    for (const std::vector<std::int64_t>& lengths : kLengths) {
      DepthwiseSequenceCase c = varlen(lengths, 8, 4, layout);
      c.initial = false;
      check_varlen_integers(stream(), c);
      c.indices = c.nulls = false;
      check_varlen_integers(stream(), c);
      c.initial = true;
      check_varlen_integers(stream(), c);
      c.states = c.initial = false;
      c.bias = false;
      check_varlen_integers(stream(), c);
    }
}

TEST_P(DepthwiseVarlenTest, NoSequencesAndNoSamples) {
  for (const Layout layout : {Layout::ncl, Layout::nlc}) {
    check_varlen_integers(stream(), varlen({}, 6, 4, layout));
    check_varlen_integers(stream(), varlen({0, 0, 0}, 6, 4, layout));
  }
}

/// Chunks of prefill, and then decoding: the bits of the whole signal.
TEST_P(DepthwiseVarlenTest, PrefillAndUpdatesEqualTheWhole) {
  constexpr std::int64_t kChannels = 8, kTaps = 4, kLength = 40;
  for (const DType type : kSignalTypes) {
    const GuardedBuffer in(stream(), Role::input, type, {kChannels, kLength}, {1, kChannels}),
        weights(stream(), Role::input, type, {kChannels, kTaps}),
        flags(stream(), Role::input, DType::bool_, {1}),
        whole(stream(), Role::output, type, {1, kChannels, kLength}),
        pieces(stream(), Role::output, type, {kChannels, kLength}, {1, kChannels}),
        state(stream(), Role::output, type, {1, kChannels, kTaps - 1}, {0, 1, kChannels});
    fill_normal(in.host(), 1);
    fill_normal(weights.host(), 2);
    fill_with(flags.host(), [](std::uint64_t) { return 1.0; });
    for (const GuardedBuffer* input : {&in, &weights, &flags}) input->upload();
    const auto as_batch = [&](const TensorView& view) {
      return TensorView(view.data(), type, {1, view.extent(0), view.extent(1)},
                        {0, view.stride(0), view.stride(1)});
    };
    depthwise_conv1d(stream(), as_batch(in.device()), weights.device(), TensorView(), Activation::silu,
                     TensorView(), whole.device());
    std::int64_t begin = 0;
    for (const std::int64_t end : {13, 15, 16, 29, 30, 33, 40}) {
      const TensorView part = in.device().slice(1, begin, end), to = pieces.device().slice(1, begin, end);
      if (end % 10 == 0 || end == 33) {
        depthwise_update(stream(), state.device(), as_batch(part), weights.device(), TensorView(),
                         Activation::silu, as_batch(to));
      } else {
        const GuardedBuffer starts(stream(), Role::input, DType::i32, {2});
        fill_with(starts.host(),
                  [&](std::uint64_t i) { return i == 0 ? 0.0 : static_cast<double>(end - begin); });
        starts.upload();
        DepthwiseVarlenOptions options;
        if (begin > 0) options.has_initial_state = flags.device();
        depthwise_varlen(stream(), part, starts.device(), weights.device(), TensorView(), Activation::silu,
                         state.device(), to, options);
        stream().synchronize();
      }
      begin = end;
    }
    const std::vector<unsigned char> one = whole.download(), many = pieces.download();
    EXPECT_TRUE(same_elements(whole.view_of(one), as_batch(pieces.view_of(many)), NanRule::exact));
  }
}

TEST_P(DepthwiseVarlenTest, StatesAlone) {
  for (const Layout layout : {Layout::ncl, Layout::nlc, Layout::gaps})
    for (const Layout states : {Layout::ncl, Layout::nlc, Layout::gaps})
      for (const DType type : kSignalTypes)
        for (const std::int64_t columns : {0, 1, 3, 9}) {
          DepthwiseSequenceCase c = varlen({17, 0, 2, 9, 3}, 7, columns + 1, layout);
          c.type = type;
          c.state_layout = states;
          c.indices = false;
          SCOPED_TRACE(::testing::Message() << c);
          const DepthwiseSequenceTensors t(stream(), c);
          fill_bits(t.in.host(), 5);
          t.upload();
          depthwise_varlen_states(stream(), t.in.device(), t.starts.device(), t.state.device());
          reference::depthwise_varlen_states(t.in.host(), t.starts.host(), t.state.host());
          t.expect_the_rest();
          // A plan, on other memory.
          const GuardedBuffer again(stream(), Role::output, type, c.state_shape(),
                                    strides_of(states, c.state_shape()));
          const DepthwisePlan plan =
              plan_depthwise_varlen_states(device(), t.in.device(), t.starts.device(), t.state.device());
          EXPECT_NE(plan.explain().find("Kernel "), std::string::npos);
          plan.run(stream(), t.in.device().data(), again.device().data());
          reference::depthwise_varlen_states(t.in.host(), t.starts.host(), again.host());
          EXPECT_TRUE(again.check(NanRule::exact));
        }
}

/// A plan reads the numbers of the sequences as they are when it runs.
TEST_P(DepthwiseVarlenTest, PlansRunAgain) {
  for (const Layout layout : {Layout::ncl, Layout::nlc, Layout::gaps}) {
    const DepthwiseSequenceCase c = varlen({9, 20, 1, 5}, 8, 4, layout);
    const DepthwiseSequenceTensors t(stream(), c);
    t.fill_integers();
    const DepthwisePlan plan =
        plan_depthwise_varlen(device(), t.in.device(), t.starts.device(), t.weights.device(), t.bias.device(),
                              Activation::none, t.state.device(), t.out.device(), t.varlen_options());
    EXPECT_NE(plan.explain().find("Kernel "), std::string::npos);
    for (int turn = 0; turn < 2; ++turn) {
      t.upload();
      plan.run(stream());
      t.compute_varlen();
      EXPECT_TRUE(t.out.check());
      t.expect_the_rest();
      fill_with(t.starts.host(), [](std::uint64_t i) { return 2.0 + 8.0 * static_cast<double>(i); });
    }
  }
}

}  // namespace
}  // namespace relayout::test
