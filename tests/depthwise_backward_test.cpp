// The backward pass of the depthwise conv1d: exactly on small integers, within the bounds of its oracle on
// real numbers, the same bits in every run.
#include <gtest/gtest.h>

#include <cstdint>
#include <limits>
#include <vector>

#include "tests/support/depthwise_backward_tensors.hpp"
#include "tests/support/devices.hpp"
#include "tests/support/random.hpp"
#include "tests/support/reserved_memory.hpp"

#if defined(__GNUC__)
/// From the OpenMP that the library was linked with, if any.
extern "C" __attribute__((weak)) void omp_set_num_threads(int);
#endif

namespace relayout::test {
namespace {

class DepthwiseBackwardTest : public DeviceTest {};
INSTANTIATE_TEST_SUITE_P(Devices, DepthwiseBackwardTest, ::testing::ValuesIn(test_devices()),
                         device_test_name);

class DepthwiseBackwardOrderTest : public DeviceTest {};
GTEST_ALLOW_UNINSTANTIATED_PARAMETERIZED_TEST(DepthwiseBackwardOrderTest);
INSTANTIATE_TEST_SUITE_P(Devices, DepthwiseBackwardOrderTest, ::testing::ValuesIn(reordered_devices()),
                         device_test_name);

class DepthwiseBackwardFarTest : public DeviceTest {};
INSTANTIATE_TEST_SUITE_P(Devices, DepthwiseBackwardFarTest, ::testing::ValuesIn(host_memory_devices()),
                         device_test_name);

TEST_P(DepthwiseBackwardTest, EveryNumberOfTapsAndLengthsAroundIt) {
  for (const std::int64_t taps : {1, 2, 3, 4, 5, 6, 7, 8, 9, 17})
    for (const Layout layout : kFast) {
      for (const std::int64_t length :
           std::vector<std::int64_t>{0, 1, taps - 2, taps - 1, taps, taps + 1, 33}) {
        if (length < 0) continue;
        DepthwiseBackwardCase c = make_backward(2, 17, length, taps, layout);
        c.initial_state = length % 2 == 0;
        c.d_initial_state = length % 4 < 2;
        c.final_state = length % 3 != 1;
        c.bias = length % 3 != 0;
        check_integers(stream(), c);
      }
    }
}

/// More than a tile's channels and times, off and on its edges.
TEST_P(DepthwiseBackwardTest, EdgesOfTiles) {
  for (const Layout layout : kFast)
    for (const DType type : {DType::f16, DType::f32})
      for (const std::int64_t channels : {1, 3, 32, 33, 65})
        for (const std::int64_t length : {31, 32, 33, 63, 64, 65, 129, 200}) {
          if (channels > 3 && length > 129) continue;
          DepthwiseBackwardCase c = make_backward(1, channels, length, 4, layout);
          c.type = c.weight_type = type;
          c.initial_state = c.d_initial_state = c.final_state = length % 2 == 0;
          check_integers(stream(), c);
        }
}

TEST_P(DepthwiseBackwardTest, Types) {
  for (const DType type : kTypes)
    for (const DType weights : kTypes)
      for (const DType other : kTypes)
        for (const Layout layout : kFast)
          for (const std::int64_t taps : {4, 12}) {
            DepthwiseBackwardCase c = make_backward(2, 16, 24, taps, layout);
            c.type = type;
            c.weight_type = c.d_bias_type = weights;
            c.bias_type = c.d_weights_type = other;
            check_integers(stream(), c);
          }
}

TEST_P(DepthwiseBackwardTest, EveryLayout) {
  for (const Layout in :
       {Layout::ncl, Layout::nlc, Layout::lcn, Layout::gaps, Layout::nlc_gaps, Layout::wide_rows,
        Layout::every_second, Layout::reversed, Layout::one_batch, Layout::one_channel, Layout::one_sample})
    for (const Layout out : {Layout::ncl, Layout::nlc, Layout::lcn, Layout::gaps, Layout::reversed})
      for (const std::int64_t taps : {4, 10}) {
        DepthwiseBackwardCase c = make_backward(2, 16, 40, taps);
        c.in_layout = in;
        c.out_layout = c.state_layout = out;
        c.d_in_layout = DepthwiseBackwardTensors::written(in);
        if (taps == 4) std::swap(c.out_layout, c.d_in_layout);
        c.weight_layout = in;
        c.initial_state = c.final_state = c.d_initial_state = true;
        check_integers(stream(), c);
      }
}

TEST_P(DepthwiseBackwardTest, MisalignedAndSlices) {
  for (const Layout layout : kFast)
    for (const DType type : {DType::f16, DType::f32})
      for (const std::int64_t off : {1, 4, 7}) {
        DepthwiseBackwardCase c = make_backward(2, 21, 43, 4, layout);
        c.type = c.weight_type = type;
        c.in_gap = off;
        c.in_misaligned = off;
        check_integers(stream(), c);
        c.out_misaligned = 8 - off;
        c.out_gap = 11;
        check_integers(stream(), c);
        c.in_misaligned = 0;
        c.d_in_misaligned = off;
        check_integers(stream(), c);
      }
}

TEST_P(DepthwiseBackwardTest, EveryChoiceOfWhatIsWantedAndGiven) {
  for (int choice = 0; choice < 64; ++choice)
    for (const std::int64_t taps : {4, 9}) {
      DepthwiseBackwardCase c = make_backward(2, 5, 21, taps);
      c.bias = (choice & 1) != 0;
      c.initial_state = (choice & 2) != 0;
      c.final_state = (choice & 4) != 0;
      c.d_initial_state = (choice & 8) != 0;
      c.d_weights = (choice & 16) != 0;
      c.d_bias = (choice & 32) != 0;
      check_integers(stream(), c);
    }
}

TEST_P(DepthwiseBackwardTest, NoBatchesAndNoChannels) {
  for (const std::int64_t taps : {1, 4, 9}) {
    DepthwiseBackwardCase c = make_backward(0, 5, 21, taps);
    c.initial_state = c.d_initial_state = true;
    check_integers(stream(), c);
    check_integers(stream(), make_backward(2, 0, 21, taps));
    c = make_backward(2, 5, 0, taps);
    check_integers(stream(), c);
    c.final_state = c.d_initial_state = true;
    check_integers(stream(), c);
  }
}

TEST_P(DepthwiseBackwardTest, SequenceIds) {
  for (const Layout layout : {Layout::ncl, Layout::nlc, Layout::gaps})
    for (const std::int64_t taps : {1, 2, 3, 4, 5, 9})
      for (const DType type : {DType::bf16, DType::f32}) {
        DepthwiseBackwardCase c = make_backward(2, 18, 71, taps, layout);
        c.type = c.weight_type = type;
        c.ids = true;
        check_integers(stream(), c);
        c.silu = true;
        check_reals(stream(), c);
      }
}

/// What lies where ids are negative reaches no gradient, not even as a product with 0.
TEST_P(DepthwiseBackwardTest, PaddingMayHoldNan) {
  for (const Layout layout : kFast)
    for (const std::int64_t taps : {1, 4, 6, 9}) {
      DepthwiseBackwardCase c = make_backward(2, 18, 71, taps, layout);
      c.ids = true;
      SCOPED_TRACE(::testing::Message() << c);
      const DepthwiseBackwardTensors tensors(stream(), c);
      tensors.fill_integers();
      int padded = 0;
      reference::for_each_index(c.shape(), [&](const Dims& i) {
        if (reference::sequence_id(tensors.host().forward, i[0], i[2]) >= 0) return;
        ++padded;
        for (const GuardedBuffer* input : {&tensors.in, &tensors.d_out})
          reference::store_bits(input->host(), i,
                                reference::encode(c.type, std::numeric_limits<double>::quiet_NaN()));
      });
      EXPECT_GT(padded, 0);
      tensors.run();
      tensors.expect_exact();
    }
}

TEST_P(DepthwiseBackwardTest, RealNumbersLieWithinTheBounds) {
  for (const DType type : kTypes)
    for (const Layout layout : kFast)
      for (const std::int64_t taps : {2, 3, 4, 8, 31}) {
        DepthwiseBackwardCase c = make_backward(2, 16, 72, taps, layout);
        c.type = c.weight_type = type;
        c.silu = (taps % 3 == 1) != (layout == kFast[0]);  // each number of taps with and without
        c.bias = taps != 3;
        c.initial_state = c.d_initial_state = c.final_state = taps % 2 == 0;
        check_reals(stream(), c);
      }
}

TEST_P(DepthwiseBackwardTest, ManyTaps) {
  for (const Layout layout : kFast)
    for (const std::int64_t taps : {129, 300}) {
      DepthwiseBackwardCase c = make_backward(1, 16, 160, taps, layout);
      c.initial_state = c.final_state = c.d_initial_state = taps % 2 == 0;
      check_integers(stream(), c);
    }
}

/// Several blocks of native code, whose last one is cut.
TEST_P(DepthwiseBackwardTest, SeveralBlocks) {
  for (const std::int64_t taps : {4, 9}) {
    DepthwiseBackwardCase c = make_backward(2, 2, 2500, taps);
    c.type = c.weight_type = DType::f32;
    c.silu = true;
    c.initial_state = c.final_state = c.d_initial_state = true;
    check_reals(stream(), c);
    c = make_backward(1, 18, 1700, taps, Layout::nlc);
    check_integers(stream(), c);
    check_integers(stream(), make_backward(8, 5, 300, taps));  // each part of the last launch adds some
  }
}

/// So many channels that threads walk more than one step; native code, which is checked above, is the oracle.
TEST_P(DepthwiseBackwardTest, RunsOfSeveralSteps) {
  if (device().kind() == DeviceKind::cpu) GTEST_SKIP() << "native code is the oracle";
  for (const Layout layout : kFast) {
    DepthwiseBackwardCase c = make_backward(1, 32768, 21, 3, layout);
    c.initial_state = c.final_state = c.d_initial_state = true;
    const DepthwiseBackwardTensors own(stream(), c), native(Stream(Device::cpu()), c);
    for (const DepthwiseBackwardTensors* tensors : {&own, &native}) {
      tensors->fill_integers();
      tensors->run();
    }
    EXPECT_EQ(own.results(), native.results()) << layout;
  }
}

/// Only gradients whose taps lie over the place may become NaN.
TEST_P(DepthwiseBackwardTest, NansStayWhereTheyBelong) {
  const double nan = std::numeric_limits<double>::quiet_NaN(), inf = std::numeric_limits<double>::infinity();
  for (const Layout layout : kFast)
    for (const bool ids : {false, true})
      for (const std::int64_t taps : {1, 4, 8, 9})
        for (const std::int64_t at : {0, 7, 17, 39})
          for (const double poison : {nan, inf})
            for (const bool in_signal : {false, true}) {
              DepthwiseBackwardCase c = make_backward(2, 16, 40, taps, layout);
              c.ids = ids;
              SCOPED_TRACE(::testing::Message() << c << " poison at " << at << " " << in_signal);
              const DepthwiseBackwardTensors tensors(stream(), c);
              tensors.fill_integers();
              store_value((in_signal ? tensors.in : tensors.d_out).host(), {1, 3, at}, poison);
              tensors.run();
              tensors.expect_exact();
            }
}

/// The sums have the same order in every run, wherever the signals lie and however many threads there are.
TEST_P(DepthwiseBackwardTest, TheSameBitsInEveryRun) {
  for (const std::int64_t taps : {4, 9})
    for (const Layout layout : {Layout::ncl, Layout::nlc, Layout::gaps}) {
      std::vector<unsigned char> first;
      for (const int threads : {1, 2, 5, 8}) {
        DepthwiseBackwardCase c = make_backward(3, 18, 1301, taps, layout);
        c.silu = true;
        c.in_misaligned = threads;
        c.out_misaligned = threads == 2 ? 3 : 0;
        c.d_in_misaligned = threads == 5 ? 2 : 8;
        SCOPED_TRACE(::testing::Message() << c << " " << threads << " threads");
#if defined(__GNUC__)
        if (omp_set_num_threads != nullptr) omp_set_num_threads(threads);
#endif
        const DepthwiseBackwardTensors tensors(stream(), c);
        tensors.fill_reals();
        tensors.run();
        const std::vector<unsigned char> results = tensors.results();
        if (first.empty()) first = results;
        EXPECT_TRUE(first == results);
      }
    }
}

std::vector<double> values_of(const GuardedBuffer& buffer) {
  const std::vector<unsigned char> bytes = buffer.download();
  const TensorView view = buffer.view_of(bytes);
  std::vector<double> values;
  reference::for_each_index(view.shape(), [&](const Dims& i) { values.push_back(load_value(view, i)); });
  return values;
}

/// The gradients of a signal that is cut into chunks, which hand theirs on through the states, are those of
/// the whole.
TEST_P(DepthwiseBackwardTest, ChunksGiveTheGradientsOfTheWhole) {
  for (const Layout layout : kFast)
    for (const std::int64_t taps : {2, 4, 9})
      for (const std::int64_t chunk : {1, 3, 16}) {
        DepthwiseBackwardCase c = make_backward(2, 6, 37, taps, layout);
        c.type = c.weight_type = DType::f32;
        c.initial_state = c.final_state = c.d_initial_state = true;
        SCOPED_TRACE(::testing::Message() << c << " in chunks of " << chunk);
        const DepthwiseBackwardTensors whole(stream(), c), parts(stream(), c);
        whole.fill_integers();
        whole.run();
        parts.fill_integers();
        parts.upload();
        // The states before the chunks: samples of the signal, or of the state before it.
        const Dims shape{c.batch, c.channels, taps - 1 + c.length};
        const GuardedBuffer samples(stream(), Role::input, c.type, shape);
        reference::for_each_index(shape, [&](const Dims& i) {
          const bool before = i[2] < taps - 1;
          store_value(samples.host(), i,
                      before ? load_value(parts.initial.host(), i)
                             : load_value(parts.in.host(), {i[0], i[1], i[2] - (taps - 1)}));
        });
        samples.upload();
        Buffer states[2] = {Buffer(device(), 4096), Buffer(device(), 4096)};
        TensorView later = parts.d_final.device();
        std::vector<double> d_weights(static_cast<std::size_t>(c.channels * taps), 0.0);
        std::int64_t turn = 0;
        for (std::int64_t end = c.length; end > 0; ++turn) {
          const std::int64_t begin = std::max<std::int64_t>(0, end - chunk);
          DepthwiseForward forward = parts.forward();
          DepthwiseGradients d = parts.gradients();
          forward.in = forward.in.slice(2, begin, end);
          forward.initial_state = samples.device().slice(2, begin, begin + taps - 1);
          d.d_out = d.d_out.slice(2, begin, end);
          d.d_in = d.d_in.slice(2, begin, end);
          d.d_final_state = later;
          if (begin > 0) d.d_initial_state = TensorView(states[turn % 2].data(), c.type, c.state_shape());
          depthwise_conv1d_backward(stream(), forward, d, parts.workspace.device());
          const std::vector<double> part = values_of(parts.d_weights);
          for (std::size_t i = 0; i < part.size(); ++i) d_weights[i] += part[i];
          later = d.d_initial_state;
          end = begin;
        }
        EXPECT_TRUE(same_contents(whole.d_in, parts.d_in));
        EXPECT_TRUE(same_contents(whole.d_initial, parts.d_initial));
        EXPECT_EQ(values_of(whole.d_weights), d_weights);
      }
}

TEST_P(DepthwiseBackwardTest, PlansRunAgainAndOnOtherSignals) {
  DepthwiseBackwardCase c = make_backward(2, 20, 50, 4);
  c.silu = c.initial_state = c.d_initial_state = c.final_state = true;
  const DepthwiseBackwardTensors planned(stream(), c), other(stream(), c);
  for (const DepthwiseBackwardTensors* tensors : {&planned, &other}) {
    tensors->fill_reals();
    tensors->upload();
  }
  const DepthwiseBackwardPlan plan = plan_depthwise_conv1d_backward(
      device(), planned.forward(), planned.gradients(), planned.workspace.device());
  EXPECT_EQ(plan.workspace_bytes(), static_cast<std::size_t>(4 * planned.workspace.host().elements()));
  EXPECT_NE(plan.explain().find("Workspace: "), std::string::npos) << plan.explain();
  const Graph graph(stream(), [&] { plan.run(stream()); });
  graph.launch(stream());
  planned.expect_within_bounds();
  plan.run(stream());
  planned.expect_within_bounds();
  plan.run(stream(), other.in.device().data(), other.d_out.device().data(), other.d_in.device().data(),
           other.workspace.device().data());
  EXPECT_TRUE(planned.results() != std::vector<unsigned char>());
  EXPECT_TRUE(same_contents(planned.d_in, other.d_in));
}

TEST_P(DepthwiseBackwardTest, RandomCases) {
  for (const std::uint64_t seed : random_seeds(60)) {
    SCOPED_TRACE(reproduce(seed));
    Random random(seed);
    DepthwiseBackwardCase c = make_backward(random.integer(0, 3), random.integer(1, 40),
                                            random.integer(0, 90), random.integer(1, 12));
    c.in_layout = random.pick(kOutputLayouts);
    c.out_layout = random.chance(0.6) ? c.in_layout : random.pick(kOutputLayouts);
    c.d_in_layout = random.chance(0.6) ? c.in_layout : random.pick(kOutputLayouts);
    c.state_layout = random.pick(kOutputLayouts);
    c.type = random.pick(kTypes);
    c.weight_type = random.pick(kTypes);
    c.in_misaligned = random.chance(0.3) ? random.integer(0, 8) : 0;
    c.out_misaligned = random.chance(0.3) ? random.integer(0, 8) : 0;
    c.d_in_misaligned = random.chance(0.3) ? random.integer(0, 8) : 0;
    c.bias = random.chance(0.5);
    c.ids = random.chance(0.2);
    c.initial_state = !c.ids && random.chance(0.5);
    c.final_state = !c.ids && random.chance(0.5);
    c.d_initial_state = !c.ids && random.chance(0.5);
    check_integers(stream(), c);
  }
}

TEST_P(DepthwiseBackwardOrderTest, TheOrderOfThreadsDoesNotMatter) {
  for (const Layout layout : kFast)
    for (const std::int64_t taps : {4, 12}) {
      DepthwiseBackwardCase c = make_backward(2, 40, 72, taps, layout);
      c.initial_state = c.final_state = c.d_initial_state = true;
      check_integers(stream(), c);
    }
}

TEST_P(DepthwiseBackwardFarTest, StridesBeyondThirtyTwoBits) {
  constexpr std::int64_t kFar = (std::int64_t{1} << 31) + 32;
  for (const std::int64_t taps : {4, 9})
    for (const bool channels_fast : {false, true}) {
      const Dims shape{2, 16, 16};
      const Dims strides = channels_fast ? Dims{kFar, 1, kFar / 16} : Dims{kFar, kFar / 16, 1};
      const ReservedMemory memory[] = {ReservedMemory(static_cast<std::size_t>(4 * kFar)),
                                       ReservedMemory(static_cast<std::size_t>(4 * kFar)),
                                       ReservedMemory(static_cast<std::size_t>(4 * kFar))};
      const auto far = [&](int i) { return TensorView(memory[i].data(), DType::f16, shape, strides); };
      std::vector<float> weights(16 * static_cast<std::size_t>(taps)), d_weights(weights.size());
      DepthwiseForward forward;
      forward.in = far(0);
      forward.weights = TensorView(weights.data(), DType::f32, {16, taps});
      DepthwiseGradients d;
      d.d_out = far(1);
      d.d_in = far(2);
      d.d_weights = TensorView(d_weights.data(), DType::f32, {16, taps});
      fill_small_integers(forward.in, 1);
      fill_small_integers(forward.weights, 2);
      fill_small_integers(d.d_out, 3);
      std::vector<float> room(depthwise_conv1d_backward_workspace_bytes(device(), forward, d) / 4);
      depthwise_conv1d_backward(
          stream(), forward, d,
          TensorView(room.data(), DType::f32, {static_cast<std::int64_t>(room.size())}));
      const reference::DepthwiseBackwardOracle gradients(
          {{forward.in, forward.weights, {}, {}, {}}, d.d_out, {}});
      reference::for_each_index(shape, [&](const Dims& i) {
        EXPECT_EQ(reference::load(d.d_in, i), gradients.sample(i[0], i[1], i[2]).sum);
      });
      reference::for_each_index({16, taps}, [&](const Dims& i) {
        EXPECT_EQ(reference::load(d.d_weights, i), gradients.weight(i[0], i[1]).sum);
      });
    }
}

}  // namespace
}  // namespace relayout::test
