// The conv1d pipeline: its sizes, and every path on every device against the references.
#include <gtest/gtest.h>

#include <limits>
#include <string>
#include <vector>

#include "host/reference/gemm.hpp"
#include "host/reference/img2col.hpp"
#include "tests/cases/conv1d_case.hpp"
#include "tests/support/compare.hpp"
#include "tests/support/devices.hpp"
#include "tests/support/expect_error.hpp"
#include "tests/support/fill.hpp"
#include "tests/support/gates.hpp"
#include "tests/support/host_tensor.hpp"

#include <relayout/relayout.hpp>

namespace relayout::test {
namespace {

/// Every upload and route that go together.
const std::vector<Conv1dOptions> kAll = {
    {Upload::host, ConvRoute::operand},          {Upload::device, ConvRoute::operand},
    {Upload::device_staged, ConvRoute::operand}, {Upload::overlap, ConvRoute::operand},
    {Upload::host, ConvRoute::strided_gemm},     {Upload::device, ConvRoute::strided_gemm},
    {Upload::host, ConvRoute::direct},           {Upload::device, ConvRoute::direct}};

std::string name_of_options(const Conv1dOptions& options) {
  return std::string("upload ") + name_of(options.upload) + ", route " + name_of(options.route);
}

using cases::Conv1dCase;
using cases::Layout;

HostTensor download(const Stream& stream, const TensorView& view) {
  HostTensor host(view.dtype(), view.shape());
  const std::size_t bytes = static_cast<std::size_t>(view.elements()) * size_of(view.dtype());
  if (bytes > 0) stream.copy(host.view.data(), view.data(), bytes);
  stream.synchronize();
  return host;
}

/// Operands and result of one case on the host.
struct Expected {
  HostTensor input, weights, bias, a, bt;

  explicit Expected(const Conv1dCase& c, std::uint64_t seed = 1)
      : input(c.input_type, c.input_shape(), c.input_strides()),
        weights(DType::f32, {c.problem.out_channels, c.problem.in_channels / c.problem.window.groups,
                             c.problem.window.taps}),
        bias(DType::f32, {c.problem.out_channels}),
        a(c.problem.dtype, c.operand_shape()),
        bt(c.problem.dtype, {c.problem.out_channels, sizes_of(c.problem).depth}) {
    // Broadcast elements are written repeatedly; the last value stays.
    fill_normal(input.view, seed);
    fill_normal(weights.view, seed + 1, 0.2);
    fill_normal(bias.view, seed + 2);
    reference::img2col(input.view, c.problem.window, c.problem.pad, a.view);
    reference::rearrange_weights(weights.view, c.problem.window.order, bt.view);
  }

