#include "bench/random/window_generator.hpp"

#include <algorithm>

#include "bench/random/functions.hpp"
#include "bench/random/shapes.hpp"
#include "core/bytes.hpp"

namespace relayout::bench::random {
namespace {

const std::vector<std::int64_t> kChannels{1, 3, 64, 80, 100, 768, 4096};
const std::vector<std::int64_t> kBatches{1, 2, 3, 5, 8, 16, 32};
const std::vector<std::int64_t> kTaps{1, 2, 3, 4, 5, 6, 7, 8, 31};
const std::vector<const char*> kModes{"constant",  "replicate", "reflect",
                                      "symmetric", "circular",  "reflect_zero_extended"};

/// Any length: what is left of the elements for it.
Dims draw_signal(Draw& draw, std::int64_t elements) {
  const std::int64_t channels = draw.pick(kChannels);
  const std::int64_t drawn = draw.pick(kBatches);
  const std::int64_t batch = std::min(drawn, std::max<std::int64_t>(elements / channels, 1));
  return {batch, channels, std::max<std::int64_t>(elements / (batch * channels), 1)};
}

/// Channels or time fastest, alike; one base in four misaligned, one signal in four with a pitch.
Placing draw_signal_placing(Draw& draw) {
  Placing placing;
  if (draw.one_in(2)) placing.order = {0, 2, 1};
  placing.misaligned = draw.one_in(4);
  placing.sliced = draw.one_in(4);
  return placing;
}

}  // namespace

void draw_depthwise(Draw& draw, std::int64_t bytes, Problem& problem) {
  static const std::vector<DType> kTypes{DType::f16, DType::bf16, DType::f32};
  const DType type = draw.pick(kTypes);
  const DType weight_type = draw.one_in(2) ? type : DType::f32;
  const std::int64_t taps = draw.pick(kTaps);
  const bool silu = draw.one_in(2), bias = draw.one_in(2), other_layout = draw.one_in(4);
  const Dims shape = draw_signal(draw, bytes / (2 * bytes_of(type)));
  const Placing in = draw_signal_placing(draw);
  Placing out = draw_signal_placing(draw);
  if (!other_layout) out.order = in.order;
  problem.inputs = {place(draw, type, shape, in), place(draw, weight_type, {shape[1], taps}, {})};
  if (bias) problem.inputs.push_back(place(draw, weight_type, {shape[1]}, {}));
  problem.out = place(draw, type, shape, out);
  problem.options = {{"silu", silu ? "1" : "0"}};
}

void draw_img2col(Draw& draw, std::int64_t bytes, Problem& problem) {
  const DType any = draw.pick(number_types());
  const bool converts = draw.one_in(2);
  const DType type = converts ? DType::f32 : any, out_type = converts ? DType::f16 : any;
  const std::int64_t taps = draw.pick(kTaps);
  const bool strided = draw.one_in(2), dilated = draw.one_in(2), channel_order = draw.one_in(2);
  const bool causal = draw.one_in(2), other_mode = draw.one_in(4);
  const std::int64_t further_stride = draw.between(2, 4), further_dilation = draw.between(2, 4);
  const std::int64_t stride = strided ? further_stride : 1, dilation = dilated ? further_dilation : 1;
  const std::int64_t reach = (taps - 1) * dilation;
  const Dims shape =
      draw_signal(draw, bytes * stride / (bytes_of(type) * stride + bytes_of(out_type) * taps));
  const std::int64_t drawn_left = draw.between(0, reach);
  const std::int64_t left = causal ? reach : drawn_left, right = reach - left;
  const char* const mode = draw.pick(kModes);
  const bool fits = std::max(left, right) < shape[2];
  const Placing in = draw_signal_placing(draw);
  problem.inputs = {place(draw, type, shape, in)};
  Placing out;
  out.misaligned = draw.one_in(4);
  out.sliced = draw.one_in(4);
  const std::int64_t positions = (shape[2] - 1) / stride + 1;
  problem.out = place(draw, out_type, {shape[0] * positions, taps * shape[1]}, out);
  problem.options = {{"taps", std::to_string(taps)},
                     {"stride", std::to_string(stride)},
                     {"dilation", std::to_string(dilation)},
                     {"order", channel_order ? "channel" : "tap"},
                     {"left", std::to_string(left)},
                     {"right", std::to_string(right)},
                     {"mode", other_mode && fits ? mode : "constant"}};
}

/// No constant stands beside restricted types.
void draw_pad(Draw& draw, std::int64_t bytes, Problem& problem) {
  const DType any = draw.pick(castable_types()), from = draw.pick(floating_types()),
              to = draw.pick(floating_types());
  const bool converts = draw.one_in(4), long_pads = draw.one_in(4);
  const DType type = converts ? from : any, out_type = converts ? to : any;
  const Dims shape = draw_signal(draw, bytes / (bytes_of(type) + bytes_of(out_type)));
  const std::int64_t most = std::min(long_pads ? shape[2] / 2 : std::int64_t{32}, shape[2] - 1);
  const std::int64_t left = draw.between(0, most);
  const std::int64_t right = draw.between(0, most);
  const char* const other_mode = kModes[static_cast<std::size_t>(draw.between(1, 5))];
  const char* const any_mode = draw.pick(kModes);
  const char* const mode = is_restricted(type) ? other_mode : any_mode;
  const Placing in = draw_signal_placing(draw);
  problem.inputs = {place(draw, type, shape, in)};
  const Placing out = draw_signal_placing(draw);
  problem.out = place(draw, out_type, {shape[0], shape[1], shape[2] + left + right}, out);
  problem.options = {{"left", std::to_string(left)}, {"right", std::to_string(right)}, {"mode", mode}};
}

}  // namespace relayout::bench::random
