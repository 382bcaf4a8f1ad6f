// The overlapped operand: chunk borders everywhere, every way of staging, against the reference bit for bit;
// how the input is cut; how a path is chosen from rates.
#include <gtest/gtest.h>

#include <algorithm>
#include <ostream>
#include <string>
#include <vector>

#include "host/plan/conv1d_chunks.hpp"
#include "host/reference/img2col.hpp"
#include "tests/support/compare.hpp"
#include "tests/support/devices.hpp"
#include "tests/support/expect_error.hpp"
#include "tests/support/fill.hpp"

#include <relayout/relayout.hpp>

namespace relayout::test {
namespace {

constexpr PadMode kModes[] = {PadMode::constant,  PadMode::replicate, PadMode::reflect,
                              PadMode::symmetric, PadMode::circular,  PadMode::reflect_zero_extended};
/// Rounded to f32 first it would lie between two f16 numbers, and then go to the wrong one.
constexpr double kPadValue = 1.0 + 0x1p-11 + 0x1p-40;

enum class Layout { ncl, nlc, reversed, gaps };

Dims strides_of(Layout layout, std::int64_t channels, std::int64_t length) {
  switch (layout) {
    case Layout::ncl:
      return {channels * length, length, 1};
    case Layout::nlc:
      return {channels * length, 1, channels};
    case Layout::reversed:
      return {channels * length, length, -1};
    case Layout::gaps:
      return {channels * (length * 2 + 3), length * 2 + 3, 2};
  }
  return {};
}

/// What is staged, and how.
struct Way {
  HostWork work;
  bool pinned;
};
constexpr Way kWays[] = {{HostWork::cast, false},
                         {HostWork::cast_transpose, false},
                         {HostWork::none, false},
                         {HostWork::none, true}};

struct OverlapCase {
  Conv1d problem;
  Layout layout = Layout::ncl;
  DType input_type = DType::f32;
};

std::ostream& operator<<(std::ostream& out, const OverlapCase& c) {
  const Conv1d& p = c.problem;
  return out << "overlap batch " << p.batch << " ci " << p.in_channels << " hi " << p.length << " hk "
             << p.window.taps << " stride " << p.window.stride << " dilation " << p.window.dilation
             << " groups " << p.window.groups << " order " << static_cast<int>(p.window.order) << " pad "
             << name_of(p.pad.mode) << ' ' << p.pad.left << ", " << p.pad.right << ' '
             << name_of(c.input_type) << " to " << name_of(p.dtype) << " layout "
             << static_cast<int>(c.layout);
}

std::string described(const OverlapOptions& options) {
  return std::string(" host work ") + name_of(options.host_work) + " chunk bytes " +
         std::to_string(options.chunk_bytes) + (options.pinned_input ? " pinned" : " pageable");
}

Conv1d small_problem() {
  Conv1d problem;
  problem.batch = 2;
  problem.in_channels = 4;
  problem.length = 11;
  problem.window = {3, 1, 2, 1, ColumnOrder::tap_outer};
  problem.pad = {4, 0, PadMode::constant, kPadValue, PadPolicy::strict};
  return problem;
}

class OverlapTest : public DeviceTest {
 protected:
  /// A case's input in memory that the device may copy from directly, and the reference's A.
  struct Ready {
    OverlapCase c;
    PinnedBuffer memory;
    TensorView input;
    std::vector<std::uint16_t> expected;
    TensorView a;

