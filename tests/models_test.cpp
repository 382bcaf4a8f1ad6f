// The convolutions of well-known models. Kernels, strides, dilations and pads are the real ones; channels and
// time are scaled down so that every device runs them quickly.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <ostream>
#include <string>
#include <tuple>
#include <vector>

#include "host/reference/gemm.hpp"
#include "host/reference/img2col.hpp"
#include "tests/cases/img2col_case.hpp"
#include "tests/cases/pad_case.hpp"
#include "tests/support/checks.hpp"
#include "tests/support/devices.hpp"
#include "tests/support/host_tensor.hpp"

#include <relayout/relayout.hpp>

namespace relayout::test {
namespace {

using cases::Img2colCase;
using cases::Layout;
using cases::PadCase;

enum class Padding { none, one_on_both_sides, sample_causal, frame_causal_reflect };

struct Model {
  std::string name;
  std::int64_t channels, length;
  Window window;
  Padding padding;

  PadSpec pad(std::int64_t samples) const {
    PadSpec spec;
    switch (padding) {
      case Padding::none:
        break;
      case Padding::one_on_both_sides:
        spec.left = spec.right = 1;
        break;
      case Padding::sample_causal:
        spec = causal_padding(Causal::sample, samples, window);
        break;
      case Padding::frame_causal_reflect:
        spec = causal_padding(Causal::frame, samples, window);
        spec.mode = PadMode::reflect;
        break;
    }
    return spec;
  }
};

void PrintTo(const Model& model, std::ostream* out) { *out << model.name; }

Window window(std::int64_t taps, std::int64_t stride, std::int64_t dilation = 1, std::int64_t groups = 1) {
  return {taps, stride, dilation, groups, ColumnOrder::tap_outer};
}

std::vector<Model> models() {
  std::vector<Model> all;
  const auto add = [&all](const std::string& name, std::int64_t channels, std::int64_t length,
                          const Window& w, Padding padding) {
    all.push_back({name, channels, length, w, padding});
  };
  // Depthwise over d_inner = 1536 .. 5120 channels.
  for (const auto& [size, channels] : std::vector<std::pair<std::string, std::int64_t>>{
           {"130m", 24}, {"370m", 32}, {"790m", 48}, {"1b4", 64}, {"2b8", 80}})
    add("mamba_" + size, channels, 128, window(4, 1, 1, channels), Padding::sample_causal);
  for (std::int64_t dilation = 1; dilation <= 512; dilation *= 2) {
    add("wavenet_d" + std::to_string(dilation), 16, 640, window(2, 1, dilation), Padding::sample_causal);
    add("tcn_d" + std::to_string(dilation), 9, 600, window(3, 1, dilation), Padding::sample_causal);
  }
  add("whisper_conv1", 80, 3000, window(3, 1), Padding::one_on_both_sides);
  add("whisper_conv2", 96, 3000, window(3, 2), Padding::one_on_both_sides);
  // The feature encoder on 3200 samples of sound.
  add("wav2vec2_conv0", 1, 3200, window(10, 5), Padding::none);
  std::int64_t length = 639;
  for (const std::int64_t layer : {1, 2, 3, 4, 5, 6}) {
    const Window w = window(layer < 5 ? 3 : 2, 2);
    add("wav2vec2_conv" + std::to_string(layer), 32, length, w, Padding::none);
    length = output_length(length, w, {});
  }
  add("encodec_first", 1, 961, window(7, 1), Padding::frame_causal_reflect);
  add("encodec_last", 24, 75, window(7, 1), Padding::frame_causal_reflect);
  for (const std::int64_t stride : {2, 4, 5, 8})
    add("encodec_down" + std::to_string(stride), 8 * stride, 481, window(2 * stride, stride),
        Padding::frame_causal_reflect);
  return all;
}

class ModelsTest : public ::testing::TestWithParam<std::tuple<Model, Device>> {
 protected:
  const Model& model() const { return std::get<0>(GetParam()); }
  const Stream& stream() const { return stream_; }

