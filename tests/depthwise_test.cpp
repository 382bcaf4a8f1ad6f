// The direct depthwise conv1d: exactly on small integers, within the gates of its oracle on real numbers;
// chunks and updates bit for bit the whole.
#include <gtest/gtest.h>

#include <cstdint>
#include <cstring>
#include <limits>
#include <vector>

#include "tests/support/depthwise_tensors.hpp"
#include "tests/support/devices.hpp"
#include "tests/support/random.hpp"
#include "tests/support/reserved_memory.hpp"

namespace relayout::test {
namespace {

constexpr double kNan = std::numeric_limits<double>::quiet_NaN();
constexpr double kInf = std::numeric_limits<double>::infinity();

class DepthwiseTest : public DeviceTest {};
INSTANTIATE_TEST_SUITE_P(Devices, DepthwiseTest, ::testing::ValuesIn(test_devices()), device_test_name);

class DepthwiseOrderTest : public DeviceTest {};
GTEST_ALLOW_UNINSTANTIATED_PARAMETERIZED_TEST(DepthwiseOrderTest);
INSTANTIATE_TEST_SUITE_P(Devices, DepthwiseOrderTest, ::testing::ValuesIn(reordered_devices()),
                         device_test_name);

class DepthwiseFarTest : public DeviceTest {};
INSTANTIATE_TEST_SUITE_P(Devices, DepthwiseFarTest, ::testing::ValuesIn(host_memory_devices()),
                         device_test_name);

TEST_P(DepthwiseTest, EveryNumberOfTapsAndLengthsAroundIt) {
  for (const std::int64_t taps : {1, 2, 3, 4, 5, 6, 7, 8, 9, 15, 16, 17, 31})
    for (const Layout layout : kFast) {
      std::vector<std::int64_t> lengths{0, 1, taps - 2, taps - 1, taps, taps + 1, 63, 64, 65};
      for (const std::int64_t length : lengths) {
        if (length < 0) continue;
        DepthwiseCase c = make(2, 16, length, taps, layout);
        c.initial_state = length % 2 == 0;
        c.final_state = true;
        c.bias = length % 3 != 0;
        check_integers(stream(), c);
      }
    }
}

/// Rows on 16-byte boundaries whose last pack is cut.
TEST_P(DepthwiseTest, SlicesOfWiderTensors) {
  for (const std::int64_t taps : {1, 3, 4, 8, 11})
    for (const DType type : {DType::f16, DType::f32})
      for (const bool initial : {false, true}) {
        DepthwiseCase c = make(2, 5, 61, taps);
        c.type = c.weight_type = type;
        c.in_gap = 3;
        c.out_gap = 11;
        c.initial_state = initial;
        check_integers(stream(), c);
        c.in_misaligned = 1;  // rows of the output on 16 bytes, of which every second begins inside a sector
        check_integers(stream(), c);
        c = make(2, 21, 37, taps, Layout::nlc);
        c.type = c.weight_type = type;
        c.in_gap = 3;
        c.out_gap = 11;
        c.initial_state = initial;
        check_integers(stream(), c);
      }
}

TEST_P(DepthwiseTest, Types) {
  for (const DType type : kTypes)
    for (const DType weights : {type, DType::f32})
      for (const DType bias : {type, DType::f32})
        for (const Layout layout : kFast)
          for (const std::int64_t taps : {4, 12}) {
            DepthwiseCase c = make(2, 16, 48, taps, layout);
            c.type = type;
            c.weight_type = weights;
            c.bias_type = bias;
            c.final_state = true;
            check_integers(stream(), c);
          }
}

TEST_P(DepthwiseTest, EveryLayout) {
  for (const Layout in :
       {Layout::ncl, Layout::nlc, Layout::lcn, Layout::gaps, Layout::nlc_gaps, Layout::wide_rows,
        Layout::every_second, Layout::reversed, Layout::one_batch, Layout::one_channel, Layout::one_sample})
    for (const Layout out : {Layout::ncl, Layout::nlc, Layout::lcn, Layout::gaps, Layout::reversed}) {
      DepthwiseCase c = make(2, 16, 40, 4);
      c.in_layout = in;
      c.out_layout = c.state_layout = out;
      c.weight_layout = in;
      c.initial_state = c.final_state = true;
      check_integers(stream(), c);
    }
}

TEST_P(DepthwiseTest, Misaligned) {
  for (const Layout layout : kFast)
    for (const std::int64_t taps : {4, 9})
      for (const std::int64_t off : {1, 4}) {
        DepthwiseCase c = make(2, 16, 40, taps, layout);
        c.in_misaligned = off;
        check_integers(stream(), c);
        c.in_misaligned = 0;
        c.out_misaligned = off;
        check_integers(stream(), c);
      }
}

/// Just enough threads that each takes 4 packs along time, and 16 samples along channels.
TEST_P(DepthwiseTest, LongRuns) {
  const std::int64_t processors = device().properties().multiprocessors;
  if (processors <= 8) {
    check_integers(stream(), make(2, 10 * processors, 4104, 4));
    DepthwiseCase c = make(1, 128 * processors, 1284, 3, Layout::nlc);
    c.type = c.weight_type = DType::f32;
    check_integers(stream(), c);
  } else {
    check_integers(stream(), make(2, 8 * processors, 4104, 4));
    check_integers(stream(), make(1, 2048, 1100, 3, Layout::nlc));
  }
}

TEST_P(DepthwiseTest, RealNumbersPassTheGates) {
  for (const DType type : kTypes)
    for (const Layout layout : kFast)
      for (const bool silu : {false, true})
        for (const std::int64_t taps : {4, 31}) {
          DepthwiseCase c = make(2, 16, 72, taps, layout);
          c.type = c.weight_type = type;
          c.silu = silu;
          c.initial_state = taps == 4;
          check_reals(stream(), c);
        }
}

/// The shapes of Mamba's decoder: width 4, SiLU, channels-last and channels-first.
TEST_P(DepthwiseTest, MambaShapes) {
  for (const Layout layout : kFast) {
    DepthwiseCase c = make(1, 1536, 24, 4, layout);
    c.silu = true;
    c.initial_state = c.final_state = true;
    check_reals(stream(), c);
  }
}

TEST_P(DepthwiseTest, SequenceIds) {
  for (const Layout layout : {Layout::ncl, Layout::nlc, Layout::gaps})
    for (const std::int64_t taps : {1, 4, 9}) {
      DepthwiseCase c = make(2, 8, 64, taps, layout);
      c.ids = true;
      check_integers(stream(), c);
      c.silu = true;
      check_reals(stream(), c);
    }
}

TEST_P(DepthwiseTest, MoreTapsThanAnyTile) {
  for (const Layout layout : kFast)
    for (const std::int64_t taps : {128, 129, 300}) {
      DepthwiseCase c = make(1, 8, 160, taps, layout);
      c.initial_state = c.final_state = taps % 2 == 0;
      check_integers(stream(), c);
    }
}

TEST_P(DepthwiseTest, SiluOfExtremes) {
  DepthwiseCase c = make(1, 8, 8, 1);
  c.type = c.weight_type = DType::f32;
  c.bias = false;
  c.silu = true;
  SCOPED_TRACE(::testing::Message() << c);
  const DepthwiseTensors operands(stream(), c);
  const std::vector<double> values{kNan, kInf, -1e30, 1e30, -88.5, 88.5, -87.5, -104.0};
  fill_with(operands.in.host(), [&](std::uint64_t i) { return values[i % 8] * (i < 32 ? 1.0 : 0.25); });
  fill_with(operands.weights.host(), [](std::uint64_t) { return 1.0; });
  operands.run();
  operands.expect_within_gates();
}

/// Only outputs whose taps lie over the sample may become NaN: zeros before the signal are a choice, not a
/// product.
TEST_P(DepthwiseTest, NansStayWhereTheySampleIs) {
  for (const Layout layout : kFast)
    for (const std::int64_t taps : {1, 4, 8, 9, 13})
      for (const std::int64_t at : {0, 7, 17, 39})
        for (const double poison : {kNan, kInf}) {
          const DepthwiseCase c = make(2, 16, 40, taps, layout);
          SCOPED_TRACE(::testing::Message() << c << " poison at " << at);
          const DepthwiseTensors operands(stream(), c);
          operands.fill_integers();
          store_value(operands.in.host(), {1, 3, at}, poison);
          operands.run();
          operands.expect_exact();
        }
}

/// The same convolution as a dense one: img2col and a GEMM with weights that are zero off the diagonal.
TEST_P(DepthwiseTest, EqualsItsDenseExpansion) {
  const std::int64_t batch = 2, channels = 5, length = 19, taps = 3;
  DepthwiseCase c = make(batch, channels, length, taps, Layout::nlc);
  c.bias_type = DType::f32;
  const DepthwiseTensors operands(stream(), c);
  operands.fill_integers();
  operands.run();
  Window window;
  window.taps = taps;
  const GuardedBuffer a(stream(), Role::output, DType::f16, {batch * length, taps * channels});
  const GuardedBuffer bt(stream(), Role::input, DType::f16, {channels, taps * channels});
  const GuardedBuffer y(stream(), Role::output, DType::f16, {batch * length, channels});
  fill_with(bt.host(), [](std::uint64_t) { return 0.0; });
  for (std::int64_t channel = 0; channel < channels; ++channel)
    for (std::int64_t k = 0; k < taps; ++k)
      store_value(bt.host(), {channel, k * channels + channel},
                  load_value(operands.weights.host(), {channel, k}));
  bt.upload();
  img2col(stream(), operands.in.device(), window, causal_padding(Causal::sample, length, window), a.device());
  gemm(stream(), a.device(), bt.device(), operands.bias.device(), y.device());
  const std::vector<unsigned char> dense = y.download(), direct = operands.out.download();
  const TensorView rows = y.view_of(dense);
  const TensorView signal(rows.data(), rows.dtype(), c.shape(), {length * channels, 1, channels});
  EXPECT_TRUE(same_elements(signal, operands.out.view_of(direct)));
}

TEST_P(DepthwiseTest, RandomCases) {
  for (const std::uint64_t seed : random_seeds(40)) {
    SCOPED_TRACE(reproduce(seed));
    Random random(seed);
    DepthwiseCase c =
        make(random.integer(0, 3), random.integer(1, 40), random.integer(0, 90), random.integer(1, 20));
    c.in_layout = random.pick(kOutputLayouts);
    c.out_layout =
        random.chance(0.6) && c.in_layout != Layout::every_second ? c.in_layout : random.pick(kOutputLayouts);
    c.state_layout = random.pick(kOutputLayouts);
    if (random.chance(0.5)) c.channels = (c.channels + 7) / 8 * 8;
    if (random.chance(0.5)) c.length = (c.length + 7) / 8 * 8;
    c.type = random.pick(kTypes);
    c.weight_type = random.chance(0.5) ? c.type : DType::f32;
    c.in_misaligned = random.chance(0.3) ? random.integer(0, 8) : 0;
    c.out_misaligned = random.chance(0.3) ? random.integer(0, 8) : 0;
    c.bias = random.chance(0.5);
    c.ids = random.chance(0.2);
    c.initial_state = !c.ids && random.chance(0.5);
    c.final_state = !c.ids && random.chance(0.5);
    check_integers(stream(), c);
  }
}

TEST_P(DepthwiseOrderTest, TheOrderOfThreadsDoesNotMatter) {
  for (const Layout layout : kFast)
    for (const std::int64_t taps : {4, 12}) {
      DepthwiseCase c = make(2, 40, 72, taps, layout);
      c.initial_state = c.final_state = true;
      check_integers(stream(), c);
    }
}

TEST_P(DepthwiseFarTest, StridesBeyondThirtyTwoBits) {
  constexpr std::int64_t kFar = (std::int64_t{1} << 31) + 32;
  for (const bool channels_fast : {false, true}) {
    const Dims shape{2, 16, 16};
    const Dims strides = channels_fast ? Dims{kFar, 1, kFar / 16} : Dims{kFar, kFar / 16, 1};
    const ReservedMemory from(static_cast<std::size_t>(4 * kFar)), to(static_cast<std::size_t>(4 * kFar));
    const TensorView in(from.data(), DType::f16, shape, strides), out(to.data(), DType::f16, shape, strides);
    std::vector<float> weights(16 * 4);
    const TensorView w(weights.data(), DType::f32, {16, 4});
    fill_small_integers(in, 1);
    fill_small_integers(w, 2);
    std::vector<std::uint16_t> expected(2 * 16 * 16);
    const TensorView oracle(expected.data(), DType::f16, shape);
    depthwise_conv1d(stream(), in, w, TensorView(), Activation::none, TensorView(), out);
    reference::depthwise_conv1d({in, w, {}, {}, {}}, oracle);
    EXPECT_TRUE(same_elements(oracle, out)) << channels_fast;
  }
}

/// Native code writes outputs beyond 16 MiB past the caches; each half is below.
TEST(NativeDepthwiseTest, LargeOutputsEqualTheirHalves) {
  const std::int64_t channels = 66, length = 65003;
  const std::size_t count = static_cast<std::size_t>(2 * channels * length);
  const Stream stream(Device::cpu());
  std::vector<std::uint16_t> source(count), whole(count + 1), halves(count);
  for (std::size_t i = 0; i < count; ++i) source[i] = to_f16(static_cast<float>(hash(i) % 1024) / 64.0f).bits;
  std::vector<float> numbers(static_cast<std::size_t>(channels * 4));
  const TensorView weights(numbers.data(), DType::f32, {channels, 4});
  fill_normal(weights, 2);
  const Dims shape{2, channels, length};
  for (const Layout layout : kFast) {
    const auto view = [&](const std::uint16_t* data) {
      return TensorView(data, DType::f16, shape, strides_of(layout, shape));
    };
    depthwise_conv1d(stream, view(source.data()), weights, TensorView(), Activation::none, TensorView(),
                     view(whole.data() + 1));
    for (const std::int64_t half : {0, 1}) {
      depthwise_conv1d(stream, view(source.data()).slice(0, half, half + 1), weights, TensorView(),
                       Activation::none, TensorView(), view(halves.data()).slice(0, half, half + 1));
    }
    EXPECT_EQ(std::memcmp(whole.data() + 1, halves.data(), 2 * count), 0) << layout;
  }
}

}  // namespace
}  // namespace relayout::test
