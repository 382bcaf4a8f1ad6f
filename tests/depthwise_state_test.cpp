// Depthwise in pieces: chunks with states, and updates, give the bits of the whole.
#include <gtest/gtest.h>

#include <cstdint>

#include "tests/support/depthwise_tensors.hpp"
#include "tests/support/devices.hpp"

namespace relayout::test {
namespace {

class DepthwiseStateTest : public DeviceTest {};
INSTANTIATE_TEST_SUITE_P(Devices, DepthwiseStateTest, ::testing::ValuesIn(test_devices()), device_test_name);

/// Where the chunks of a signal end: on 16-byte boundaries and off them.
Dims chunk_ends(std::int64_t length, std::int64_t first) {
  Dims ends;
  for (std::int64_t end = first; end < length; end += end % 3 == 0 ? 1 : 8) ends.push_back(end);
  ends.push_back(length);
  return ends;
}

/// Chunks of one signal, each with the state that the one before left, give the bits of the whole.
TEST_P(DepthwiseStateTest, ChunksEqualTheWhole) {
  for (const Layout layout : kFast)
    for (const DType type : kTypes)
      for (const std::int64_t taps : {2, 4, 9, 20})
        for (const std::int64_t first : {1, 8}) {
          DepthwiseCase c = make(2, 16, 56, taps, layout);
          c.type = type;
          c.weight_type = DType::f32;
          c.silu = true;
          c.initial_state = true;
          SCOPED_TRACE(::testing::Message() << c << " first chunk " << first);
          const DepthwiseTensors operands(stream(), c);
          operands.fill_reals();
          operands.run();
          const GuardedBuffer again(stream(), Role::output, c.type, c.shape(), c.out_strides());
          Buffer states[2] = {Buffer(device(), 4096 * size_of(type)), Buffer(device(), 4096 * size_of(type))};
          TensorView before = operands.initial.device();
          std::int64_t begin = 0, turn = 0;
          for (const std::int64_t end : chunk_ends(c.length, first)) {
            const TensorView after(states[turn % 2].data(), type, c.state_shape());
            depthwise_conv1d(stream(), operands.in.device().slice(2, begin, end), operands.weights.device(),
                             operands.bias.device(), Activation::silu, before,
                             again.device().slice(2, begin, end), after);
            before = after;
            begin = end;
            ++turn;
          }
          EXPECT_TRUE(same_contents(operands.out, again, NanRule::exact));
        }
}

/// Updates sample by sample, or a few at once, give the bits of the whole, and the state that it leaves.
TEST_P(DepthwiseStateTest, UpdatesEqualTheWhole) {
  for (const Layout layout : {Layout::ncl, Layout::nlc, Layout::gaps, Layout::nlc_gaps})
    for (const DType type : kTypes)
      for (const std::int64_t taps : {1, 2, 4, 9})
        for (const std::int64_t count : {1, 3, 12})
          for (const std::int64_t longer : {0, 2}) {
            DepthwiseCase c = make(2, 16, 24, taps, layout);
            c.type = c.weight_type = type;
            c.silu = true;
            c.initial_state = true;
            SCOPED_TRACE(::testing::Message() << c << " " << count << " at once, state longer by " << longer);
            const DepthwiseTensors operands(stream(), c);
            operands.fill_reals();
            operands.run();

            const Dims shape{c.batch, c.channels, taps - 1 + longer};
            const GuardedBuffer state(stream(), Role::output, type, shape, strides_of(layout, shape));
            fill_normal(state.host(), 9);
            for_each_element(operands.initial.host(), [&](const Dims& i, std::int64_t) {
              store_value(state.host(), {i[0], i[1], i[2] + longer}, load_value(operands.initial.host(), i));
            });
            state.upload();
            const GuardedBuffer again(stream(), Role::output, type, c.shape(), c.out_strides());
            for (std::int64_t begin = 0; begin < c.length; begin += count) {
              depthwise_update(stream(), state.device(), operands.in.device().slice(2, begin, begin + count),
                               operands.weights.device(), operands.bias.device(), Activation::silu,
                               again.device().slice(2, begin, begin + count));
              reference::depthwise_updated_state(operands.in.host().slice(2, begin, begin + count),
                                                 state.host());
            }
            EXPECT_TRUE(same_contents(operands.out, again, NanRule::exact));
            EXPECT_TRUE(again.check_outside());
            EXPECT_TRUE(state.check(NanRule::exact));
          }
}

}  // namespace
}  // namespace relayout::test