 private:
  Stream stream_{std::get<1>(GetParam())};
};
INSTANTIATE_TEST_SUITE_P(Models, ModelsTest,
                         ::testing::Combine(::testing::ValuesIn(models()),
                                            ::testing::ValuesIn(test_devices())),
                         [](const ::testing::TestParamInfo<std::tuple<Model, Device>>& info) {
                           return std::get<0>(info.param).name + "_" + test_name(std::get<1>(info.param));
                         });

/// The layout of the signal in memory: whole, or a slice of a wider tensor that begins at an odd element.
struct Place {
  Layout layout;
  std::int64_t misaligned;
};
const std::vector<Place> kPlaces{
    {Layout::ncl, 0}, {Layout::gaps, 1}, {Layout::nlc, 0}, {Layout::nlc_gaps, 1}};

TEST_P(ModelsTest, Img2col) {
  for (const Place& place : kPlaces) {
    Img2colCase c;
    c.batch = model().length > 1000 ? 1 : 2;
    c.channels = model().channels;
    c.length = model().length;
    c.window = model().window;
    c.pad = model().pad(c.length);
    c.in_layout = place.layout;
    c.in_misaligned = c.out_misaligned = c.row_gap = place.misaligned;
    if (place.misaligned != 0) c.window.order = ColumnOrder::channel_outer;
    check(stream(), c);
  }
}

TEST_P(ModelsTest, Pad) {
  for (const Place& place : kPlaces) {
    PadCase c;
    c.batch = 2;
    c.channels = std::min<std::int64_t>(model().channels, 24);
    c.length = model().length;
    c.pad = model().pad(c.length);
    c.out_type = DType::f16;
    c.in_layout = place.layout;
    c.out_layout = Layout::nlc;
    c.in_misaligned = c.out_misaligned = place.misaligned;
    check(stream(), c);
    c.in_type = DType::f16;
    c.out_layout = Layout::ncl;
    check(stream(), c);
  }
}

/// Small integers, whose sums are exact: y must be the exact result rounded once.
TEST_P(ModelsTest, WholeConvolution) {
  Conv1d problem;
  problem.batch = 2;
  problem.in_channels = model().channels;
  problem.length = std::min<std::int64_t>(model().length, 640);
  problem.window = model().window;
  problem.out_channels = problem.window.groups == 1 ? 5 : problem.in_channels;
  problem.pad = model().pad(problem.length);
  const Conv1dSizes sizes = sizes_of(problem);
  const std::int64_t groups = problem.window.groups;

  const HostTensor wide(DType::f32, {2, problem.in_channels + 2, problem.length + 3});
  const TensorView input = wide.view.slice(1, 1, 1 + problem.in_channels).slice(2, 1, 1 + problem.length);
  const HostTensor weights(DType::f32,
                           {problem.out_channels, problem.in_channels / groups, problem.window.taps});
  const HostTensor bias(DType::f32, {problem.out_channels});
  fill_small_integers(wide.view, 1);
  fill_small_integers(weights.view, 2);
  fill_small_integers(bias.view, 3);

  const HostTensor a(problem.dtype,
                     groups == 1 ? Dims{sizes.rows, sizes.depth} : Dims{groups, sizes.rows, sizes.depth});
  const HostTensor bt(problem.dtype, {problem.out_channels, sizes.depth});
  const HostTensor y(problem.dtype, {sizes.rows, problem.out_channels});
  reference::img2col(input, problem.window, problem.pad, a.view);
  reference::rearrange_weights(weights.view, problem.window.order, bt.view);
  reference::gemm(a.view, TensorView(bt.view.data(), problem.dtype, {groups, sizes.columns, sizes.depth}),
                  bias.view,
                  TensorView(y.view.data(), problem.dtype, {groups, sizes.rows, sizes.columns},
                             {sizes.columns, problem.out_channels, 1}));

  const std::vector<Conv1dOptions> all{{Upload::host, ConvRoute::operand},
                                       {Upload::device, ConvRoute::operand},
                                       {Upload::device, ConvRoute::strided_gemm},
                                       {Upload::device, ConvRoute::direct}};
  for (const Conv1dOptions& options : all) {
    SCOPED_TRACE(std::string(name_of(options.upload)) + " " + name_of(options.route));
    const Conv1dPipeline pipeline(stream(), problem, options, input, weights.view, bias.view);
    pipeline.run();
    const HostTensor result(problem.dtype, {sizes.rows, problem.out_channels});
    ASSERT_EQ(pipeline.result().elements(), result.view.elements());
    stream().copy(result.view.data(), pipeline.result().data(),
                  static_cast<std::size_t>(result.view.elements()) * size_of(problem.dtype));
    stream().synchronize();
    EXPECT_TRUE(same_elements(y.view, result.view));
  }
}

}  // namespace
}  // namespace relayout::test