    Ready(const Device& device, const OverlapCase& of, std::uint64_t seed = 1) : c(of) {
      const Conv1d& p = c.problem;
      const Dims shape{p.batch, p.in_channels, p.length};
      const Dims strides = strides_of(c.layout, p.in_channels, p.length);
      const TensorView::ByteRange range = TensorView(nullptr, c.input_type, shape, strides).byte_range();
      memory = PinnedBuffer(device, static_cast<std::size_t>(range.end - range.begin) + 16);
      input = TensorView(static_cast<char*>(memory.data()) - range.begin, c.input_type, shape, strides);
      const Conv1dSizes sizes = sizes_of(p);
      expected.resize(static_cast<std::size_t>(sizes.operand_elements));
      a = TensorView(expected.data(), p.dtype, a_shape(p));
      fill(seed);
    }
    void fill(std::uint64_t seed) {
      fill_normal(input, seed);
      reference::img2col(input, c.problem.window, c.problem.pad, a);
    }
    static Dims a_shape(const Conv1d& problem) {
      const Conv1dSizes sizes = sizes_of(problem);
      if (problem.window.groups == 1) return {sizes.rows, sizes.depth};
      return {problem.window.groups, sizes.rows, sizes.depth};
    }
  };

  /// A on the device, filled with a pattern that no row may keep.
  struct Operand {
    Buffer memory;
    TensorView view;

    Operand(const Stream& stream, const Conv1d& problem)
        : memory(stream.device(), static_cast<std::size_t>(sizes_of(problem).operand_elements) * 2),
          view(memory.data(), problem.dtype, Ready::a_shape(problem)) {
      stream.fill(memory.data(), 0x55, memory.bytes());
    }
  };

  ::testing::AssertionResult same_operand(const Ready& ready, const Operand& operand) const {
    std::vector<std::uint16_t> got(ready.expected.size());
    stream().copy(got.data(), operand.view.data(), got.size() * 2);
    stream().synchronize();
    return same_elements(ready.a, TensorView(got.data(), ready.a.dtype(), ready.a.shape()));
  }