  TensorView bias_of(const Conv1dCase& c) const { return c.bias ? bias.view : TensorView(); }
};

void check_results(const Stream& stream, const Conv1dPipeline& pipeline, const Conv1dCase& c,
                   const Expected& expected, bool filled_weights) {
  const Conv1dSizes sizes = pipeline.sizes();
  const std::int64_t groups = c.problem.window.groups;
  const HostTensor bt = download(stream, pipeline.weight_operand()), y = download(stream, pipeline.result());
  const bool has_operand = pipeline.operand().rank() > 0;
  if (has_operand) {
    EXPECT_TRUE(same_elements(expected.a.view, download(stream, pipeline.operand()).view));
  }
  // Without A the order of its columns means nothing; weights that are filled up are the kernel's own.
  if (!filled_weights && (has_operand || c.problem.window.order == ColumnOrder::tap_outer)) {
    EXPECT_TRUE(same_elements(expected.bt.view, bt.view));
  }
  ASSERT_EQ(y.view.shape(), (Dims{c.problem.batch, sizes.positions, c.problem.out_channels}));
  const TensorView bt_groups(expected.bt.view.data(), c.problem.dtype, {groups, sizes.columns, sizes.depth});
  const TensorView y_groups(y.view.data(), c.problem.dtype, {groups, sizes.rows, sizes.columns},
                            {sizes.columns, c.problem.out_channels, 1});
  const reference::GemmCheck gates =
      reference::check_gemm(expected.a.view, bt_groups, expected.bias_of(c), y_groups);
  expect_gates(gates, y.view.elements() < 200);
}

Conv1d small_problem() {
  Conv1d problem;
  problem.batch = 2;
  problem.in_channels = 6;
  problem.length = 37;
  problem.out_channels = 4;
  problem.window.taps = 3;
  problem.pad.left = 2;
  return problem;
}

std::vector<Conv1dCase> cases() {
  std::vector<Conv1dCase> all;
  const auto add = [&all](auto change) {
    Conv1dCase c{small_problem()};
    change(c);
    all.push_back(c);
  };
  add([](Conv1dCase&) {});
  for (const Layout layout : {Layout::nlc, Layout::reversed, Layout::gaps, Layout::one_batch}) {
    add([&](Conv1dCase& c) { c.layout = layout; });
  }
  for (const DType type : {DType::f16, DType::bf16, DType::f64}) {
    add([&](Conv1dCase& c) { c.input_type = type; });
    add([&](Conv1dCase& c) { c.input_type = type, c.problem.dtype = DType::bf16, c.bias = false; });
  }
  for (const PadMode mode : {PadMode::constant, PadMode::replicate, PadMode::reflect, PadMode::symmetric,
                             PadMode::circular, PadMode::reflect_zero_extended}) {
    add([&](Conv1dCase& c) { c.problem.pad = {5, 3, mode, 0.3, PadPolicy::strict}; });
    add([&](Conv1dCase& c) {
      c.problem.length = 4;
      c.problem.pad = {9, 14, mode, -2.7, PadPolicy::extended};
      c.layout = Layout::nlc;
    });
    add([&](Conv1dCase& c) { c.problem.pad = {-4, 6, mode, 0.3, PadPolicy::strict}; });
  }
  add([](Conv1dCase& c) { c.problem.pad = {-4, -5, PadMode::constant, 0.0, PadPolicy::strict}; });
  for (const ColumnOrder order : {ColumnOrder::tap_outer, ColumnOrder::channel_outer}) {
    for (const std::int64_t groups : {1, 2}) {
      add([&](Conv1dCase& c) {
        c.problem.window = {3, 2, 3, groups, order};
        c.problem.pad.left = 6;
      });
    }
  }
  add([](Conv1dCase& c) { c.problem.batch = 0; });
  add([](Conv1dCase& c) { c.problem.in_channels = 0; });
  add([](Conv1dCase& c) { c.problem.out_channels = 0; });
  add([](Conv1dCase& c) { c.problem.length = 0, c.problem.pad.right = 3; });
  add([](Conv1dCase& c) { c.problem.in_channels = 1, c.problem.window.taps = 1, c.problem.pad.left = 0; });
  return all;
}

class Conv1dTest : public DeviceTest {};

TEST_P(Conv1dTest, EveryPathGivesTheReferencesOperandsAndAValidResult) {
  for (const Conv1dCase& c : cases()) {
    const Expected expected(c);
    for (const Conv1dOptions& options : kAll) {
      SCOPED_TRACE(::testing::Message() << c << " " << name_of_options(options));
      const Conv1dPipeline pipeline(stream(), c.problem, options, expected.input.view, expected.weights.view,
                                    expected.bias_of(c));
      pipeline.run();
      EXPECT_EQ(pipeline.operand().rank() == 0, options.route != ConvRoute::operand);
      check_results(stream(), pipeline, c, expected, options.route == ConvRoute::direct);
    }
  }
}

TEST_P(Conv1dTest, RunsAgainOnNewData) {
  const Conv1dCase c{small_problem()};
  const Expected first(c, 11), second(c, 12);
  for (const Conv1dOptions& options : kAll) {
    SCOPED_TRACE(name_of_options(options));
    HostTensor input = first.input;
    input.view = TensorView(input.bytes.data(), c.input_type, first.input.view.shape());
    const Conv1dPipeline pipeline(stream(), c.problem, options, input.view, second.weights.view,
                                  second.bias.view);
    for (int i = 0; i < 3; ++i) pipeline.run();
    stream().synchronize();
    if (options.route == ConvRoute::operand) {
      EXPECT_TRUE(same_elements(first.a.view, download(stream(), pipeline.operand()).view));
    }
    input.bytes = second.input.bytes;
    ASSERT_EQ(static_cast<void*>(input.bytes.data()), input.view.data());
    for (int i = 0; i < 3; ++i) pipeline.run();
    check_results(stream(), pipeline, c, second, options.route == ConvRoute::direct);
  }
}

TEST_P(Conv1dTest, StagesTellTheirPlacesAndBytes) {
  struct Told {
    StagePlace place;
    std::int64_t bytes;
    bool of_operand;
  };
  const Conv1d p = small_problem();  // 444 input elements, 1332 of A, 72 weights, 296 results
  const Expected expected(Conv1dCase{p});
  const std::vector<Told> shared = {{StagePlace::transfer, 288, false},
                                    {StagePlace::device, 288 + 144, false},
                                    {StagePlace::transfer, 16, false},
                                    {StagePlace::device, 2664 + 144 + 592 + 16, false}};
  const std::vector<std::vector<Told>> wanted = {
      {{StagePlace::host, 1776 + 888, true},
       {StagePlace::transfer, 888, true},
       {StagePlace::device, 888 + 2664, true}},
      {{StagePlace::transfer, 1776, true}, {StagePlace::device, 1776 + 2664, true}},
      {{StagePlace::transfer, 1776, true},
       {StagePlace::device, 1776 + 888, true},
       {StagePlace::device, 888 + 888, true},
       {StagePlace::device, 888 + 936, true},
       {StagePlace::device, 936 + 2664, true}},
      {{StagePlace::transfer, 12 * 40 * 2, true}},  // rows of 37 samples start on 16-byte boundaries
      {{StagePlace::host, 1776 + 888, true},
       {StagePlace::transfer, 888, true},
       {StagePlace::device, 888 + 936, true}},
      {{StagePlace::transfer, 1776, true}, {StagePlace::device, 1776 + 936, true}},
      {{StagePlace::host, 1776 + 888, true}, {StagePlace::transfer, 888, true}},
      {{StagePlace::transfer, 1776, true}}};
  // Bt of route direct: 4 outputs, 3 taps, 6 channels filled up to 32.
  constexpr std::int64_t kFilled = 4 * 3 * 32 * 2;
  for (std::size_t i = 0; i < kAll.size(); ++i) {
    SCOPED_TRACE(name_of_options(kAll[i]));
    const Conv1dPipeline pipeline(stream(), p, kAll[i], expected.input.view, expected.weights.view,
                                  expected.bias.view);
    std::vector<Told> told = wanted[i];
    told.insert(told.end(), shared.begin(), shared.end());
    if (kAll[i].route == ConvRoute::strided_gemm) told.back().bytes += 936 - 2664;
    if (kAll[i].route == ConvRoute::direct) {
      told[told.size() - 3].bytes += kFilled - 144;
      told.back().bytes += (kAll[i].upload == Upload::host ? 888 : 1776) - 2664 + kFilled - 144;
    }
    ASSERT_EQ(pipeline.stages().size(), told.size());
    for (std::size_t s = 0; s < told.size(); ++s) {
      SCOPED_TRACE(pipeline.stages()[s].name);
      EXPECT_STREQ(name_of(pipeline.stages()[s].place), name_of(told[s].place));
      EXPECT_EQ(pipeline.stages()[s].bytes, told[s].bytes);
      EXPECT_EQ(pipeline.stages()[s].of_operand, told[s].of_operand);
    }
  }
}

TEST_P(Conv1dTest, RefusesOperandsThatDoNotFit) {
  const Conv1d p = small_problem();
  const Expected good(Conv1dCase{p});
  const auto make = [&](const TensorView& input, const TensorView& weights, const TensorView& bias) {
    return [=] { Conv1dPipeline(stream(), p, {}, input, weights, bias); };
  };
  const TensorView x = good.input.view, w = good.weights.view, b = good.bias.view;
  expect_error(ErrorCode::shape, {"input", "[2, 6, 37]"}, make(x.slice(2, 0, 36), w, b));
  expect_error(ErrorCode::shape, {"weights", "[4, 6, 3]"}, make(x, w.slice(0, 0, 3), b));
  expect_error(ErrorCode::shape, {"bias", "[4]"}, make(x, w, b.slice(0, 0, 3)));
  expect_error(ErrorCode::dtype, {"input", "i32"}, make(TensorView(x.data(), DType::i32, x.shape()), w, b));
  expect_error(ErrorCode::dtype, {"bias", "f16"}, make(x, w, TensorView(b.data(), DType::f16, b.shape())));
  expect_error(ErrorCode::null_pointer, {"input"}, make(TensorView(nullptr, DType::f32, x.shape()), w, b));
}

TEST_P(Conv1dTest, RefusesUploadsThatEndInAnOperandForOtherRoutes) {
  const Conv1d p = small_problem();
  const Expected good(Conv1dCase{p});
  for (const Upload upload : {Upload::device_staged, Upload::overlap}) {
    for (const ConvRoute route : {ConvRoute::strided_gemm, ConvRoute::direct}) {
      expect_error(ErrorCode::unsupported, {name_of(upload), name_of(route)}, [&] {
        Conv1dPipeline(stream(), p, {upload, route}, good.input.view, good.weights.view, good.bias.view);
      });
    }
  }
}

/// Every kernel between the input on the device and y has its paragraph.
TEST_P(Conv1dTest, ExplainsItsKernels) {
  const Conv1d p = small_problem();
  const Expected e(Conv1dCase{p});
  for (const Conv1dOptions& options : kAll) {
    SCOPED_TRACE(name_of_options(options));
    const Conv1dPipeline pipeline(stream(), p, options, e.input.view, e.weights.view, e.bias.view);
    const std::string text = pipeline.explain();
    EXPECT_NE(text.find("Kernel "), std::string::npos) << text;
    EXPECT_EQ(text.find("gemm:") != std::string::npos, options.route != ConvRoute::direct) << text;
    EXPECT_EQ(text.find("Overlap:") != std::string::npos, options.upload == Upload::overlap) << text;
    EXPECT_EQ(text.find("transpose:") != std::string::npos, options.upload == Upload::device_staged) << text;
  }
}

INSTANTIATE_TEST_SUITE_P(Devices, Conv1dTest, ::testing::ValuesIn(test_devices()), device_test_name);

TEST(Conv1dSizesTest, OfTheDefaults) {
  Conv1d problem;
  problem.window.taps = 4;
  problem.pad = causal_padding(Causal::sample, problem.length, problem.window);
  const Conv1dSizes sizes = sizes_of(problem);
  EXPECT_EQ(sizes.positions, 2048);
  EXPECT_EQ(sizes.rows, 2048);
  EXPECT_EQ(sizes.depth, 256);
  EXPECT_EQ(sizes.columns, 64);
  EXPECT_EQ(sizes.operand_elements, 524288);
  EXPECT_EQ(sizes.weight_elements, 16384);
  EXPECT_EQ(sizes.output_elements, 131072);
}

TEST(Conv1dSizesTest, OfGroupsStrideAndDilation) {
  Conv1d problem;
  problem.batch = 3;
  problem.in_channels = 8;
  problem.length = 20;
  problem.out_channels = 12;
  problem.window = {3, 2, 4, 4, ColumnOrder::tap_outer};
  problem.pad.left = 2;
  problem.pad.right = -1;
  const Conv1dSizes sizes = sizes_of(problem);  // 21 padded samples, windows of 9
  EXPECT_EQ(sizes.positions, 7);
  EXPECT_EQ(sizes.rows, 21);
  EXPECT_EQ(sizes.depth, 6);
  EXPECT_EQ(sizes.columns, 3);
  EXPECT_EQ(sizes.operand_elements, 21 * 6 * 4);
  EXPECT_EQ(sizes.weight_elements, 12 * 6);
  EXPECT_EQ(sizes.output_elements, 21 * 12);
}

TEST(Conv1dSizesTest, RefuseWhatCannotBe) {
  const auto refuse = [](ErrorCode code, const std::vector<std::string>& words, auto change) {
    Conv1d problem = small_problem();
    change(problem);
    expect_error(code, words, [&] { sizes_of(problem); });
  };
  constexpr std::int64_t kHuge = std::int64_t{1} << 40;
  refuse(ErrorCode::invalid_argument, {"batch", "-1"}, [](Conv1d& p) { p.batch = -1; });
  refuse(ErrorCode::invalid_argument, {"in_channels"}, [](Conv1d& p) { p.in_channels = -1; });
  refuse(ErrorCode::invalid_argument, {"length"}, [](Conv1d& p) { p.length = -1; });
  refuse(ErrorCode::invalid_argument, {"out_channels"}, [](Conv1d& p) { p.out_channels = -1; });
  refuse(ErrorCode::invalid_argument, {}, [](Conv1d& p) { p.window.taps = 0; });
  refuse(ErrorCode::invalid_argument, {}, [](Conv1d& p) { p.window.stride = 0; });
  refuse(ErrorCode::invalid_argument, {}, [](Conv1d& p) { p.window.dilation = 0; });
  refuse(ErrorCode::invalid_argument, {}, [](Conv1d& p) { p.window.groups = 0; });
  refuse(ErrorCode::invalid_argument, {"6 input", "4 groups"}, [](Conv1d& p) { p.window.groups = 4; });
  refuse(ErrorCode::invalid_argument, {"4 output", "3 groups"}, [](Conv1d& p) { p.window.groups = 3; });
  refuse(ErrorCode::dtype, {"f32"}, [](Conv1d& p) { p.dtype = DType::f32; });
  refuse(ErrorCode::invalid_shape, {}, [](Conv1d& p) { p.length = 0; });
  refuse(ErrorCode::invalid_shape, {}, [](Conv1d& p) {
    p.length = 0, p.pad = {9, 9, PadMode::replicate, 0, {}};
  });
  refuse(ErrorCode::pad_too_large, {}, [](Conv1d& p) { p.pad = {37, 0, PadMode::reflect, 0, {}}; });
  refuse(ErrorCode::pad_too_large, {}, [](Conv1d& p) { p.pad = {0, 38, PadMode::circular, 0, {}}; });
  refuse(ErrorCode::invalid_shape, {"63 bits"}, [](Conv1d& p) { p.batch = p.length = kHuge; });
  refuse(ErrorCode::invalid_shape, {"63 bits"}, [](Conv1d& p) { p.length = kHuge, p.in_channels = kHuge; });
  refuse(ErrorCode::invalid_shape, {"63 bits"}, [](Conv1d& p) { p.length = kHuge, p.out_channels = kHuge; });
  refuse(ErrorCode::invalid_shape, {},
         [](Conv1d& p) { p.pad.left = std::numeric_limits<std::int64_t>::max(); });
}

}  // namespace
}  // namespace relayout::test
