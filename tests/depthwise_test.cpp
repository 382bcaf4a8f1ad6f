// The direct depthwise conv1d: exactly on small integers, within the gates of its oracle on real numbers;
// chunks and updates bit for bit the whole.
#include <gtest/gtest.h>

#include <cmath>
#include <cstdint>
#include <cstring>
#include <limits>
#include <vector>

#include "host/reference/depthwise.hpp"
#include "tests/cases/depthwise_case.hpp"
#include "tests/support/devices.hpp"
#include "tests/support/expect_error.hpp"
#include "tests/support/fill.hpp"
#include "tests/support/guarded_buffer.hpp"
#include "tests/support/random.hpp"
#include "tests/support/reserved_memory.hpp"

namespace relayout::test {
namespace {

using cases::DepthwiseCase;
using cases::Layout;

constexpr double kNan = std::numeric_limits<double>::quiet_NaN();
constexpr double kInf = std::numeric_limits<double>::infinity();

DepthwiseCase make(std::int64_t batch, std::int64_t channels, std::int64_t length, std::int64_t taps,
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
void fill_ids(const TensorView& ids) {
  fill_with(ids, [&](std::uint64_t i) {
    const auto run = i / 5;
    return static_cast<double>(hash(run, 7) % 4) - 1.0;
  });
}

/// The operands of one case on one device.
struct Operands {
  Operands(const Stream& on, const DepthwiseCase& from)
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
    const reference::GemmCheck gates = reference::check_depthwise(host(), out.view_of(bytes));
    EXPECT_TRUE(gates.bound_ok()) << "|y - r| = " << gates.worst_error << " against " << gates.worst_bound;
    EXPECT_TRUE(gates.rms_ok()) << "relative RMS " << gates.rms << " above " << gates.rms_limit;
    EXPECT_TRUE(gates.share_ok()) << "only " << gates.share << " of the results are the rounded exact ones";
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

void check_integers(const Stream& stream, const DepthwiseCase& c) {
  SCOPED_TRACE(::testing::Message() << c);
  const Operands operands(stream, c);
  operands.fill_integers();
  operands.run();
  operands.expect_exact();
}

void check_reals(const Stream& stream, const DepthwiseCase& c) {
  SCOPED_TRACE(::testing::Message() << c);
  const Operands operands(stream, c);
  operands.fill_reals();
  operands.run();
  operands.expect_within_gates();
}

const std::vector<Layout> kFast{Layout::ncl, Layout::nlc};
const std::vector<DType> kTypes{DType::f16, DType::bf16, DType::f32};

class DepthwiseTest : public DeviceTest {};
INSTANTIATE_TEST_SUITE_P(Devices, DepthwiseTest, ::testing::ValuesIn(test_devices()), device_test_name);

class DepthwiseOrderTest : public DeviceTest {};
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

/// Enough threads for several packs, and several samples, each.
TEST_P(DepthwiseTest, LongRuns) {
  const std::int64_t size = 8 * static_cast<std::int64_t>(device().properties().multiprocessors);
  if (size <= 64) {
    check_integers(stream(), make(2, 3 * size, 4104, 4));
    check_integers(stream(), make(1, 16 * size, 2100, 3, Layout::nlc));
  } else {
    check_integers(stream(), make(2, size, 4104, 4));
    check_integers(stream(), make(1, 2048, 1100, 3, Layout::nlc));
  }
}

TEST_P(DepthwiseTest, RealNumbersPassTheGates) {
  for (const DType type : kTypes)
    for (const Layout layout : kFast)
      for (const bool silu : {false, true})
        for (const std::int64_t taps : {4, 31}) {
          DepthwiseCase c = make(2, 24, 136, taps, layout);
          c.type = c.weight_type = type;
          c.silu = silu;
          c.initial_state = taps == 4;
          check_reals(stream(), c);
        }
}

/// The shapes of Mamba's decoder: width 4, SiLU, channels-last and channels-first.
TEST_P(DepthwiseTest, MambaShapes) {
  for (const Layout layout : kFast)
    for (const std::int64_t channels : {1536, 5120}) {
      DepthwiseCase c = make(1, channels, 24, 4, layout);
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

TEST_P(DepthwiseTest, ManyChannelsAndBatches) {
  for (DepthwiseCase c : {make(1, 66000, 4, 2), make(66000, 4, 1, 2, Layout::nlc), make(66000, 1, 3, 2)}) {
    c.type = c.weight_type = DType::f32;
    check_integers(stream(), c);
  }
}

TEST_P(DepthwiseTest, SiluOfExtremes) {
  DepthwiseCase c = make(1, 8, 8, 1);
  c.type = c.weight_type = DType::f32;
  c.bias = false;
  c.silu = true;
  SCOPED_TRACE(::testing::Message() << c);
  const Operands operands(stream(), c);
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
          const Operands operands(stream(), c);
          operands.fill_integers();
          store_value(operands.in.host(), {1, 3, at}, poison);
          operands.run();
          operands.expect_exact();
        }
}

/// Where the chunks of a signal end: on 16-byte boundaries and off them.
Dims chunk_ends(std::int64_t length, std::int64_t first) {
  Dims ends;
  for (std::int64_t end = first; end < length; end += end % 3 == 0 ? 1 : 8) ends.push_back(end);
  ends.push_back(length);
  return ends;
}

/// Chunks of one signal, each with the state that the one before left, give the bits of the whole.
TEST_P(DepthwiseTest, ChunksEqualTheWhole) {
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
          const Operands operands(stream(), c);
          operands.fill_reals();
          operands.run();
          const std::vector<unsigned char> whole = operands.out.download();
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
          const std::vector<unsigned char> chunks = again.download();
          EXPECT_TRUE(same_elements(operands.out.view_of(whole), again.view_of(chunks), NanRule::exact));
        }
}

/// Updates sample by sample, or a few at once, give the bits of the whole, and the state that it leaves.
TEST_P(DepthwiseTest, UpdatesEqualTheWhole) {
  for (const Layout layout : {Layout::ncl, Layout::nlc, Layout::gaps})
    for (const DType type : kTypes)
      for (const std::int64_t taps : {1, 2, 4, 9})
        for (const std::int64_t count : {1, 3, 12})
          for (const std::int64_t longer : {0, 2}) {
            DepthwiseCase c = make(2, 16, 24, taps, layout);
            c.type = c.weight_type = type;
            c.silu = true;
            c.initial_state = true;
            SCOPED_TRACE(::testing::Message() << c << " " << count << " at once, state longer by " << longer);
            const Operands operands(stream(), c);
            operands.fill_reals();
            operands.run();
            const std::vector<unsigned char> whole = operands.out.download();

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
            const std::vector<unsigned char> updates = again.download();
            EXPECT_TRUE(same_elements(operands.out.view_of(whole), again.view_of(updates), NanRule::exact));
            EXPECT_TRUE(again.check_outside());
            EXPECT_TRUE(state.check(NanRule::exact));
          }
}

/// The same convolution as a dense one: img2col and a GEMM with weights that are zero off the diagonal.
TEST_P(DepthwiseTest, EqualsItsDenseExpansion) {
  const std::int64_t batch = 2, channels = 5, length = 19, taps = 3;
  DepthwiseCase c = make(batch, channels, length, taps, Layout::nlc);
  c.bias_type = DType::f32;
  const Operands operands(stream(), c);
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
  const std::vector<Layout> layouts{Layout::ncl,      Layout::nlc,         Layout::lcn,
                                    Layout::gaps,     Layout::wide_rows,   Layout::nlc_gaps,
                                    Layout::reversed, Layout::every_second};
  for (const std::uint64_t seed : random_seeds(40)) {
    SCOPED_TRACE(reproduce(seed));
    Random random(seed);
    DepthwiseCase c =
        make(random.integer(0, 3), random.integer(1, 40), random.integer(0, 90), random.integer(1, 20));
    c.in_layout = random.pick(layouts);
    c.out_layout =
        random.chance(0.6) && c.in_layout != Layout::every_second ? c.in_layout : random.pick(layouts);
    c.state_layout = random.pick(layouts);
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

class DepthwiseErrorTest : public DepthwiseTest {
 protected:
  DepthwiseErrorTest() : o_(stream(), make(2, 6, 8, 4)) {
    o_.fill_integers();
    in_ = o_.in.device();
    weights_ = o_.weights.device();
    bias_ = o_.bias.device();
    initial_ = o_.initial.device();
    out_ = o_.out.device();
    final_ = o_.final.device();
  }
  static TensorView as(const TensorView& view, DType type, const Dims& shape) {
    return TensorView(view.data(), type, shape);
  }
  /// Both functions, each with the views as they stand now.
  void expect(ErrorCode code, const std::vector<std::string>& words, bool update_too = true) {
    expect_error(code, words, [&] {
      depthwise_conv1d(stream(), in_, weights_, bias_, Activation::none, initial_, out_, final_, ids_);
    });
    if (update_too) {
      expect_error(code, words,
                   [&] { depthwise_update(stream(), final_, in_, weights_, bias_, Activation::none, out_); });
    }
    EXPECT_TRUE(o_.out.check()) << "something was written before the error";
    EXPECT_TRUE(o_.final.check(NanRule::exact)) << "something was written before the error";
  }
  Operands o_;
  TensorView in_, weights_, bias_, initial_, out_, final_, ids_;
};
INSTANTIATE_TEST_SUITE_P(Devices, DepthwiseErrorTest, ::testing::ValuesIn(test_devices()), device_test_name);

TEST_P(DepthwiseErrorTest, RanksAndShapes) {
  const auto with = [&](TensorView& view, const TensorView& wrong, ErrorCode code,
                        const std::vector<std::string>& words, bool update_too = true) {
    const TensorView right = view;
    view = wrong;
    expect(code, words, update_too);
    view = right;
  };
  with(in_, as(in_, DType::f16, {12, 8}), ErrorCode::rank, {"input", "[12, 8]"});
  with(weights_, as(weights_, DType::f16, {24}), ErrorCode::rank, {"weights"});
  with(weights_, as(weights_, DType::f16, {5, 4}), ErrorCode::shape, {"weights", "[5, 4]", "[6, 4]"});
  with(weights_, as(weights_, DType::f16, {6, 0}), ErrorCode::invalid_argument, {"taps"});
  with(bias_, as(bias_, DType::f32, {5}), ErrorCode::shape, {"bias", "[5]", "[6]"});
  with(out_, as(out_, DType::f16, {2, 6, 7}), ErrorCode::shape, {"output", "[2, 6, 7]", "[2, 6, 8]"});
  with(initial_, as(initial_, DType::f16, {2, 6, 4}), ErrorCode::shape, {"initial", "[2, 6, 4]", "[2, 6, 3]"},
       false);
  with(final_, as(final_, DType::f16, {2, 6, 2}), ErrorCode::shape, {"state", "[2, 6, 2]"});
  with(final_, as(final_, DType::f16, {2, 5, 3}), ErrorCode::shape, {"state", "[2, 5, 3]", "[2, 6, 3]"});
  with(final_, as(final_, DType::f16, {12, 3}), ErrorCode::rank, {"state"});
}

TEST_P(DepthwiseErrorTest, TypesThatDoNotGoTogether) {
  const auto with = [&](TensorView& view, DType type, const std::vector<std::string>& words,
                        bool update_too = true) {
    const TensorView right = view;
    view = as(view, type, view.shape());
    expect(ErrorCode::dtype, words, update_too);
    view = right;
  };
  with(in_, DType::i16, {"input", "i16"});
  with(in_, DType::bf16, {"output", "f16", "bf16"});
  with(weights_, DType::bf16, {"weights", "bf16"});
  with(bias_, DType::i32, {"bias", "i32"});
  with(initial_, DType::bf16, {"initial", "bf16"}, false);
  with(final_, DType::bf16, {"state", "bf16"});
}

TEST_P(DepthwiseErrorTest, SequenceIdsGoWithoutStates) {
  const Buffer ids(device(), 64);
  ids_ = TensorView(ids.data(), DType::i32, {2, 8});
  expect(ErrorCode::invalid_argument, {"initial"}, false);
  initial_ = TensorView();
  expect(ErrorCode::invalid_argument, {"final"}, false);
  final_ = TensorView();
  ids_ = as(ids_, DType::i32, {2, 7});
  expect(ErrorCode::shape, {"[2, 7]", "[2, 8]"}, false);
  ids_ = as(ids_, DType::f32, {2, 8});
  expect(ErrorCode::dtype, {"f32", "i32"}, false);
}

TEST_P(DepthwiseErrorTest, OverlapsAndNullPointers) {
  const TensorView right = out_;
  out_ = TensorView(right.data(), DType::f16, {2, 6, 8}, {48, 7, 1});
  expect(ErrorCode::output_overlap, {});
  out_ = in_;
  expect(ErrorCode::partial_overlap, {});
  out_ = TensorView(nullptr, DType::f16, {2, 6, 8});
  expect(ErrorCode::null_pointer, {});
  out_ = right;
  final_ = as(out_, DType::f16, {2, 6, 3});
  expect(ErrorCode::partial_overlap, {});
  final_ = o_.final.device();
  in_ = TensorView(nullptr, DType::f16, {2, 6, 8});
  expect(ErrorCode::null_pointer, {});
  in_ = o_.in.device();
  weights_ = TensorView(nullptr, DType::f16, {6, 4});
  expect(ErrorCode::null_pointer, {});
}

TEST_P(DepthwiseErrorTest, NothingToDo) {
  const TensorView none(nullptr, DType::f16, {0, 6, 8});
  EXPECT_NO_THROW(depthwise_conv1d(stream(), none, weights_, bias_, Activation::none, TensorView(), none));
  const TensorView empty(nullptr, DType::f16, {2, 6, 0});
  EXPECT_NO_THROW(depthwise_update(stream(), final_, empty, weights_, bias_, Activation::none, empty));
  EXPECT_TRUE(o_.final.check(NanRule::exact)) << "no samples: the state stays";
}

}  // namespace
}  // namespace relayout::test