  void check(const Ready& ready, const OverlapOptions& options) const {
    SCOPED_TRACE(::testing::Message() << ready.c << described(options));
    const Operand operand(stream(), ready.c.problem);
    const Conv1dOverlap overlap(stream(), ready.c.problem, ready.input, operand.view, options);
    overlap.run();
    EXPECT_TRUE(same_operand(ready, operand));
  }
};

OverlapOptions options_of(const Way& way, std::int64_t chunk_bytes) {
  OverlapOptions options;
  options.host_work = way.work;
  options.pinned_input = way.pinned;
  options.chunk_bytes = chunk_bytes;
  return options;
}

TEST_P(OverlapTest, ChunkBordersAtEveryOffsetInEveryPadMode) {
  const bool all = device().kind() != DeviceKind::emulated;  // there every launch takes long
  std::size_t turn = 0;
  for (const PadMode mode : kModes) {
    OverlapCase c{small_problem()};
    c.problem.pad = {6, 3, mode, kPadValue, PadPolicy::strict};
    const Ready ready(device(), c);
    for (std::int64_t samples = 1; samples <= c.problem.length + 1; ++samples, ++turn) {
      for (std::size_t way = 0; way < std::size(kWays); ++way) {
        if (!all && turn % std::size(kWays) != way) continue;
        const std::int64_t element = kWays[way].work == HostWork::none ? 4 : 2;
        check(ready, options_of(kWays[way], samples * c.problem.in_channels * element));
      }
    }
  }
}

std::vector<OverlapCase> cases() {
  std::vector<OverlapCase> all;
  const auto add = [&all](auto change) {
    OverlapCase c{small_problem()};
    change(c);
    all.push_back(c);
  };
  for (const Layout layout : {Layout::nlc, Layout::reversed, Layout::gaps}) {
    add([&](OverlapCase& c) { c.layout = layout; });
  }
  for (const DType type : {DType::f16, DType::bf16, DType::f64}) {
    add([&](OverlapCase& c) { c.input_type = type; });
    add([&](OverlapCase& c) { c.input_type = type, c.problem.dtype = DType::bf16, c.layout = Layout::nlc; });
  }
  for (const PadMode mode : kModes) {
    add([&](OverlapCase& c) {  // pads far beyond the signal
      c.problem.length = 4;
      c.problem.pad = {9, 14, mode, kPadValue, PadPolicy::extended};
      c.layout = Layout::nlc;
    });
    add([&](OverlapCase& c) { c.problem.pad = {-3, 5, mode, kPadValue, PadPolicy::strict}; });
  }
  add([](OverlapCase& c) { c.problem.pad = {-2, -3, PadMode::circular, 0.0, PadPolicy::strict}; });
  for (const ColumnOrder order : {ColumnOrder::tap_outer, ColumnOrder::channel_outer}) {
    for (const std::int64_t groups : {1, 2}) {
      add([&](OverlapCase& c) {
        c.problem.window = {3, 2, 3, groups, order};
        c.problem.pad = {6, 2, PadMode::reflect, 0.0, PadPolicy::strict};
      });
    }
  }
  add([](OverlapCase& c) { c.problem.window = {2, 5, 1, 1, ColumnOrder::tap_outer}; });  // skips samples
  add([](OverlapCase& c) { c.problem.in_channels = 8, c.problem.length = 40; });  // vectors of 16 bytes
  add([](OverlapCase& c) { c.problem.batch = 0; });
  add([](OverlapCase& c) { c.problem.in_channels = 0; });
  add([](OverlapCase& c) { c.problem.length = 0, c.problem.pad.right = 3; });
  add([](OverlapCase& c) { c.problem.in_channels = 1, c.problem.window.taps = 1, c.problem.pad.left = 0; });
  return all;
}

TEST_P(OverlapTest, EveryProblemInTinyUsualAndHugeChunks) {
  const bool all = device().kind() != DeviceKind::emulated;
  std::size_t turn = 0;
  for (const OverlapCase& c : cases()) {
    const Ready ready(device(), c);
    for (const std::int64_t chunk_bytes :
         {std::int64_t{1}, std::int64_t{90}, std::int64_t{0}, std::int64_t{1} << 40}) {
      ++turn;
      for (std::size_t way = 0; way < std::size(kWays); ++way) {
        if (!all && turn % std::size(kWays) != way) continue;
        check(ready, options_of(kWays[way], chunk_bytes));
      }
    }
  }
}

TEST_P(OverlapTest, RunsAgainOnNewDataWithoutWaiting) {
  OverlapCase c{small_problem()};
  // On a GPU chunks whose copies take longer than it takes to queue the next: a missing wait shows.
  const bool gpu = device().kind() == DeviceKind::gpu;
  c.problem.length = gpu ? 8192 : 300;
  c.problem.in_channels = 16;
  c.problem.pad.mode = PadMode::replicate;
  Ready ready(device(), c, 5);
  for (const Way& way : kWays) {
    OverlapOptions options = options_of(way, gpu ? 1 << 16 : 30 * 16 * 4);
    options.buffers = 2;
    SCOPED_TRACE(::testing::Message() << c << described(options));
    const Operand operand(stream(), c.problem);
    const Conv1dOverlap overlap(stream(), c.problem, ready.input, operand.view, options);
    EXPECT_GT(overlap.chunks(), 8);
    for (int i = 0; i < 4; ++i) overlap.run();
    EXPECT_TRUE(same_operand(ready, operand));
    ready.fill(6);
    overlap.run_host_work();
    overlap.run_copies();
    overlap.run();
    EXPECT_TRUE(same_operand(ready, operand));
    ready.fill(5);
  }
}

TEST_P(OverlapTest, TellsItsBytes) {
  OverlapCase c{small_problem()};  // 88 elements; 11 positions, windows of 5 samples
  const Ready ready(device(), c);
  const Operand operand(stream(), c.problem);
  const auto make = [&](const Way& way, std::int64_t chunk_bytes) {
    return Conv1dOverlap(stream(), c.problem, ready.input, operand.view, options_of(way, chunk_bytes));
  };
  const Conv1dOverlap whole = make({HostWork::cast, false}, 1 << 20);
  EXPECT_EQ(whole.chunks(), 1);
  EXPECT_EQ(whole.direct_chunks(), 0);
  EXPECT_EQ(whole.link_bytes(), 2 * 4 * 16 * 2);  // rows of 11 samples start on 16-byte boundaries
  EXPECT_EQ(whole.host_bytes(), 88 * 4 + 88 * 2);
  EXPECT_EQ(whole.description(), "cast | copy f16 | img2col");
  const Conv1dOverlap direct = make({HostWork::none, true}, 1 << 20);
  EXPECT_EQ(direct.direct_chunks(), 1);
  EXPECT_EQ(direct.link_bytes(), 88 * 4);
  EXPECT_EQ(direct.host_bytes(), 0);
  EXPECT_EQ(direct.description(), "copy f32 | img2col");
  // 9 samples hold 5 positions, so 11 become 4 + 4 + 3. Samples [0, 4), [0, 8), [4, 11) of each item.
  const Conv1dOverlap parts = make({HostWork::none, true}, 9 * 4 * 4);
  EXPECT_EQ(parts.chunks(), 6);
  EXPECT_EQ(parts.link_bytes(), 2 * (4 + 8 + 7) * 4 * 4);
  EXPECT_EQ(make({HostWork::cast_transpose, false}, 0).description(), "cast + T | copy f16 | img2col");
  EXPECT_EQ(make({HostWork::none, false}, 0).description(), "stage | copy f32 | img2col");
}

TEST_P(OverlapTest, RefusesWhatDoesNotFit) {
  OverlapCase c{small_problem()};
  const Ready ready(device(), c);
  const Operand operand(stream(), c.problem);
  const auto make = [&](const TensorView& input, const TensorView& a, const OverlapOptions& options) {
    return [=] { Conv1dOverlap(stream(), c.problem, input, a, options); };
  };
  const TensorView x = ready.input, a = operand.view;
  expect_error(ErrorCode::shape, {"input", "[2, 4, 11]"}, make(x.slice(2, 0, 10), a, {}));
  expect_error(ErrorCode::shape, {"operand", "[22, 12]"}, make(x, a.slice(0, 0, 21), {}));
  expect_error(ErrorCode::dtype, {"operand", "bf16"},
               make(x, TensorView(a.data(), DType::bf16, a.shape()), {}));
  expect_error(ErrorCode::dtype, {"input", "i32"}, make(TensorView(x.data(), DType::i32, x.shape()), a, {}));
  expect_error(ErrorCode::null_pointer, {"input"}, make(TensorView(nullptr, DType::f32, x.shape()), a, {}));
  OverlapOptions one;
  one.buffers = 1;
  expect_error(ErrorCode::invalid_argument, {"1 buffers"}, make(x, a, one));
  OverlapOptions negative;
  negative.chunk_bytes = -1;
  expect_error(ErrorCode::invalid_argument, {"-1 bytes"}, make(x, a, negative));
}

TEST_P(OverlapTest, MeasuredRatesAreRates) {
  const OverlapCase c{small_problem()};
  const Ready ready(device(), c);
  const Conv1dRates rates = measure_rates(stream(), c.problem, ready.input);
  for (const double rate : {rates.cast, rates.cast_transpose, rates.stage, rates.pinned_link,
                            rates.input_link, rates.device, rates.seconds_per_chunk}) {
    EXPECT_GT(rate, 0);
  }
  const Conv1dChoice choice = choose_path(c.problem, ready.input, rates);
  EXPECT_NE(choice.explain().find(choice.estimates.at(0).name()), std::string::npos);
}

INSTANTIATE_TEST_SUITE_P(Devices, OverlapTest, ::testing::ValuesIn(test_devices()), device_test_name);

plan::ChunkRequest request_of(const OverlapCase& c, std::int64_t chunk_bytes, bool split) {
  const Conv1d& p = c.problem;
  return {p.batch, p.length, sizes_of(p).positions, p.window, p.pad, p.in_channels * 2, chunk_bytes, split};
}

TEST(Conv1dChunksTest, CoverEveryPositionOnceWithItsSamples) {
  std::int64_t checked = 0;
  for (const OverlapCase& c : cases()) {
    for (const bool split : {false, true}) {
      for (std::int64_t bytes = 1; bytes < 400; bytes += 13) {
        SCOPED_TRACE(::testing::Message() << c << " chunk bytes " << bytes << " split " << split);
        const plan::ChunkRequest r = request_of(c, bytes, split);
        const Window& w = r.window;
        std::int64_t item = 0, position = 0;
        for (const plan::Conv1dChunk& chunk : plan::cut_into_chunks(r)) {
          ASSERT_EQ(chunk.item, item);
          ASSERT_EQ(chunk.position, position);
          ASSERT_GT(chunk.positions, 0);
          position += chunk.positions;
          if (position == r.positions) position = 0, item += chunk.items;
          const std::int64_t first = chunk.position * w.stride - r.pad.left;
          const std::int64_t end = first + (chunk.positions - 1) * w.stride + w.span();
          EXPECT_EQ(chunk.inside, chunk.sample >= 0 && chunk.sample + chunk.samples <= r.length);
          EXPECT_EQ(chunk.pad_left(r), chunk.sample - first);
          if (r.pad.mode == PadMode::constant || chunk.whole) {
            // Every sample that exists and is needed.
            EXPECT_TRUE(chunk.inside);
            EXPECT_LE(chunk.sample, std::max<std::int64_t>(first, 0));
            EXPECT_GE(chunk.sample + chunk.samples, std::min(end, r.length));
          } else {
            EXPECT_EQ(chunk.sample, first);
            EXPECT_EQ(chunk.sample + chunk.samples, end);
          }
          ++checked;
        }
        EXPECT_EQ(item, r.sample_bytes == 0 ? 0 : r.batch);
        EXPECT_EQ(position, 0);
      }
    }
  }
  EXPECT_GT(checked, 1000);
}

TEST(Conv1dChunksTest, HoldTheBytesAimedAt) {
  OverlapCase c{small_problem()};
  c.problem.length = 1000;
  c.problem.in_channels = 64;
  for (const std::int64_t samples : {5, 6, 64, 999}) {
    for (const plan::Conv1dChunk& chunk : plan::cut_into_chunks(request_of(c, samples * 128, false))) {
      EXPECT_LE(chunk.samples * chunk.items, samples);
    }
  }
  EXPECT_EQ(plan::cut_into_chunks(request_of(c, 1000 * 128, false)).size(), 2u);
  EXPECT_EQ(plan::cut_into_chunks(request_of(c, 2 * 1000 * 128, false)).size(), 1u);
}

TEST(Conv1dChunksTest, DefaultIsAShareOfTheInputWithinLimits) {
  OverlapCase c{small_problem()};
  c.problem.in_channels = 64;
  const auto bytes = [&](std::int64_t batch, std::int64_t length) {
    c.problem.batch = batch;
    c.problem.length = length;
    return plan::default_chunk_bytes(request_of(c, 0, false), 4 << 20);
  };
  EXPECT_EQ(bytes(1, 2048), 1 << 20);
  EXPECT_EQ(bytes(16, 16384), 2 << 20);
  EXPECT_EQ(bytes(16, 1 << 20), 4 << 20);
  c.problem.window.dilation = 8192;  // spans of 16385 samples
  c.problem.pad.left = 16384;
  EXPECT_EQ(bytes(16, 1 << 20), 16385LL * 128 * 8);
}

/// Choices from made-up rates, in bytes per second.
class PathChoiceTest : public ::testing::Test {
 protected:
  PathChoiceTest() {
    problem_.batch = 8;
    problem_.in_channels = 2048;
    problem_.length = 8192;
    problem_.window.taps = 4;
    problem_.pad.left = 3;
    rates_.pinned_link = rates_.input_link = 50e9;
    rates_.device = 4000e9;
    rates_.cast = 200e9;
    rates_.cast_transpose = 40e9;
    rates_.stage = 150e9;
    rates_.seconds_per_chunk = 10e-6;
  }
  /// The elements are not looked at.
  Conv1dChoice choose(bool pinned = true) const {
    const TensorView input(this, DType::f32, {problem_.batch, problem_.in_channels, problem_.length});
    OverlapOptions options;
    options.pinned_input = pinned;
    return choose_path(problem_, input, rates_, options);
  }

