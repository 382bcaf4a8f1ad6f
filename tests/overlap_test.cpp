// The overlapped operand: borders of chunks everywhere, every way of staging, against the reference bit for
// bit.
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "host/reference/img2col.hpp"
#include "tests/cases/overlap_cases.hpp"
#include "tests/support/compare.hpp"
#include "tests/support/devices.hpp"
#include "tests/support/expect_error.hpp"
#include "tests/support/fill.hpp"

#include <relayout/relayout.hpp>

namespace relayout::test {
namespace {
using cases::Conv1dCase;
using cases::kPadModes;
using cases::kPadValue;

/// The data that is staged, and how.
struct Way {
  HostWork work;
  bool pinned;
};
constexpr Way kWays[] = {{HostWork::cast, false},
                         {HostWork::cast_transpose, false},
                         {HostWork::none, false},
                         {HostWork::none, true}};

std::string described(const OverlapOptions& options) {
  return std::string(" host work ") + name_of(options.host_work) + " chunk bytes " +
         std::to_string(options.chunk_bytes) + (options.pinned_input ? " pinned" : " pageable");
}

class OverlapTest : public DeviceTest {
 protected:
  /// A case's input in memory that the device may copy from directly, and the reference's A.
  struct Ready {
    Conv1dCase c;
    PinnedBuffer memory;
    TensorView input;
    std::vector<std::uint16_t> expected;
    TensorView a;

    Ready(const Device& device, const Conv1dCase& of, std::uint64_t seed = 1) : c(of) {
      const Conv1d& p = c.problem;
      const Dims shape = c.input_shape(), strides = c.input_strides();
      const TensorView::ByteRange range = TensorView(nullptr, c.input_type, shape, strides).byte_range();
      memory = PinnedBuffer(device, static_cast<std::size_t>(range.end - range.begin) + 16);
      input = TensorView(static_cast<char*>(memory.data()) - range.begin, c.input_type, shape, strides);
      const Conv1dSizes sizes = sizes_of(p);
      expected.resize(static_cast<std::size_t>(sizes.operand_elements));
      a = TensorView(expected.data(), p.dtype, c.operand_shape());
      fill(seed);
    }
    void fill(std::uint64_t seed) {
      fill_normal(input, seed);
      reference::img2col(input, c.problem.window, c.problem.pad, a);
    }
  };

  /// A on the device, filled with a pattern that no row may keep.
  struct Operand {
    Buffer memory;
    TensorView view;

    Operand(const Stream& stream, const Conv1dCase& c)
        : memory(stream.device(), static_cast<std::size_t>(sizes_of(c.problem).operand_elements) * 2),
          view(memory.data(), c.problem.dtype, c.operand_shape()) {
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
    const Operand operand(stream(), ready.c);
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
  for (const PadMode mode : kPadModes) {
    Conv1dCase c{cases::small_overlap_problem()};
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

TEST_P(OverlapTest, EveryProblemInTinyUsualAndHugeChunks) {
  const bool all = device().kind() != DeviceKind::emulated;
  std::size_t turn = 0;
  for (const Conv1dCase& c : cases::overlap_cases()) {
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
  Conv1dCase c{cases::small_overlap_problem()};
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
    const Operand operand(stream(), c);
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
  Conv1dCase c{cases::small_overlap_problem()};  // 88 elements; 11 positions, windows of 5 samples
  const Ready ready(device(), c);
  const Operand operand(stream(), c);
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
  Conv1dCase c{cases::small_overlap_problem()};
  const Ready ready(device(), c);
  const Operand operand(stream(), c);
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
  const Conv1dCase c{cases::small_overlap_problem()};
  const Ready ready(device(), c);
  const Conv1dRates rates = measure_rates(stream(), c.problem, ready.input);
  for (const double rate : {rates.cast, rates.cast_transpose, rates.stage, rates.pinned_link,
                            rates.input_link, rates.device, rates.seconds_per_chunk}) {
    EXPECT_GT(rate, 0);
  }
  const Conv1dChoice choice = choose_upload(c.problem, ready.input, rates);
  EXPECT_NE(choice.explain().find(choice.estimates.at(0).name()), std::string::npos);
}

INSTANTIATE_TEST_SUITE_P(Devices, OverlapTest, ::testing::ValuesIn(test_devices()), device_test_name);

}  // namespace
}  // namespace relayout::test