  Conv1d problem_;
  Conv1dRates rates_;
};

TEST_F(PathChoiceTest, AFastCastHalvesWhatTheLinkCarries) {
  const Conv1dChoice choice = choose();
  EXPECT_EQ(choice.path, Conv1dPath::overlap);
  EXPECT_EQ(choice.overlap.host_work, HostWork::cast);
  EXPECT_TRUE(choice.overlap.pinned_input);
  // 268 MB at 50 GB/s, and a 64th of the rest.
  EXPECT_NEAR(choice.estimates[0].link, 5.37e-3, 0.01e-3);
  EXPECT_GT(choice.estimates[0].seconds, choice.estimates[0].link);
  EXPECT_LT(choice.estimates[0].seconds, 1.05 * choice.estimates[0].link);
  const std::string text = choice.explain();
  for (const char* word : {"overlap with cast", "200.0 GB/s", "40.0 GB/s", "50.0 GB/s", "device", "host"}) {
    EXPECT_NE(text.find(word), std::string::npos) << word << " in: " << text;
  }
}

TEST_F(PathChoiceTest, ASlowCastIsNotWorthItFromPinnedMemory) {
  rates_.cast = 0.9 * rates_.pinned_link;
  EXPECT_EQ(choose().estimates[0].name(), "overlap without host work");
  rates_.cast = 1.2 * rates_.pinned_link;
  EXPECT_EQ(choose().estimates[0].name(), "overlap with cast");
}

TEST_F(PathChoiceTest, FromPageableMemoryEvenASlowCastBeatsStaging) {
  rates_.input_link = 8e9;
  rates_.cast = 30e9;
  rates_.cast_transpose = 10e9;
  rates_.stage = 25e9;
  EXPECT_EQ(choose(false).estimates[0].name(), "overlap with cast");
  rates_.stage = 35e9;
  EXPECT_EQ(choose(false).estimates[0].name(), "overlap without host work");
}

TEST_F(PathChoiceTest, TransposingOnTheHostPaysOnlyWhereItIsFree) {
  rates_.cast_transpose = 2 * rates_.cast;  // as if the host were faster so
  rates_.cast = 60e9;
  EXPECT_EQ(choose().estimates[0].name(), "overlap with cast-transpose");
}

TEST_F(PathChoiceTest, ASmallInputGoesAtOnce) {
  problem_.batch = 1;
  problem_.in_channels = 64;
  problem_.length = 2048;
  EXPECT_EQ(choose().path, Conv1dPath::device);
  rates_.seconds_per_chunk = 0;
  rates_.input_link = 5e9;
  EXPECT_NE(choose(false).path, Conv1dPath::device);
}

TEST_F(PathChoiceTest, WhatIsDoneInTurnTakesTheSum) {
  rates_.concurrent = false;
  for (const Conv1dEstimate& estimate : choose().estimates) {
    EXPECT_DOUBLE_EQ(estimate.seconds, estimate.host + estimate.link + estimate.device);
  }
  rates_.concurrent = true;
  for (const Conv1dEstimate& estimate : choose().estimates) {
    if (estimate.path == Conv1dPath::overlap) continue;
    EXPECT_DOUBLE_EQ(estimate.seconds, estimate.host + estimate.link + estimate.device);
  }
}

}  // namespace
}  // namespace relayout::test
